import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "@meridian/kube";
import { checkCopies } from "../testing/programs/check-copies.ts";
import { dropManagedFields } from "./managed-fields.ts";

const runs = Number(process.env["MERIDIAN_RUNS"] ?? 60);

const transforms: Readonly<Record<string, (object: ConfigMap) => ConfigMap>> = {
  "managed fields are cut out of": dropManagedFields,
  "each object is decoded and written again in": (object) => dropManagedFields(object),
};

for (const [name, transform] of Object.entries(transforms)) {
  test(`whatever happens, ${name} a copy that equals the truth, and old states are those told before`, () =>
    checkCopies<ConfigMap>({
      runs,
      seed: 5,
      informer: { transform },
      object: ({ value, ...metadata }) => ({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { ...metadata, managedFields: [{ manager: `m${value}` }] },
        data: { text: "é".repeat(value % 50), value: String(value) },
      }),
      subject: () => {
        const told = new Map<string | undefined, ConfigMap>();
        const tell = (object: ConfigMap): void => {
          assert.equal(object.metadata.managedFields, undefined);
          told.set(object.metadata.name, object);
        };
        return {
          handler: {
            onAdd: tell,
            onUpdate(old, object) {
              // Octets that were moved, or filled again too early, would show here.
              assert.deepEqual(old, told.get(object.metadata.name));
              tell(object);
            },
            onDelete: ({ metadata }) => void told.delete(metadata.name),
          },
        };
      },
    }));
}
