import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@meridian/kube";
import fc from "fast-check";
import { ObjectReader } from "../client/object-reader.ts";
import type { ObjectReading } from "../client/object-reading.ts";
import { ManagedFieldsCutter, dropManagedFields } from "./managed-fields.ts";

const managedFields = [{ manager: "m", fieldsV1: { "f:data": { ".": {}, 'f:"}]': {} } } }];

test("managed fields are cut out of any object as if it had been decoded for it", () => {
  const cutter = new ManagedFieldsCutter();
  const fields = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 });
  fc.assert(
    fc.property(
      fields,
      fields,
      fc.record({
        has: fc.boolean(),
        at: fc.nat(4),
        spacing: fc.constantFrom(undefined, 2),
        last: fc.boolean(),
      }),
      (before, labels, { has, at, spacing, last }) => {
        const { metadata: _, ...rest } = before;
        const entries: [string, unknown][] = [
          ["name", "a"],
          ["namespace", "n"],
          ["labels", labels],
          ["uid", "the uid"],
        ];
        if (has) entries.splice(at, 0, ["managedFields", managedFields]);
        const metadata = Object.fromEntries(entries);
        const object = (last ? { ...rest, metadata } : { metadata, ...rest }) as unknown as KubeObject;
        const octets = Buffer.from(`[${JSON.stringify(object, undefined, spacing)}]`);
        const span = {
          octets,
          start: 1,
          end: octets.length - 1,
          ascii: octets.every((octet) => octet < 128),
        };
        const reading = new ObjectReader({ namespaced: true }).read(span) as ObjectReading;
        const cut = cutter.cut(reading);
        if (cut === undefined) {
          assert.match(octets.toString(), /\\|[^\x20-\x7e]/, "only what is not plain is left to others");
          return;
        }
        assert.deepEqual(
          JSON.parse(cut.octets.toString("utf8", cut.start, cut.end)),
          JSON.parse(JSON.stringify(dropManagedFields(object))),
        );
        assert.equal(cut.octets.toString("utf8", cut.uidStart, cut.uidEnd), "the uid");
        assert.deepEqual([cut.key, cut.version, cut.format], [reading.key, reading.version, reading.format]);
      },
    ),
    { numRuns: 500 },
  );
});
