import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { exposedAddress } from "./harness/application.ts";
import { boundCommand } from "./harness/bound-command.ts";
import {
  balancedZone,
  DelegatedFleet,
  fleetTags,
  furtherZone,
  nameServerOf,
} from "./harness/delegated-fleet.ts";
import { eventually, throughout } from "./harness/eventually.ts";
import { LoggedProcess } from "./harness/logged-process.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { peerAbsence, peerProgram } from "./harness/peer-programs.ts";
import { withCommands } from "./harness/with-commands.ts";

// external-dns' own packages, one program for each cluster, publish the delegations that stand in our DNSEndpoints into BIND.

const app = { name: "external", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const tags = ["eu", "us"];
/** A cluster of both families; nobody reaches it there in this test. */
const ofUs = "2001:db8::53";
const everywhere = tags.map((tag) => exposedAddress[tag]!);

interface Endpoint {
  readonly dnsName: string;
  readonly recordType: string;
  readonly recordTTL: number;
  readonly targets: readonly string[];
}
interface DnsEndpointObject {
  readonly metadata: { readonly generation: number };
  readonly spec: { readonly endpoints: readonly Endpoint[] };
  readonly status?: { readonly observedGeneration?: number };
}
interface ZoneObject {
  readonly metadata: { readonly finalizers?: readonly string[] };
  readonly spec: { readonly doFinalize?: boolean; readonly dnsZoneNegTTL: number };
  readonly status?: { readonly dnsServers?: readonly { readonly name: string }[] };
}

if (await enterNamespace()) {
  const absence = await peerAbsence("external-dns");
  if (absence === undefined)
    await withCommands(["named", "tsig-keygen", "dig", "kubectl", "openssl"], {
      subject: "delegations by external-dns",
      define,
    });
  else test("delegations by external-dns", (t) => t.skip(absence));
}

function define(): void {
  let fleet: DelegatedFleet;
  let program: string;
  const publishers = new Map<string, LoggedProcess>();

  const publish = (tag: string): void => {
    const secret = /secret "([^"]+)"/.exec(fleet.parent.keyText(`${tag}-key`))![1]!;
    const words = [
      `--kubeconfig=${fleet.cluster(tag).kubeconfig}`,
      `--rfc2136-host=${fleet.parent.address}`,
      `--rfc2136-zone=${fleet.parent.zone}`,
      `--rfc2136-tsig-keyname=${tag}-key`,
      `--rfc2136-tsig-secret=${secret}`,
      `--txt-prefix=k8gb-${tag}-`,
      `--txt-owner-id=k8gb-${tag}`,
      "--interval=500ms",
    ];
    const log = path.join(fleet.folder, `external-dns-${tag}.log`);
    publishers.set(tag, LoggedProcess.start(boundCommand([program, ...words]), log));
  };
  const endpointsOf = async (tag: string, zone: string): Promise<readonly string[]> => {
    const { spec } = await fleet
      .cluster(tag)
      .get<DnsEndpointObject>("-n", "k8gb", `dnsendpoint/k8gb-ns-extdns-${zone.replaceAll(".", "-")}`);
    return spec.endpoints.map(
      ({ dnsName, recordType, recordTTL, targets }) =>
        `${dnsName} ${recordTTL} ${recordType} ${targets.join(" ")}`,
    );
  };
  const nsLine = (zone: string, names: readonly string[]): string =>
    `${zone} 2 NS ${names.map((name) => nameServerOf(name, zone)).join(" ")}`;
  const endpointLines = (tag: string, zone: string, names: readonly string[]): readonly string[] => [
    nsLine(zone, names),
    `${nameServerOf(tag, zone)} 2 A ${fleet.cluster(tag).address}`,
    ...(tag === "us" ? [`${nameServerOf(tag, zone)} 2 AAAA ${ofUs}`] : []),
  ];
  const glue = async (tag: string, zone: string): Promise<readonly string[]> =>
    (await fleet.parent.dig(nameServerOf(tag, zone), "A")).addresses;
  const ownersOf = async (zone: string): Promise<readonly string[]> => {
    const answers = await Promise.all(tags.map((tag) => fleet.parent.dig(`k8gb-${tag}-ns-${zone}`, "TXT")));
    return answers.flatMap(({ answer }) => answer.map((line) => /owner=([^,"]+)/.exec(line)?.[1] ?? line));
  };
  const endpointIs = (tag: string, zone: string, lines: readonly string[]): Promise<void> =>
    eventually(`the DNSEndpoint of ${zone} at ${tag} is right`, async () =>
      assert.deepEqual(await endpointsOf(tag, zone), lines),
    );
  const isGone = (tag: string, zone: string): Promise<void> =>
    eventually(`the DNSEndpoint of ${zone} at ${tag} is gone`, async () => {
      const name = `dnsendpoint/k8gb-ns-extdns-${zone.replaceAll(".", "-")}`;
      const { code, stdout } = await fleet.cluster(tag).tryKubectl(["-n", "k8gb", "get", name]);
      assert.notEqual(code, 0, stdout);
    });

  before(async () => {
    program = await peerProgram("external-dns");
    fleet = await DelegatedFleet.start({
      grants: Object.fromEntries(fleetTags.map((tag) => [`${tag}-key`, ["zonesub ANY"]])),
      settings: [`allow-transfer { ${tags.map((tag) => `key "${tag}-key";`).join(" ")} };`],
    });
    for (const tag of tags) {
      const addresses = tag === "us" ? { MERIDIAN_DNS_ADDRESSES: `10.53.0.2,${ofUs}` } : {};
      await fleet.join(tag, { settings: { EXTDNS_ENABLED: "true", ...addresses } });
      publish(tag);
    }
  });
  after(async () => {
    for (const publisher of publishers.values()) await publisher[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
  });

  test("zone-delegation-lifecycle 1/5: both clusters say the same NS set and their own address, and BIND delegates so", async () => {
    await fleet.delegates(tags);
    for (const tag of tags) {
      await endpointIs(tag, balancedZone, endpointLines(tag, balancedZone, tags));
      await eventually(`${tag} has its glue`, async () =>
        assert.deepEqual(await glue(tag, balancedZone), [fleet.cluster(tag).address]),
      );
      const zone = await fleet.cluster(tag).get<ZoneObject>("zonedelegation/cloud-example-com");
      assert.deepEqual(zone.metadata.finalizers, ["k8gb.io/finalizer"]);
      assert.notEqual(zone.spec.doFinalize, true);
      assert.deepEqual(
        [...new Set(zone.status?.dnsServers?.map(({ name }) => name))],
        tags.map((other) => nameServerOf(other)),
      );
    }
    assert.deepEqual((await fleet.parent.dig(nameServerOf("us"), "AAAA")).addresses, [ofUs]);
    const owners = await ownersOf(balancedZone);
    assert.equal(owners.length, 1, `external-dns has one owner of a name: ${owners.join(", ")}`);
  });

  test("external-dns has taken every DNSEndpoint, and what it wrote is resolved", async () => {
    for (const tag of tags)
      await eventually(`external-dns at ${tag} has seen the DNSEndpoint`, async () => {
        const { metadata, status } = await fleet
          .cluster(tag)
          .get<DnsEndpointObject>("-n", "k8gb", "dnsendpoint/k8gb-ns-extdns-cloud-example-com");
        assert.equal(status?.observedGeneration, metadata.generation);
      });
    await fleet.deploy(app);
    await fleet.answers(app, everywhere);
  });

  test("P-08: at rest nobody writes, neither we into the DNSEndpoints nor external-dns into the parent", async () => {
    const state = async (): Promise<string> => {
      const versions = await Promise.all(
        tags.map((tag) =>
          fleet
            .cluster(tag)
            .kubectl([
              "-n",
              "k8gb",
              "get",
              "dnsendpoints",
              "-o",
              "jsonpath={.items[*].metadata.resourceVersion}",
            ]),
        ),
      );
      return [await fleet.parent.serial(), ...versions].join(" ");
    };
    const before = await eventually("all is at rest", async () => {
      const first = await state();
      await throughout("at rest", async () => assert.equal(await state(), first), { forMs: 1_500 });
      return first;
    });
    await throughout("nobody writes", async () => assert.equal(await state(), before), { forMs: 4_000 });
  });

  test("D3: a parent that is down takes nobody out of the NS set", async () => {
    await fleet.parent.kill();
    await throughout(
      "the DNSEndpoints stay",
      async () => {
        for (const tag of tags)
          assert.deepEqual(await endpointsOf(tag, balancedZone), endpointLines(tag, balancedZone, tags));
      },
      { forMs: 5_000 },
    );
    await fleet.parent.restart();
    await fleet.delegates(tags);
  });

  test("zone-delegation-lifecycle 2/5 and 3/5: a zone comes to one cluster, and then to the other", async () => {
    await fleet.serveFurther({ doFinalize: true }, ["eu"]);
    await fleet.delegates(["eu"], furtherZone);
    await endpointIs("eu", furtherZone, endpointLines("eu", furtherZone, ["eu"]));
    const { code } = await fleet.cluster("us").tryKubectl(["get", "zonedelegation/cloud2-example-com"]);
    assert.notEqual(code, 0, "nothing comes to us by itself");
    await fleet.serveFurther({ doFinalize: true }, ["us"]);
    await fleet.delegates(tags, furtherZone);
    for (const tag of tags) await endpointIs(tag, furtherZone, endpointLines(tag, furtherZone, tags));
    assert.deepEqual(await ownersOf(furtherZone), ["k8gb-eu"]);
  });

  test("zone-delegation-lifecycle 4/5, D30: a cluster leaves without waiting for the other", async () => {
    await fleet.cluster("us").kubectl(["delete", "zonedelegation/cloud2-example-com", "--timeout=60s"]);
    await fleet.delegates(["eu"], furtherZone);
    await eventually("the address of us is gone", async () =>
      assert.deepEqual(await glue("us", furtherZone), []),
    );
    await endpointIs("eu", furtherZone, endpointLines("eu", furtherZone, ["eu"]));
  });

  test("P-14: the cluster whose external-dns owns the NS set leaves, and the delegation of the other stays", async () => {
    await fleet.serveFurther({ doFinalize: true }, ["us"]);
    await fleet.delegates(tags, furtherZone);
    assert.deepEqual(await ownersOf(furtherZone), ["k8gb-eu"]);
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const found = await fleet.parent.delegation(furtherZone);
        assert.ok(found.includes(nameServerOf("us", furtherZone)), `us is delegated to: ${found.join(", ")}`);
      }
    })();
    watching.catch(() => {}); // awaited below
    await fleet.cluster("eu").kubectl(["delete", "zonedelegation/cloud2-example-com", "--timeout=60s"]);
    await fleet.delegates(["us"], furtherZone);
    isOver = true;
    await watching;
    assert.deepEqual(await glue("eu", furtherZone), []);
    assert.deepEqual(await glue("us", furtherZone), [fleet.cluster("us").address]);
  });

  test("zone-delegation-lifecycle 5/5: the last one leaves no trace of the zone", async () => {
    await fleet.cluster("us").kubectl(["delete", "zonedelegation/cloud2-example-com", "--timeout=60s"]);
    for (const tag of tags) await isGone(tag, furtherZone);
    await eventually("the parent knows nothing of the zone", async () => {
      assert.equal((await fleet.parent.dig(furtherZone, "NS")).status, "NXDOMAIN");
      for (const tag of tags)
        assert.equal((await fleet.parent.dig(nameServerOf(tag, furtherZone), "A")).status, "NXDOMAIN");
      assert.deepEqual(await ownersOf(furtherZone), []);
    });
    await fleet.delegatesNow(tags);
  });

  test("P-14: beside clusters of external-dns one that writes by updates joins, and all are at rest", async () => {
    await fleet.join("za", {
      settings: {
        MERIDIAN_RFC2136_SERVERS: fleet.parent.address,
        MERIDIAN_RFC2136_KEY_FILE: fleet.parent.keyFile("za-key"),
      },
    });
    await fleet.delegates(fleetTags);
    for (const tag of tags) await endpointIs(tag, balancedZone, endpointLines(tag, balancedZone, fleetTags));
    const serial = await eventually("nobody writes any more", async () => {
      const first = await fleet.parent.serial();
      const same = async (): Promise<void> => assert.equal(await fleet.parent.serial(), first);
      await throughout("the serial stays", same, { forMs: 1_500 });
      return first;
    });
    await throughout(
      "nobody takes the other's records for wrong",
      async () => assert.equal(await fleet.parent.serial(), serial),
      { forMs: 4_000 },
    );
  });

  test("P-14: of two that write by different means either may leave a zone first", async () => {
    const leave = (tag: string): Promise<string> =>
      fleet.cluster(tag).kubectl(["delete", "zonedelegation/cloud2-example-com", "--timeout=60s"]);
    // external-dns adds nothing to a set that it did not begin.
    await fleet.serveFurther({ doFinalize: true }, ["eu"]);
    await fleet.delegates(["eu"], furtherZone);
    await fleet.serveFurther({ doFinalize: true }, ["za"]);
    await fleet.delegates(["eu", "za"], furtherZone);
    await leave("za");
    await fleet.delegates(["eu"], furtherZone);
    await fleet.serveFurther({ doFinalize: true }, ["za"]);
    await fleet.delegates(["eu", "za"], furtherZone);
    await leave("eu");
    await fleet.delegates(["za"], furtherZone);
    await leave("za");
    await isGone("eu", furtherZone);
    await eventually("the parent knows nothing of the zone", async () =>
      assert.equal((await fleet.parent.dig(furtherZone, "NS")).status, "NXDOMAIN"),
    );
  });
}
