import { formatMicroTime, formatTime, parseApiVersion } from "@meridian/kube";
import { decodeJson } from "../json/json-text.ts";
import { type MessageField, messageOfKind, messageSchema } from "./message-schema.ts";
import { readFields, WireError, type WireValue } from "./wire-reader.ts";

/** What the envelope of the API's protobuf form begins with. */
const magic = [0x6b, 0x38, 0x73, 0x00];
const depthMax = 100;

/** Raised for a kind whose fields are not known here; the client may send JSON instead. */
export class UnknownMessageError extends Error {
  override readonly name = "UnknownMessageError";
}

/**
 * Decodes an object of a built-in kind from the API's protobuf form into what its JSON form would decode to.
 *
 * @throws WireError, UnknownMessageError, JsonTextError
 */
export function decodeProtobufObject(body: Uint8Array): unknown {
  if (!magic.every((octet, index) => body[index] === octet))
    throw new WireError("the body does not begin with k8s and a zero");
  const envelope = readEnvelope(body.subarray(magic.length));
  if (envelope.contentType === "application/json") return decodeJson(utf8(envelope.raw)).value;
  const { apiVersion, kind } = envelope;
  const { group } = parseApiVersion(apiVersion);
  const message = decodeMessage(envelope.raw, messageOfKind({ group, kind }), 0);
  return { ...(apiVersion !== "" && { apiVersion }), ...(kind !== "" && { kind }), ...message };
}

/** `runtime.Unknown`: what the object is, and the object. */
function readEnvelope(octets: Uint8Array): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentType: string;
} {
  const envelope = { apiVersion: "", kind: "", raw: new Uint8Array(), contentType: "" };
  for (const [number, value] of readFields(octets)) {
    if (value.kind !== "octets") continue;
    if (number === 1) {
      for (const [part, text] of readFields(value.octets)) {
        if (text.kind !== "octets") continue;
        if (part === 1) envelope.apiVersion = utf8(text.octets);
        if (part === 2) envelope.kind = utf8(text.octets);
      }
    }
    if (number === 2) envelope.raw = value.octets as Uint8Array<ArrayBuffer>;
    if (number === 4) envelope.contentType = utf8(value.octets);
  }
  return envelope;
}

function decodeMessage(octets: Uint8Array, name: string, depth: number): Record<string, unknown> {
  if (depth > depthMax) throw new WireError(`the message is nested deeper than ${depthMax} levels`);
  const schema = messageSchema(name);
  if (schema === undefined)
    throw new UnknownMessageError(`the protobuf form of ${name} is not known here: send JSON`);
  const result: Record<string, unknown> = {};
  for (const [number, value] of readFields(octets)) {
    const field = schema.get(number);
    if (field !== undefined) addField(result, field, { value, depth });
  }
  return result;
}

function addField(
  result: Record<string, unknown>,
  field: MessageField,
  read: { readonly value: WireValue; readonly depth: number },
): void {
  const { name } = field;
  if (field.inline) {
    Object.assign(result, decodeMessage(octetsOf(read.value), field.type, read.depth + 1));
    return;
  }
  switch (field.shape) {
    case "list": {
      const list = (result[name] as unknown[] | undefined) ?? [];
      list.push(decodeValue(field.type, read));
      result[name] = list;
      return;
    }
    case "map": {
      const { key, content } = decodeEntry(field.type, read);
      result[name] = { ...(result[name] as Record<string, unknown> | undefined), [key]: content };
      return;
    }
    case "one": {
      const value = decodeValue(field.type, read);
      // Fields that are no pointers in the original are always written, and zero then means absent.
      if (value === undefined || (!field.zeroCounts && isZero(value))) return;
      result[name] = value;
    }
  }
}

function decodeEntry(
  type: string,
  read: { readonly value: WireValue; readonly depth: number },
): { readonly key: string; readonly content: unknown } {
  let key = "";
  let content: unknown = type === "s" || type === "y" ? "" : undefined;
  for (const [number, value] of readFields(octetsOf(read.value))) {
    if (number === 1) key = utf8(octetsOf(value));
    if (number === 2) content = decodeValue(type, { value, depth: read.depth + 1 });
  }
  if (key === "__proto__") throw new WireError('the field name "__proto__" is not supported');
  return { key, content };
}

