import assert from "node:assert/strict";
import test from "node:test";
import { assertSound } from "../testdata/assert-sound.ts";
import { parseMessage } from "../message/message.ts";
import { authorityOf, caseZoneText, describe, exchange, plainEdns, question } from "../testdata/case-zone.ts";
import { ruleCases } from "../testdata/rule-cases.ts";

for (const [name, message, expected] of ruleCases) {
  test(`an answer: ${name}`, () => {
    const reply = exchange(authorityOf([caseZoneText]), message);
    assert.equal(describe(reply), expected);
    if (reply !== undefined) assertSound(message, reply);
  });
}

const zoneOf = (origin: string, records: string): string =>
  `$ORIGIN ${origin}.\n$TTL 60\n@ SOA ns.example. h.example. 1 2 3 4 30\n@ NS ns.example.\n${records}\n`;
const small = { edns: { ...plainEdns, payloadSize: 512 } };
const many = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

test("a chain goes on in other zones that are served, and its rcode and SOA are those of the last", () => {
  const authority = authorityOf([
    zoneOf("p", "a CNAME b.q.\nc CNAME no.q.\nd CNAME e.q."),
    zoneOf("q", "b A 192.0.2.1\ne CNAME x.elsewhere."),
  ]);
  const ask = (name: string): string => describe(exchange(authority, question(name, "A")));
  const soa = "q SOA ns.example. h.example. 1 2 3 4 30";
  assert.equal(ask("a.p"), "NOERROR aa an: a.p CNAME b.q., b.q A 192.0.2.1");
  assert.equal(ask("c.p"), `NXDOMAIN aa an: c.p CNAME no.q. ns: ${soa}`);
  assert.equal(ask("d.p"), "NOERROR aa an: d.p CNAME e.q., e.q CNAME x.elsewhere.");
  authority.zone("q")!.setReady(false);
  assert.equal(ask("a.p"), "NOERROR aa an: a.p CNAME b.q.");
});

test("what nobody needs is left out without TC: addresses of mail servers, and glue of siblings", () => {
  const authority = authorityOf([
    zoneOf(
      "p",
      `${many(12, (index) => `m MX 1 host-${index}\nhost-${index} AAAA 2001:db8::${index}`)}
${many(12, (index) => `a NS ns-${index}.b\nns-${index}.b AAAA 2001:db8::${index}`)}
b NS ns-0.b`,
    ),
  ]);
  for (const [name, type, section] of [
    ["m.p", "MX", "answers"],
    ["x.a.p", "A", "authority"],
  ] as const) {
    const message = parseMessage(exchange(authority, question(name, type, small))!);
    assert.equal(message.truncated, false);
    assert.equal(message[section].length, 12);
    assert.ok(message.additional.length > 0 && message.additional.length < 12, name);
  }
});

test("ANY finds sets that are chosen at answer time, too", () => {
  const authority = authorityOf([zoneOf("p", "h A 192.0.2.9")]);
  const groups = [{ weight: 1, data: ["192.0.2.1"] }];
  const policy = { kind: "weighted", groups } as const;
  authority
    .zone("p")!
    .replace(new Map([["h.p", [{ name: "h.p", type: "A", ttl: 5, data: ["192.0.2.1"], policy }]]]));
  for (const transport of ["udp", "tcp"] as const)
    assert.equal(
      describe(exchange(authority, question("h.p", "ANY"), { transport })),
      "NOERROR aa an: h.p A 192.0.2.1",
    );
});

test("what the server tells of itself is of class CH, and not to be kept", () => {
  const authority = authorityOf([caseZoneText], { version: "1.0" });
  const reply = exchange(authority, question("version.server", "TXT", { class: 3 }))!;
  const [record] = parseMessage(reply).answers;
  assert.deepEqual([record?.class, record?.ttl, record?.data], [3, 0, '"1.0"']);
});
