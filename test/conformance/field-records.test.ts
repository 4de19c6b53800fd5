import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parseMessage, ZoneTransferClient } from "@meridian/dns";
import { dnsEndpointType } from "@meridian/gslb";
import { ask, plainEdns, reply, said } from "./cluster-asking.ts";
import { ReferenceWorld, zone } from "./reference-world.ts";

// What users of CoreDNS and its plugin reported of records, told to one whole cluster by DNSEndpoints.

const hostOf = (name: string): string => `${name}.${zone}`;
const soa = `SOA of ${zone} for 30`;
const many = Array.from({ length: 60 }, (_, index) => `198.51.100.${index + 1}`);

let world: ReferenceWorld;

/** Puts a DNSEndpoint of records, each as name, type and targets. */
async function put(
  name: string,
  ...records: readonly (readonly [name: string, type: string, ...targets: string[]])[]
): Promise<void> {
  const endpoints = records.map(([dnsName, recordType, ...targets]) => ({
    ...{ dnsName: hostOf(dnsName), recordType, recordTTL: 60, targets },
  }));
  await world.create(dnsEndpointType, name, {
    ...{ labels: { "k8gb.io/dnstype": "local" }, spec: { endpoints } },
  });
  await world.settle();
}

before(async () => {
  world = await ReferenceWorld.open();
});
after(() => world.close());

test("N-04: the serial rises exactly when content changes, and does not go back over a restart", async () => {
  const serial = (): number => Number(ask(world, zone, { type: "SOA" }).answers[0]!.data.split(" ")[2]);
  let last = serial();
  const rises = (by: number): void => {
    assert.equal(serial(), last + by);
    last += by;
  };
  await put("counted", ["counted", "A", "192.0.2.1"]);
  rises(1);
  await world.patch(dnsEndpointType, "counted", { metadata: { annotations: { touched: "yes" } } });
  await world.settle(7_200_000);
  rises(0);
  const endpoints = [{ dnsName: hostOf("counted"), recordType: "A", recordTTL: 60, targets: ["192.0.2.2"] }];
  await world.patch(dnsEndpointType, "counted", { spec: { endpoints } });
  await world.settle();
  rises(1);
  await world.restart();
  await world.settle(20_000);
  assert.ok(serial() >= last, `${serial()} after ${last}`);
});

test("N-05: a name has what was given for each type, and no data of the others", async () => {
  await put(
    "typed",
    ["text", "TXT", "v=1"],
    ["both", "A", "192.0.2.1"],
    ["both", "TXT", "v=2"],
    ["both", "MX", `10 ${hostOf("both")}`],
    ["_http._tcp", "SRV", `1 2 80 ${hostOf("both")}`],
    ["both", "CAA", '0 issue "ca.example"'],
    ["both", "HTTPS", "1 . alpn=h2"],
  );
  assert.equal(said(world, hostOf("text"), "TXT"), 'NOERROR "v=1"');
  for (const type of ["A", "AAAA", "MX"]) assert.equal(said(world, hostOf("text"), type), `NOERROR ${soa}`);
  assert.equal(said(world, hostOf("both")), "NOERROR 192.0.2.1");
  assert.equal(said(world, hostOf("both"), "TXT"), 'NOERROR "v=2"');
  assert.equal(said(world, hostOf("both"), "MX"), `NOERROR 10 ${hostOf("both")}.`);
  assert.equal(said(world, hostOf("both"), "CAA"), 'NOERROR 0 issue "ca.example"');
  assert.match(said(world, hostOf("both"), "HTTPS"), /^NOERROR 1 \. alpn="?h2"?$/);
  assert.equal(said(world, hostOf("_http._tcp"), "SRV"), `NOERROR 1 2 80 ${hostOf("both")}.`);
  assert.equal(said(world, hostOf("both"), "AAAA"), `NOERROR ${soa}`);
});