function decodeValue(
  type: string,
  { depth, value }: { readonly value: WireValue; readonly depth: number },
): unknown {
  switch (type) {
    case "s":
      return utf8(octetsOf(value));
    case "y":
      return Buffer.from(octetsOf(value)).toString("base64");
    case "b":
      return varintOf(value) !== 0n;
    case "i":
      return integer(varintOf(value));
    case "d":
      return numberOf(value);
    case "strings":
      return [...readFields(octetsOf(value))].map(([, item]) => utf8(octetsOf(item)));
    case "Quantity":
      return [...readFields(octetsOf(value))].map(([, text]) => utf8(octetsOf(text)))[0] ?? "0";
    case "Time":
      return decodeTime(octetsOf(value), (ms) => formatTime(ms));
    case "MicroTime":
      return decodeTime(octetsOf(value), (ms) => formatMicroTime(ms));
    case "IntOrString":
      return decodeIntOrString(octetsOf(value));
    case "Raw": {
      const raw = [...readFields(octetsOf(value))].find(([number]) => number === 1)?.[1];
      return raw === undefined ? undefined : decodeJson(utf8(octetsOf(raw))).value;
    }
    default: {
      const message = decodeMessage(octetsOf(value), type, depth + 1);
      const choices = choicesOf.get(type);
      return choices === undefined
        ? message
        : choices.map((name) => message[name]).find((choice) => choice !== undefined);
    }
  }
}

/** Messages that stand for one of several things: the first of these fields that is set. */
const choicesOf = new Map<string, readonly string[]>([
  ["SchemaOrSchemas", ["schema", "schemas"]],
  ["SchemaOrFlag", ["schema", "flag"]],
  ["SchemaOrNames", ["schema", "names"]],
]);

/** Seconds and nanoseconds; an empty message is the zero time: none. */
function decodeTime(octets: Uint8Array, format: (ms: number) => string): string | undefined {
  let seconds: bigint | undefined;
  let nanos = 0n;
  for (const [number, value] of readFields(octets)) {
    if (number === 1) seconds = BigInt.asIntN(64, varintOf(value));
    if (number === 2) nanos = BigInt.asIntN(32, varintOf(value));
  }
  if (seconds === undefined) return undefined;
  const ms = Number(seconds) * 1_000 + Number(nanos) / 1_000_000;
  if (Math.abs(ms) > 8_640_000_000_000_000) throw new WireError("a time is out of range");
  return format(ms);
}

function decodeIntOrString(octets: Uint8Array): number | string {
  let isText = false;
  let int = 0;
  let text = "";
  for (const [number, value] of readFields(octets)) {
    if (number === 1) isText = varintOf(value) === 1n;
    if (number === 2) int = Number(BigInt.asIntN(32, varintOf(value)));
    if (number === 3) text = utf8(octetsOf(value));
  }
  return isText ? text : int;
}

function integer(value: bigint): number | bigint {
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

function numberOf(value: WireValue): number {
  if (value.kind !== "fixed64") throw new WireError("a number is not in its eight octets");
  const { buffer, byteOffset } = value.octets;
  return new DataView(buffer, byteOffset, 8).getFloat64(0, true);
}

function octetsOf(value: WireValue): Uint8Array {
  if (value.kind !== "octets") throw new WireError("a field is not of its type");
  return value.octets;
}

function varintOf(value: WireValue): bigint {
  if (value.kind !== "varint") throw new WireError("a field is not of its type");
  return value.value;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function utf8(octets: Uint8Array): string {
  try {
    return decoder.decode(octets);
  } catch (error) {
    throw new WireError("a text is not valid UTF-8", { cause: error });
  }
}

function isZero(value: unknown): boolean {
  return value === "" || value === 0 || value === false;
}
