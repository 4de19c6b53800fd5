import assert from "node:assert/strict";
import test from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { nameFromText, nameToText, type Name } from "../name/name.ts";
import { compareNames } from "./canonical-order.ts";
import { precedingPlace } from "./denial-index.ts";
import type { RecordSet } from "./record-set.ts";
import { header } from "./zone-layout.ts";
import type { Zone } from "./zone.ts";
import { parseZoneFile } from "./zone-file.ts";

const signature = "SOA 13 2 60 20300101000000 20200101000000 1 p.test. AAAA";

function signedZone(): Zone {
  const { zone, problems } = parseZoneFile(
    `$ORIGIN p.test.\n$TTL 60\n@ SOA ns host 1 60 60 60 60\n@ NS ns\n@ NSEC p.test. SOA\n@ RRSIG ${signature}\n`,
  );
  assert.ok(zone !== undefined, JSON.stringify(problems));
  return zone;
}

const nsecAt = (name: string): RecordSet[] => [{ name, type: "NSEC", ttl: 60, data: ["p.test. A"] }];

/** The owners of NSEC as the zone's memory lists them. */
function listed({ tree: { view } }: Zone): string[] {
  const start = view.words[header.nsec]!;
  const nodes = [...view.words.subarray(start, start + view.words[header.nsecCount]!)];
  return nodes.map((node) => nameToText(view.nameOf(node)));
}

test("names are in canonical order (RFC 4034 §6.1)", () => {
  const ordered = [
    "example",
    "a.example",
    "yljkjljk.a.example",
    "z.a.example",
    "zabc.a.example",
    "z.example",
  ];
  const more = ["\\001.z.example", "*.z.example", "\\200.z.example"];
  const names = [...ordered, ...more].map((text) => nameFromText(text));
  for (const [left, name] of names.entries())
    for (const [right, other] of names.entries())
      assert.equal(Math.sign(compareNames(name, 0, other, 0)), Math.sign(left - right));
});

test("the list of denials is in order after any changes, and every name finds the one before it", () => {
  const random = new Simulation({ seed: 4034 }).random("denials");
  const below = (limit: number): number => random.uint32() % limit;
  const labels = ["a", "b", "ab", "*", "zz", "\\000", "\\255", "a\\.b"];
  const anyName = (): string =>
    `${Array.from({ length: 1 + below(3) }, () => labels[below(labels.length)]!).join(".")}.p.test`;
  const zone = signedZone();
  const wanted = new Set(["p.test"]);
  const wire = (text: string): Name => nameFromText(text);
  const order = (left: string, right: string): number => compareNames(wire(left), 0, wire(right), 0);
  for (let round = 0; round < 150; round++) {
    const changes = new Map<string, RecordSet[]>();
    for (let count = 1 + below(round % 10 === 0 ? 120 : 6); count > 0; count--) {
      const name = anyName();
      const isRemoved = below(2) === 0;
      changes.set(name, isRemoved ? [] : nsecAt(name));
      if (isRemoved) wanted.delete(name);
      else wanted.add(name);
    }
    zone.replace(changes);
    const expected = [...wanted].sort(order);
    assert.deepEqual(listed(zone), expected);
    for (let tries = 0; tries < 20; tries++) {
      const name = anyName();
      const before = expected.filter((other) => order(other, name) <= 0).at(-1) ?? expected.at(-1);
      assert.equal(listed(zone)[precedingPlace(zone.tree.view, header.nsec, wire(name))], before);
    }
  }
});