test("N-06: a wildcard is for names at any depth, not for its own parent, nor below names that exist", async () => {
  await put("wildcard", ["*.apps", "A", "192.0.2.1"], ["sub.x.apps", "A", "192.0.2.2"]);
  for (const name of ["y.apps", "z.y.apps"])
    assert.equal(said(world, hostOf(name)), "NOERROR 192.0.2.1", name);
  assert.equal(said(world, hostOf("sub.x.apps")), "NOERROR 192.0.2.2");
  for (const name of ["apps", "x.apps"]) assert.equal(said(world, hostOf(name)), `NOERROR ${soa}`, name);
  assert.equal(said(world, hostOf("q.x.apps")), `NXDOMAIN ${soa}`);
});

test("N-07: case does not matter, and the question comes back as it was asked", async () => {
  await put("cased", ["Cased", "A", "192.0.2.1"]);
  const name = "cAsEd.ClOuD.eXaMpLe.com";
  const { rcode, questions, answers } = ask(world, name);
  assert.deepEqual([rcode, answers.length], [0, 1]);
  assert.equal(questions[0]!.name, name);
  assert.equal(answers[0]!.name, name, "the owner points at the question");
});

test("N-08: nobody gets more than asked for: no OPT unasked, whole sets or TC, and all of it over TCP", async () => {
  await put("many", ["many", "A", ...many]);
  const sizes = [undefined, 512, 1232, 4096] as const;
  for (const size of sizes) {
    const edns = size === undefined ? {} : { edns: { ...plainEdns, payloadSize: size } };
    const octets = reply(world, hostOf("many"), edns)!;
    const message = parseMessage(octets);
    const fits = (size ?? 512) >= 1232;
    assert.ok(octets.length <= Math.min(size ?? 512, 1232), `${octets.length} octets for ${size}`);
    assert.deepEqual([message.truncated, message.answers.length], fits ? [false, 60] : [true, 0], `${size}`);
    assert.equal(message.edns === undefined, size === undefined);
  }
  const { truncated, answers } = ask(world, hostOf("many"), { transport: "tcp" });
  assert.deepEqual([truncated, answers.map(({ data }) => data)], [false, many]);
});

test("N-09: a cookie is answered with the server's own, and not sent back as it came", () => {
  const client = new Uint8Array(8).fill(1);
  const invented = new Uint8Array(24).fill(1);
  for (const octets of [client, invented]) {
    const edns = { ...plainEdns, options: [{ code: 10, octets }] };
    const cookie = ask(world, hostOf("many"), { edns }).edns!.options.find(({ code }) => code === 10)!.octets;
    assert.equal(cookie.length, 24);
    assert.deepEqual(cookie.slice(0, 8), client);
    assert.notDeepEqual(cookie, invented);
  }
});

test("N-11, N-12: an alias to nothing says what is cached, its own type is answered, and so is the apex", async () => {
  await put("alias", ["www", "CNAME", hostOf("gone")]);
  assert.equal(said(world, hostOf("www")), `NXDOMAIN ${hostOf("gone")}. ${soa}`);
  assert.equal(said(world, hostOf("www"), "CNAME"), `NOERROR ${hostOf("gone")}.`);
  assert.match(said(world, zone, "NS"), /^NOERROR gslb-ns-eu-cloud\.example\.com\.$/);
  assert.equal(ask(world, zone, { type: "ANY", transport: "tcp" }).rcode, 0);
});

test("N-13: below a delegation the highest cut refers, whatever stands beneath", async () => {
  await put("cut", ["foo", "NS", "ns.x.example"], ["bar.foo", "NS", "ns.y.example"]);
  const { rcode, answers, authority } = ask(world, hostOf("host.bar.foo"));
  assert.deepEqual([rcode, answers.length], [0, 0]);
  assert.deepEqual(
    authority.map(({ name, data }) => [name, data]),
    [[hostOf("foo"), "ns.x.example."]],
  );
});

test("N-15: nobody transfers a zone, or what the cluster says of itself, without a key", async () => {
  const stranger = world.simulation.node({ name: "stranger", addresses: ["10.0.0.77"] });
  const transfers = new ZoneTransferClient(stranger.runtime);
  for (const name of [zone, `_localtargets.${zone}`]) {
    const fetched = transfers.fetchZone({ zone: name, primaries: [{ address: "10.0.0.1", port: 53 }] });
    assert.deepEqual(await world.simulation.complete(fetched), { kind: "refused", rcode: "REFUSED" }, name);
  }
});
