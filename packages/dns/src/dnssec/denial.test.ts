import assert from "node:assert/strict";
import { test } from "node:test";
import { rdataToText } from "../message/rdata.ts";
import { typeNsec } from "../message/type-numbers.ts";
import { nameFromText, type Name } from "../name/name.ts";
import { composeNsec, successorName } from "./denial.ts";

/** A name of exactly so many octets, whose first label has `first` of them. */
function longName(octets: number, first: Uint8Array): Name {
  const rest: number[] = [];
  let left = octets - first.length - 2;
  while (left > 0) {
    const label = Math.min(63, left - 1 === 64 ? 62 : left - 1);
    rest.push(label, ...new Uint8Array(label).fill(0x61));
    left -= label + 1;
  }
  return Uint8Array.of(first.length, ...first, ...rest, 0);
}

/** Labels from the right, compared as octets: RFC 4034 §6.1. */
function compareNames(left: Name, right: Name): number {
  const labels = (name: Name): Uint8Array[] => {
    const found: Uint8Array[] = [];
    for (let at = 0; name[at] !== 0; at += name[at]! + 1)
      found.unshift(name.slice(at + 1, at + 1 + name[at]!));
    return found;
  };
  const [a, b] = [labels(left), labels(right)];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = Buffer.compare(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

test("the successor is \\000 below the name", () => {
  assert.equal(
    rdataToText(typeNsec, composeNsec(nameFromText("nx.p.test"), [46, 47, 128])),
    "\\000.nx.p.test. RRSIG NSEC NXNAME",
  );
  assert.equal(
    rdataToText(typeNsec, composeNsec(nameFromText("p.test"), [257, 6, 2, 2, 46, 47, 65280])),
    "\\000.p.test. NS SOA RRSIG NSEC CAA TYPE65280",
  );
});

const ff = (count: number): Uint8Array => new Uint8Array(count).fill(0xff);
for (const [what, name, expected] of [
  [
    "253 octets have room for a label",
    longName(253, Uint8Array.of(0x62)),
    Uint8Array.of(1, 0, ...longName(253, Uint8Array.of(0x62))),
  ],
  [
    "254 octets have room for an octet",
    longName(254, Uint8Array.of(0x62)),
    longName(255, Uint8Array.of(0x62, 0)),
  ],
  ["255 octets have none", longName(255, Uint8Array.of(0x62)), longName(255, Uint8Array.of(0x63))],
  ["no capital letter follows @", longName(255, Uint8Array.of(0x40)), longName(255, Uint8Array.of(0x5b))],
  [
    "an octet that cannot rise goes",
    longName(255, Uint8Array.of(0x62, 0xff)),
    longName(254, Uint8Array.of(0x63)),
  ],
  [
    "a full label of 254 octets rises",
    longName(254, new Uint8Array(63).fill(0x62)),
    longName(254, new Uint8Array(63).fill(0x62).fill(0x63, 62)),
  ],
] as const) {
  test(`the successor of a long name: ${what}`, () => {
    const successor = successorName(name);
    assert.deepEqual(successor, expected);
    assert.ok(successor.length <= 255 && compareNames(name, successor) < 0);
  });
}

test("a label that cannot be increased goes, and the next one rises", () => {
  const name = longName(255, ff(63));
  const successor = successorName(name);
  assert.equal(successor.length, 255 - 64);
  assert.ok(compareNames(name, successor) < 0);
});
