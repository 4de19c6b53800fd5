import assert from "node:assert/strict";
import test from "node:test";
import { authorityOf, describe, exchange, plainEdns, question } from "../testdata/case-zone.ts";

/** Bugs that other servers had, each by its trigger: a zone `p.`, a question, the right answer. */
interface Report {
  readonly id: string;
  readonly zone: string;
  readonly ask: readonly [name: string, type: string];
  readonly expect: string;
}

const apex = "$ORIGIN p.\n$TTL 60\n@ SOA ns.example. h.example. 1 2 3 4 30\n@ NS ns.example.\n";
const soa = "p SOA ns.example. h.example. 1 2 3 4 30";
const nxdomain = `NXDOMAIN aa ns: ${soa}`;
const nodata = `NOERROR aa ns: ${soa}`;

const reports: readonly Report[] = [
  {
    id: "A1 a wildcard node without data",
    zone: "f.*.e A 192.0.2.1\nt.e A 192.0.2.2",
    ask: ["x.e.p", "A"],
    expect: nodata,
  },
  {
    id: "A2 a nearer ancestor blocks",
    zone: "*.d A 192.0.2.1\nr.c.d A 192.0.2.2",
    ask: ["x.c.d.p", "A"],
    expect: nxdomain,
  },
  {
    id: "A2 a nearer ancestor with data blocks",
    zone: "*.d A 192.0.2.1\nr.c.d A 192.0.2.2",
    ask: ["x.r.c.d.p", "A"],
    expect: nxdomain,
  },
  {
    id: "A5 two labels",
    zone: "* A 192.0.2.1",
    ask: ["a.b.p", "A"],
    expect: "NOERROR aa an: a.b.p A 192.0.2.1",
  },
  { id: "A6 wildcard without the type", zone: "* A 192.0.2.1", ask: ["x.p", "MX"], expect: nodata },
  { id: "A7 below the literal asterisk", zone: "* A 192.0.2.1", ask: ["a.*.p", "A"], expect: nxdomain },
  {
    id: "A8 nested wildcards",
    zone: "* A 192.0.2.1\n*.* A 192.0.2.2",
    ask: ["foo.*.p", "A"],
    expect: "NOERROR aa an: foo.*.p A 192.0.2.2",
  },
  { id: "A14 NUL in a label", zone: "b A 192.0.2.1", ask: ["a\\000b.p", "A"], expect: nxdomain },
  {
    id: "B1 a dangling chain of two",
    zone: "b CNAME c\nc CNAME d",
    ask: ["b.p", "A"],
    expect: `NXDOMAIN aa an: b.p CNAME c.p., c.p CNAME d.p. ns: ${soa}`,
  },
  {
    id: "B2 a target with an asterisk",
    zone: "foo CNAME www.*",
    ask: ["foo.p", "A"],
    expect: `NXDOMAIN aa an: foo.p CNAME www.*.p. ns: ${soa}`,
  },
  {
    id: "B3 CNAME of a wildcard that dangles",
    zone: "*.c CNAME nope",
    ask: ["a.c.p", "CNAME"],
    expect: "NOERROR aa an: a.c.p CNAME nope.p.",
  },
  {
    id: "B4 CNAME asked, chain not followed",
    zone: "* CNAME ww\nww CNAME out.",
    ask: ["foo.p", "CNAME"],
    expect: "NOERROR aa an: foo.p CNAME ww.p.",
  },
  {
    id: "B7 a loop through a wildcard",
    zone: "*.foo CNAME bar.foo",
    ask: ["x.foo.p", "A"],
    expect: "NOERROR aa an: x.foo.p CNAME bar.foo.p., bar.foo.p CNAME bar.foo.p.",
  },
  {
    id: "B8 an alias of itself",
    zone: "self CNAME self",
    ask: ["self.p", "A"],
    expect: "NOERROR aa an: self.p CNAME self.p.",
  },
  {
    id: "B9 a DNAME to itself",
    zone: "a DNAME a",
    ask: ["c.a.p", "A"],
    expect: "NOERROR aa an: a.p DNAME a.p., c.a.p CNAME c.a.p.",
  },
  {
    id: "B10 a wildcard to itself",
    zone: "* CNAME *",
    ask: ["a.p", "A"],
    expect: "NOERROR aa an: a.p CNAME *.p., *.p CNAME *.p.",
  },
  {
    id: "B11 the same DNAME twice",
    zone: "d DNAME x.y\nx.y DNAME d.e\nd.e DNAME out.",
    ask: ["h.d.p", "A"],
    expect:
      "NOERROR aa an: d.p DNAME x.y.p., h.d.p CNAME h.x.y.p., x.y.p DNAME d.e.p., h.x.y.p CNAME h.d.e.p., d.e.p DNAME out., h.d.e.p CNAME h.out.",
  },
  {
    id: "B15 data below a cut",
    zone: "sub NS x.example.\na.sub NS y.example.",
    ask: ["q.a.sub.p", "A"],
    expect: "NOERROR ns: sub.p NS x.example.",
  },
  {
    id: "B16 glue asked for",
    zone: "sub NS ns.sub\nns.sub A 192.0.2.1",
    ask: ["ns.sub.p", "A"],
    expect: "NOERROR ns: sub.p NS ns.sub.p. ar: ns.sub.p A 192.0.2.1",
  },
  {
    id: "B18 sibling glue by wildcard",
    zone: "* A 192.0.2.1\na NS foo",
    ask: ["x.a.p", "A"],
    expect: "NOERROR ns: a.p NS foo.p.",
  },
  { id: "B19 DS at a cut", zone: "sub NS x.example.", ask: ["sub.p", "DS"], expect: nodata },
  {
    id: "B20 sibling glue",
    zone: "a NS ns.b\nb NS ns.b\nns.b A 192.0.2.1",
    ask: ["a.p", "A"],
    expect: "NOERROR ns: a.p NS ns.b.p. ar: ns.b.p A 192.0.2.1",
  },
  { id: "C4 unhandled type of no name", zone: "b A 192.0.2.1", ask: ["nope.p", "HINFO"], expect: nxdomain },
  {
    id: "C5 CNAME of an alias",
    zone: "b CNAME c",
    ask: ["b.p", "CNAME"],
    expect: "NOERROR aa an: b.p CNAME c.p.",
  },
  { id: "E13 type 65535", zone: "b A 192.0.2.1", ask: ["b.p", "TYPE65535"], expect: nodata },
];

