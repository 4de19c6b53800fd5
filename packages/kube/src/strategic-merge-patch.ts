import type { Json } from "./json.ts";

/** What strategic merge must know of a kind: which lists merge, by which key. A structural schema is one. */
export interface PatchSchema {
  readonly properties?: Readonly<Record<string, PatchSchema>>;
  readonly items?: PatchSchema;
  readonly additionalProperties?: PatchSchema | boolean;
  readonly "x-kubernetes-patch-strategy"?: string;
  readonly "x-kubernetes-patch-merge-key"?: string;
}

/** @throws StatusError */
export function applyStrategicMergePatch(target: Json, patch: Json, schema: PatchSchema): Json {
  throw new Error(
    `not applied: ${JSON.stringify(target)} ${JSON.stringify(patch)} ${JSON.stringify(schema)}`,
  );
}
