import assert from "node:assert/strict";
import test from "node:test";
import { parseMessage } from "../message/message.ts";
import { assertSound } from "../testdata/assert-sound.ts";
import { authorityOf, caseZoneText, describe, exchange, plainEdns, question } from "../testdata/case-zone.ts";
import { packetReports, reportApex, zoneReports } from "../testdata/field-reports.ts";

for (const { id, zone, ask, expect } of zoneReports) {
  test(`field report ${id}`, () => {
    const asked = question(...ask);
    const reply = exchange(authorityOf([reportApex + zone]), asked);
    assert.equal(describe(reply), expect);
    assertSound(asked, reply!);
  });
}

for (const [id, message, expected] of packetReports) {
  test(`field report ${id}`, () => {
    const reply = exchange(authorityOf([caseZoneText]), message);
    assert.equal(describe(reply), expected);
    if (reply !== undefined) assertSound(message, reply);
  });
}

test("field report A10: a zone written in upper case is found", () => {
  const authority = authorityOf([
    "$ORIGIN A.\n@ 60 SOA ns.example. h.example. 1 2 3 4 5\n@ NS ns.example.\n",
  ]);
  assert.match(describe(exchange(authority, question("a", "SOA"))), /^NOERROR aa an: a SOA/);
});

test("field report B7: a chain of forty aliases ends after sixteen steps, each alias once", () => {
  const zone = Array.from({ length: 40 }, (_, index) => `c${index} CNAME c${index + 1}`).join("\n");
  const reply = describe(
    exchange(authorityOf([reportApex + zone]), question("c0.p", "A"), { transport: "tcp" }),
  );
  assert.match(reply, /^NOERROR aa an: c0\.p CNAME c1\.p\./);
  assert.equal(reply.match(/CNAME/g)!.length, 17);
});

test("field report D6: no answer is larger than the client allows, whatever options come along", () => {
  const addresses = Array.from({ length: 40 }, (_, index) => `h A 192.0.2.${index + 1}`).join("\n");
  const authority = authorityOf([reportApex + addresses], { serverId: "x".repeat(60) });
  const options = [
    { code: 10, octets: new Uint8Array(8) },
    { code: 3, octets: new Uint8Array() },
    { code: 8, octets: Uint8Array.from([0, 1, 24, 0, 192, 0, 2]) },
  ];
  for (let payloadSize = 500; payloadSize < 1300; payloadSize += 7) {
    const reply = exchange(
      authority,
      question("h.p", "A", { edns: { ...plainEdns, payloadSize, options } }),
    )!;
    assert.ok(reply.length <= Math.max(512, Math.min(1232, payloadSize)), `${payloadSize}: ${reply.length}`);
  }
});

test("field report C6: a host whose targets are all gone is NODATA, and so are its other types", () => {
  const authority = authorityOf([reportApex + "h A 192.0.2.1\nbelow.h A 192.0.2.2"]);
  const soa = "p SOA ns.example. h.example. 2 2 3 4 30";
  authority.zone("p")!.replace(new Map([["h.p", [{ name: "h.p", type: "A", ttl: 5, data: [] }]]]));
  for (const type of ["A", "AAAA", "TXT", "HTTPS"])
    assert.equal(describe(exchange(authority, question("h.p", type))), `NOERROR aa ns: ${soa}`);
  assert.match(describe(exchange(authority, question("below.h.p", "A"))), /^NOERROR aa an: below/);
});

test("field report C10: two servers of the same records answer alike, however often they change", () => {
  const zone = reportApex + "h CNAME lb.q.\nlb A 192.0.2.1";
  const [first, second] = [authorityOf([zone]), authorityOf([zone])];
  for (let round = 0; round < 200; round++) {
    const data = [`192.0.2.${round % 250}`, "192.0.2.251"];
    const change = new Map([["lb.p", [{ name: "lb.p", type: "A", ttl: 5, data }]]]);
    for (const authority of [first, second]) authority.zone("p")!.replace(change);
    for (const [name, type] of [
      ["lb.p", "A"],
      ["h.p", "A"],
      ["p", "SOA"],
      ["nx.p", "A"],
    ] as const) {
      const asked = question(name, type);
      assert.deepEqual(exchange(first, asked), exchange(second, asked), `${name} ${type}`);
    }
  }
});

test("field report D5: what was truncated comes whole over TCP", () => {
  const { zone, ask } = zoneReports.find(({ id }) => id.startsWith("D5 "))!;
  const reply = exchange(authorityOf([reportApex + zone]), question(...ask), { transport: "tcp" })!;
  assert.equal(parseMessage(reply).answers.length, 52);
});

test("field report E8: over TCP no pointer leads beyond 16,383; owners that stand there are written out", () => {
  const count = 900;
  const zone = Array.from(
    { length: count },
    (_, index) => `s SRV 1 2 3 target-${index}\ntarget-${index} A 192.0.2.${index % 256}`,
  );
  const authority = authorityOf([reportApex + zone.join("\n")]);
  const reply = exchange(authority, question("s.p", "SRV"), { transport: "tcp" })!;
  const { answers, additional, truncated } = parseMessage(reply);
  assert.ok(reply.length > 2 * 0x4000 && !truncated);
  assert.equal(new Set(answers.map(({ data }) => data)).size, count);
  assert.equal(additional.length, count);
  for (const { name, data } of additional)
    assert.equal(data, `192.0.2.${Number(/^target-(\d+)\.p$/.exec(name)?.[1]) % 256}`);
});

test("field report E8: a referral of over 16,383 octets has all its glue", () => {
  const count = 180;
  const long = `${"a".repeat(60)}.${"b".repeat(56)}`;
  const zone = Array.from({ length: count }, (_, index) => {
    const server = `${long}-${index}.sub`;
    return `sub NS ${server}\n${server} A 192.0.2.${index % 256}\n${server} AAAA 2001:db8::1:${index}`;
  });
  const authority = authorityOf([reportApex + zone.join("\n")]);
  const reply = exchange(authority, question("x.sub.p", "A"), { transport: "tcp" })!;
  const { authority: servers, additional, truncated, rcode } = parseMessage(reply);
  assert.deepEqual([rcode, truncated], [0, false]);
  const named = servers.map(({ data }) => data);
  assert.ok(named.length === count && reply.length > 2 * 0x4000);
  const own = (name: string): string[] =>
    additional.filter((record) => record.name === name).map(({ data }) => data);
  for (const name of named) {
    const number = Number(/-(\d+)\.sub\.p\.?$/.exec(name)?.[1]);
    assert.deepEqual(own(name.replace(/\.$/, "")), [`192.0.2.${number % 256}`, `2001:db8::1:${number}`]);
  }
  assert.equal(additional.length, 2 * count);
});
