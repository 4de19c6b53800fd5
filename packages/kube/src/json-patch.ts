import type { Json } from "./json.ts";

/** Operations in one patch, as kube-apiserver limits them. */
export const jsonPatchOperationsMax: number = 10_000;

export interface JsonPatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test" | string;
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

/** @throws StatusError */
export function applyJsonPatch(target: Json, operations: readonly JsonPatchOperation[] | Json): Json {
  throw new Error(`not applied: ${JSON.stringify(target)} ${JSON.stringify(operations)}`);
}