for (const { id, zone, ask, expect } of reports) {
  test(`field report ${id}`, () => {
    assert.equal(describe(exchange(authorityOf([apex + zone]), question(...ask))), expect);
  });
}

test("field report A10: a zone written in upper case is found", () => {
  const authority = authorityOf([
    "$ORIGIN A.\n@ 60 SOA ns.example. h.example. 1 2 3 4 5\n@ NS ns.example.\n",
  ]);
  assert.match(describe(exchange(authority, question("a", "SOA"))), /^NOERROR aa an: a SOA/);
});

test("a chain of forty aliases ends after sixteen steps, each alias once", () => {
  const zone = Array.from({ length: 40 }, (_, index) => `c${index} CNAME c${index + 1}`).join("\n");
  const reply = describe(exchange(authorityOf([apex + zone]), question("c0.p", "A"), { transport: "tcp" }));
  assert.match(reply, /^NOERROR aa an: c0\.p CNAME c1\.p\./);
  assert.equal(reply.match(/CNAME/g)!.length, 17);
});

test("field report B17: glue that is required and does not fit is announced by TC", () => {
  const names = Array.from({ length: 12 }, (_, index) => `ns${index}.sub`);
  const zone = names
    .map((name) => `sub NS ${name}\n${name} A 192.0.2.1\n${name} AAAA 2001:db8::1`)
    .join("\n");
  const authority = authorityOf([apex + zone]);
  const asked = question("x.sub.p", "A", { edns: { ...plainEdns, payloadSize: 512 } });
  assert.equal(describe(exchange(authority, asked)), "NOERROR tc opt");
});

test("field report D6: no answer is larger than the client allows, whatever options come along", () => {
  const addresses = Array.from({ length: 40 }, (_, index) => `h A 192.0.2.${index + 1}`).join("\n");
  const authority = authorityOf([apex + addresses], { serverId: "x".repeat(60) });
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
