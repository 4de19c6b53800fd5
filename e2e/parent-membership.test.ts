import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exposedAddress } from "./harness/application.ts";
import { balancedZone, DelegatedFleet, nameServerOf, ownRecordsOnly } from "./harness/delegated-fleet.ts";
import { eventually } from "./harness/eventually.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { withCommands } from "./harness/with-commands.ts";

// Nobody tells the clusters of each other: they write themselves into a parent zone in BIND, and find each other there.

const app = { name: "found", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const [eu, us, za] = [exposedAddress["eu"]!, exposedAddress["us"]!, exposedAddress["za"]!];

interface ZoneObject {
  readonly status?: { readonly dnsServers?: readonly { readonly name: string }[] };
}

if (await enterNamespace()) {
  await withCommands(["named", "nsupdate", "tsig-keygen", "dig", "kubectl", "openssl"], {
    subject: "clusters that find each other in a parent zone",
    define,
  });
}

function define(): void {
  let fleet: DelegatedFleet;

  const join = async (name: string): Promise<void> => {
    const settings = {
      MERIDIAN_RFC2136_SERVERS: "soa",
      MERIDIAN_RFC2136_KEY_FILE: fleet.parent.keyFile(`${name}-key`),
    };
    await fleet.join(name, { settings, peers: [] });
    await fleet.deploy(app, [name]);
  };
  const knows = (name: string, tags: readonly string[]): Promise<void> =>
    eventually(`${name} knows ${tags.join(", ")}`, async () => {
      const { status } = await fleet.cluster(name).get<ZoneObject>("zonedelegation/cloud-example-com");
      const names = [...new Set(status?.dnsServers?.map((server) => server.name))];
      assert.deepEqual(names.toSorted(), tags.map((tag) => nameServerOf(tag)).toSorted());
    });

  before(async () => {
    fleet = await DelegatedFleet.start({ grants: ownRecordsOnly });
  });
  after(async () => {
    await fleet[Symbol.asyncDispose]();
  });

  test("P-07, D59: clusters that join later are found by those that were there, without a word or a restart", async () => {
    await join("eu");
    await fleet.delegates(["eu"]);
    await fleet.answers(app, [eu]);
    await join("us");
    await join("za");
    await fleet.delegates(["eu", "us", "za"]);
    for (const tag of ["eu", "us", "za"]) await knows(tag, ["eu", "us", "za"]);
    await fleet.answers(app, [eu, us, za]);
    const { answer } = await fleet.cluster("eu").dig(balancedZone, "NS");
    assert.equal(answer.length, 3, "the apex names all that were found");
  });

  test("P-07: silence is no evidence that a cluster left", async () => {
    await fleet.cluster("za").kill();
    await fleet.answers(app, [eu, us], ["eu", "us"]);
    await knows("eu", ["eu", "us", "za"]);
    await fleet.cluster("za").restart();
    await fleet.answers(app, [eu, us, za]);
  });

  test("P-07: a cluster that is gone for good, and taken out of the parent by hand, is forgotten", async () => {
    await fleet.cluster("za").kill();
    const name = nameServerOf("za");
    const { code, stderr } = await fleet.parent.update("za-key", [
      `update delete ${balancedZone} NS ${name}.`,
      `update delete ${name} A`,
    ]);
    assert.equal(code, 0, stderr);
    for (const tag of ["eu", "us"]) await knows(tag, ["eu", "us"]);
    await fleet.delegatesNow(["eu", "us"]);
    await fleet.answers(app, [eu, us], ["eu", "us"]);
    await eventually("the apex names those that are left", async () => {
      const { answer } = await fleet.cluster("eu").dig(balancedZone, "NS");
      assert.equal(answer.length, 2);
    });
  });
}
