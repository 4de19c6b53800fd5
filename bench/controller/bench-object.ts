import { createHash } from "node:crypto";
import type { ConfigMap } from "@meridian/kube";

/** Where the objects of the bench are. */
export const benchNamespace = "bench";

const textBytes = 1024;

/** A ConfigMap of the bench with 1 KB of data, as one sends it. `generation` is what an update changes. */
export function newObject(index: number, generation: number): ConfigMap {
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: {
      name: objectName(index),
      namespace: benchNamespace,
      labels: { app: "bench", shard: String(index % 16) },
    },
    data: { generation: String(generation), text: `${index} `.repeat(textBytes).slice(0, textBytes) },
  };
}

/** The same as kube-apiserver stores it, with uid and managed fields: about 1.5 KB. */
export function storedObject(index: number, generation: number): ConfigMap {
  const object = newObject(index, generation);
  const time = "2026-01-01T00:00:00Z";
  return {
    ...object,
    metadata: {
      ...object.metadata,
      uid: uidOf(objectName(index)),
      creationTimestamp: time,
      managedFields: [
        {
          manager: "bench",
          operation: "Update",
          apiVersion: "v1",
          time,
          fieldsType: "FieldsV1",
          fieldsV1: {
            "f:data": { ".": {}, "f:generation": {}, "f:text": {} },
            "f:metadata": { "f:labels": { ".": {}, "f:app": {}, "f:shard": {} } },
          },
        },
      ],
    },
  };
}

/** `object-17` */
export function objectName(index: number): string {
  return `object-${index}`;
}

/** A uid that is the same in each run. */
function uidOf(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join("-");
}
