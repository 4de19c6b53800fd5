import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exposedAddress } from "./harness/application.ts";
import {
  balancedZone,
  DelegatedFleet,
  fleetTags,
  furtherZone,
  nameServerOf,
  ownRecordsOnly,
} from "./harness/delegated-fleet.ts";
import { eventually, throughout } from "./harness/eventually.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { withCommands } from "./harness/with-commands.ts";

// A parent zone in BIND that the clusters write their delegation into by themselves, each with a key of its own. Transfers of it
// are refused to all.

const app = { name: "written", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const leaving = { ...app, name: "leaving", host: `leaving.${furtherZone}` };
const [eu, us, za] = [exposedAddress["eu"]!, exposedAddress["us"]!, exposedAddress["za"]!];

interface ZoneObject {
  readonly metadata: { readonly deletionTimestamp?: string };
  readonly status?: {
    readonly dnsServers?: readonly { readonly name: string; readonly address: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message: string;
    }[];
  };
}

const zoneObject = "zonedelegation/cloud-example-com";
const furtherObject = "zonedelegation/cloud2-example-com";

if (await enterNamespace()) {
  await withCommands(["named", "nsupdate", "tsig-keygen", "dig", "kubectl", "openssl"], {
    subject: "a parent zone in BIND that clusters update",
    define,
  });
}

function define(): void {
  let fleet: DelegatedFleet;
  const settings = { MERIDIAN_RFC2136_SERVERS: "10.53.0.53" };

  const programmed = async (name: string, status: "True" | "False", says: RegExp): Promise<void> => {
    await eventually(`Programmed is ${status} at ${name}`, async () => {
      const zone = await fleet.cluster(name).get<ZoneObject>(zoneObject);
      const found = zone.status?.conditions?.find(({ type }) => type === "Programmed");
      assert.equal(found?.status, status, JSON.stringify(zone.status?.conditions));
      assert.match(found.message, says);
    });
  };
  const giveKey = async (name: string, text = fleet.parent.keyText(`${name}-key`)): Promise<void> => {
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "parent-key", namespace: "k8gb", labels: { "meridian/dns-keys": "parent" } },
      stringData: { "update.key": text },
    };
    await fleet.cluster(name).kubectl(["apply", "-f", "-"], JSON.stringify(secret));
  };
  const glueOf = async (name: string, zone = balancedZone): Promise<readonly string[]> =>
    (await fleet.parent.dig(nameServerOf(name, zone), "A")).addresses;
  const joined = async (name: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    await fleet.join(name, { settings: { ...settings, ...more } });
    await giveKey(name);
  };

  before(async () => {
    fleet = await DelegatedFleet.start({ grants: ownRecordsOnly, settings: ["allow-transfer { none; };"] });
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
  });

  test("without a key nothing is written, and the condition says where to put one; with it the delegation is there at once", async () => {
    await fleet.join("eu", { settings });
    await programmed("eu", "False", /no key for parent zone example\.com; put one into a Secret labelled/);
    assert.deepEqual(await fleet.parent.delegation(balancedZone), []);
    await giveKey("eu");
    await fleet.delegates(["eu"]);
    await programmed("eu", "True", /RFC 2136/);
    assert.deepEqual(await glueOf("eu"), ["10.53.0.1"]);
  });

  test("a key with another secret is told and changes nothing, and the right one counts as soon as it is there", async () => {
    const serial = await fleet.parent.serial();
    const secret = Buffer.from("quite another secret of 32 bytes").toString("base64");
    await giveKey("eu", `key "eu-key" { algorithm hmac-sha256; secret "${secret}"; };`);
    await programmed("eu", "False", /cannot read .*BADSIG/);
    assert.equal(await fleet.parent.serial(), serial);
    await giveKey("eu");
    await programmed("eu", "True", /RFC 2136/);
    assert.equal(await fleet.parent.serial(), serial, "nothing was to be written");
  });

  test("P-14, P-07, V-02: clusters that come later add themselves, by both families, and touch nothing of the others", async () => {
    await joined("us", { MERIDIAN_DNS_ADDRESSES: "10.53.0.2,2001:db8::53" });
    await fleet.delegates(["eu", "us"]);
    await joined("za");
    await fleet.delegates(["eu", "us", "za"]);
    for (const [index, tag] of ["eu", "us", "za"].entries())
      assert.deepEqual(await glueOf(tag), [`10.53.0.${index + 1}`]);
    assert.deepEqual((await fleet.parent.dig(nameServerOf("us"), "AAAA")).addresses, ["2001:db8::53"]);
    await fleet.deploy(app);
    await fleet.answers(app, [eu, us, za]);
  });

  test("P-08: at rest nothing is written, whatever the period", async () => {
    await Promise.all(["eu", "us", "za"].map((tag) => programmed(tag, "True", /./)));
    const serial = await fleet.parent.serial();
    await throughout(
      "the parent's serial stays",
      async () => assert.equal(await fleet.parent.serial(), serial),
      { forMs: 4_000 },
    );
  });

  test("X-03: a cluster's key cannot touch the addresses of another", async () => {
    const deleted = await fleet.parent.update("eu-key", [`update delete ${nameServerOf("us")} A`]);
    assert.match(deleted.stderr, /REFUSED/);
    assert.deepEqual(await glueOf("us"), ["10.53.0.2"]);
  });

  test("D3, D-10: a parent that is down takes no cluster out, neither of the answers nor of the delegation", async () => {
    await fleet.parent.kill();
    await programmed("eu", "False", /cannot read .* of parent zone example\.com/);
    const known = async (): Promise<void> => {
      for (const [tag, cluster] of fleet.clusters) {
        assert.deepEqual((await cluster.dig("written.cloud.example.com")).addresses, [eu, us, za].toSorted());
        const { status } = await cluster.get<ZoneObject>(zoneObject);
        assert.equal(status?.dnsServers?.length, 4, `${tag} still knows all, us by both families`);
      }
    };
    await throughout("everybody knows everybody", known, { forMs: 5_000 });
    // What was decided meanwhile reaches everybody without the parent.
    await fleet.setReady("eu", app.name, false);
    await fleet.answers(app, [us, za]);
    await fleet.setReady("eu", app.name, true);
    await fleet.answers(app, [eu, us, za]);
    await fleet.parent.restart();
    await fleet.delegates(["eu", "us", "za"]);
    await programmed("eu", "True", /./);
  });

  test("P-14: what a dead cluster wrote stays, and the others go on", async () => {
    await fleet.cluster("za").kill();
    await fleet.answers(app, [eu, us], ["eu", "us"]);
    await throughout("the delegation stays", () => fleet.delegatesNow(fleetTags), { forMs: 3_000 });
    await fleet.cluster("za").restart();
    await fleet.answers(app, [eu, us, za]);
  });

  test("D29, D30: a cluster that leaves a zone answers until nobody is sent to it, and waits for no other", async () => {
    await fleet.serveFurther({ doFinalize: true });
    await fleet.delegates(fleetTags, furtherZone);
    await fleet.deploy(leaving);
    await fleet.answers(leaving, [eu, us, za]);
    const cluster = fleet.cluster("za");
    let isOver = false;
    const answering = (async () => {
      while (!isOver) {
        const isSentHere = (await fleet.parent.delegation(furtherZone)).includes(
          nameServerOf("za", furtherZone),
        );
        const { status } = await cluster.dig(leaving.host);
        if (isSentHere) assert.equal(status, "NOERROR");
      }
    })();
    answering.catch(() => {}); // awaited below
    await cluster.kubectl(["delete", furtherObject, "--timeout=60s"]);
    isOver = true;
    await answering;
    await fleet.delegatesNow(["eu", "us"], furtherZone);
    assert.deepEqual([await glueOf("za", furtherZone), await glueOf("us", furtherZone)], [[], ["10.53.0.2"]]);
    await eventually("za serves the zone no more", async () => {
      assert.equal((await cluster.dig(leaving.host)).status, "REFUSED");
    });
    await fleet.answers(leaving, [eu, us], ["eu", "us"]);
    await fleet.delegatesNow(fleetTags);
  });

  test("D-13: the last one leaves no trace of the zone in the parent, though nobody may transfer it", async () => {
    for (const tag of ["us", "eu"])
      await fleet.cluster(tag).kubectl(["delete", furtherObject, "--timeout=60s"]);
    assert.equal((await fleet.parent.dig(furtherZone, "NS")).status, "NXDOMAIN");
    for (const tag of fleetTags)
      assert.equal((await fleet.parent.dig(nameServerOf(tag, furtherZone), "A")).status, "NXDOMAIN");
    await fleet.delegatesNow(fleetTags);
  });
}
