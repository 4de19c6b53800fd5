import assert from "node:assert/strict";
import { parseZoneFile } from "@meridian/dns";

/** Any text is a zone, or a list of problems with lines; and what a zone holds can be put into it again. */
export function fuzz(given: Uint8Array): void {
  const text = Buffer.from(given).toString("utf8");
  const { zone, problems } = parseZoneFile(text, { origin: "p.test" });
  if (zone === undefined) {
    assert.ok(problems.length > 0);
    const lines = text.split("\n").length;
    for (const { line } of problems) assert.ok(line >= 0 && line <= lines, `line ${line} of ${lines}`);
    return;
  }
  const sets = [...zone.recordSets()].filter(
    ({ type, name }) => name !== zone.origin || !/^(SOA|NS)$/.test(type),
  );
  const byOwner = new Map<string, typeof sets>();
  for (const set of sets) byOwner.set(set.name, [...(byOwner.get(set.name) ?? []), set]);
  assert.equal(zone.replace(byOwner), false, "the zone changed by its own content");
}
