import { applyPatch } from "rfc6902";
import type { Operation } from "rfc6902";
import { isJsonArray, isJsonObject, jsonText, setField } from "./json.ts";
import type { Json } from "./json.ts";
import { badRequest, requestEntityTooLarge, unprocessable } from "./status-errors.ts";
import type { StatusError } from "./status.ts";

/** Operations in one patch. */
export const jsonPatchOperationsMax: number = 10_000;

/** Characters that all `copy` operations of one patch may add together; each could double the document. */
export const jsonPatchCopiedCharactersMax: number = 3 * 1024 * 1024;

/** One operation of a JSON patch (RFC 6902 §4). */
export interface JsonPatchOperation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

/**
 * Applies a JSON patch (RFC 6902), all of it or nothing; the target is not changed.
 *
 * @throws StatusError 400 BadRequest where the patch is none, 413 RequestEntityTooLarge for too many operations or too much copied, and 422
 * Invalid where an operation cannot be applied: a missing path, a failed `test`.
 */
export function applyJsonPatch(target: Json, operations: readonly JsonPatchOperation[] | Json): Json {
  const patch = parseOperations(operations);
  let document = copyOf(target);
  let copied = 0;
  for (const operation of patch) {
    if (operation.op === "add" || operation.op === "replace") {
      if (operation.path === "") {
        // The library applies within a document; replacing all of it happens here.
        document = copyOf(operation.value ?? null);
        continue;
      }
    }
    const parent = requireParent(document, operation.path, operation);
    if (operation.op === "replace" || operation.op === "remove") requireValue(parent, operation);
    if (operation.op === "copy" || operation.op === "move") {
      const source = requireSource(document, operation);
      if (operation.op === "copy") copied += jsonText(source).length;
      if (copied > jsonPatchCopiedCharactersMax) {
        throw requestEntityTooLarge(
          `the copy operations of the patch add more than ${jsonPatchCopiedCharactersMax} characters`,
        );
      }
    }
    const [error] = applyPatch(document, [operation as unknown as Operation]);
    if (error !== null && error !== undefined) throw cannotApply(operation, error.message);
  }
  return document;
}

const operationNames = new Set(["add", "remove", "replace", "move", "copy", "test"]);

function parseOperations(operations: readonly JsonPatchOperation[] | Json): readonly JsonPatchOperation[] {
  if (!Array.isArray(operations))
    throw badRequest("error decoding patch: a JSON patch is an array of operations");
  if (operations.length > jsonPatchOperationsMax) {
    throw requestEntityTooLarge(
      `The allowed maximum operations in a JSON patch is ${jsonPatchOperationsMax}, got ${operations.length}`,
    );
  }
  return operations.map((operation: unknown, index) => parseOperation(operation, index));
}

function parseOperation(operation: unknown, index: number): JsonPatchOperation {
  if (!isJsonObject(operation)) throw badRequest(`error decoding patch: operation ${index} is not an object`);
  const { op, path, from } = operation;
  if (typeof op !== "string" || !operationNames.has(op)) {
    throw badRequest(`error decoding patch: operation ${index} has unknown op ${jsonText(op ?? null)}`);
  }
  if (!isPointer(path)) throw badRequest(`error decoding patch: operation ${index} has no valid path`);
  if ((op === "move" || op === "copy") && !isPointer(from)) {
    throw badRequest(`error decoding patch: operation ${index} has no valid from`);
  }
  const needsValue = op === "add" || op === "replace" || op === "test";
  if (needsValue && !Object.hasOwn(operation, "value")) {
    throw badRequest(`error decoding patch: operation ${index} has no value`);
  }
  return operation as unknown as JsonPatchOperation;
}

const isPointer = (path: unknown): path is string =>
  typeof path === "string" && (path === "" || path.startsWith("/"));

/**
 * The container that a pointer's last token names a member of. The library would walk into what objects and arrays
 * inherit (`/constructor/…`, `/items/map/…`) and change it for the whole process, so every step is checked here first.
 */
function requireParent(document: Json, pointer: string, operation: JsonPatchOperation): Parent {
  const tokens = pointer.split("/").slice(1).map(unescapeToken);
  const last = tokens.pop();
  if (last === undefined) return { container: document, member: undefined };
  let container: Json = document;
  for (const token of tokens) {
    const next = memberOf(container, token);
    if (next === undefined) throw cannotApply(operation, `missing path: ${pointer}`);
    container = next;
  }
  if (inheritedNames.has(last)) throw cannotApply(operation, `the member name ${last} is not supported`);
  const isArray = isJsonArray(container);
  if (!isArray && !isJsonObject(container)) throw cannotApply(operation, `missing path: ${pointer}`);
  const appends = last === "-" && operation.op !== "test";
  if (isArray && !appends && !isIndex(last)) {
    throw cannotApply(operation, `the array index ${last} is not valid`);
  }
  return { container, member: last };
}

interface Parent {
  readonly container: Json;
  readonly member: string | undefined;
}

const inheritedNames = new Set(["__proto__", "constructor", "prototype"]);
const isIndex = (token: string): boolean => /^(0|[1-9][0-9]{0,8})$/.test(token);
const unescapeToken = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");

function memberOf(container: Json, token: string): Json | undefined {
  if (isJsonArray(container)) return isIndex(token) ? container[Number(token)] : undefined;
  return isJsonObject(container) && Object.hasOwn(container, token) ? container[token] : undefined;
}

function requireValue({ container, member }: Parent, operation: JsonPatchOperation): void {
  if (member === undefined || memberOf(container, member) === undefined) {
    throw cannotApply(operation, `missing path: ${operation.path}`);
  }
}

function requireSource(document: Json, operation: JsonPatchOperation): Json {
  const from = operation.from ?? "";
  const { container, member } = requireParent(document, from, operation);
  const source = member === undefined ? container : memberOf(container, member);
  if (source === undefined) throw cannotApply(operation, `missing path: ${from}`);
  return source;
}

function cannotApply(operation: JsonPatchOperation, why: string): StatusError {
  return unprocessable(
    `${operation.op} operation does not apply at ${JSON.stringify(operation.path)}: ${why}`,
  );
}

/** A deep copy, since the library changes its document in place. */
function copyOf(value: Json): Json {
  if (isJsonArray(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, Json> = {};
  for (const name of Object.keys(value)) setField(copy, name, copyOf(value[name] ?? null));
  return copy;
}
