import assert from "node:assert/strict";
import { test } from "node:test";
import { ServedZone } from "./served-zone.ts";

// RFC 4592 §2.2.1: the example zone and its answers as the document gives them, and §2.2.3 and §4.

const zone = new ServedZone(`$ORIGIN example.
$TTL 3600
example. SOA ns.example.com. hostmaster 1 7200 1800 86400 30
example. NS ns.example.com.
example. NS ns.example.net.
*.example. TXT "this is a wildcard"
*.example. MX 10 host1.example.
sub.*.example. TXT "this is not a wildcard"
host1.example. A 192.0.2.1
_ssh._tcp.host1.example. SRV 0 0 22 host1
_ssh._tcp.host2.example. SRV 0 0 22 host2
subdel.example. NS ns.example.com.
subdel.example. NS ns.example.net.
`);

const positive = "The following responses would be synthesized from one of the wildcards in the zone";
const negative = "The following responses would not be synthesized from any of the wildcards in the zone";

const cases: readonly {
  readonly name: string;
  readonly type: string;
  readonly said: string;
  readonly answer: string;
}[] = [
  {
    name: "host3.example",
    type: "MX",
    said: `${positive}: the answer will be a "host3.example. IN MX ..."`,
    answer: "NOERROR aa | host3.example MX 10 host1.example. |  | host1.example A 192.0.2.1",
  },
  {
    name: "host3.example",
    type: "A",
    said: `${positive}: the answer will reflect "no error, but no data" because there is no A RR set at '*.example.'`,
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    name: "foo.bar.example",
    type: "TXT",
    said: `${positive}: the answer will be "foo.bar.example. IN TXT ..." because bar.example. does not exist, but the wildcard does.`,
    answer: 'NOERROR aa | foo.bar.example TXT "this is a wildcard" |  | ',
  },
  {
    name: "host1.example",
    type: "MX",
    said: `${negative}: because host1.example. exists`,
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    name: "sub.*.example",
    type: "MX",
    said: `${negative}: because sub.*.example. exists`,
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    name: "_telnet._tcp.host1.example",
    type: "SRV",
    said: `${negative}: because _tcp.host1.example. exists (without data)`,
    answer: "NXDOMAIN aa |  | example SOA | ",
  },
  {
    name: "host.subdel.example",
    type: "A",
    said: `${negative}: because subdel.example. exists (and is a zone cut)`,
    answer: "NOERROR |  | subdel.example NS ns.example.com., subdel.example NS ns.example.net. | ",
  },
  {
    name: "ghost.*.example",
    type: "MX",
    said: `${negative}: because *.example. exists`,
    answer: "NXDOMAIN aa |  | example SOA | ",
  },
  {
    name: "_tcp.host2.example",
    type: "SRV",
    said: "(§2.2.2) empty non-terminals exist: the answer is no name error and comes from no wildcard",
    answer: "NOERROR aa |  | example SOA | ",
  },
  {
    name: "*.example",
    type: "TXT",
    said: "(§2.1.3, §2.3) a question for the wildcard itself finds its node: no synthesis",
    answer: 'NOERROR aa | *.example TXT "this is a wildcard" |  | ',
  },
];

for (const { name, type, said, answer } of cases) {
  test(`${name} ${type}: ${said}`, () => {
    assert.equal(zone.answer(name, type), answer);
  });
}
