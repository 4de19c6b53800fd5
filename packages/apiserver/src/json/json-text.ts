/** A text that is no JSON, or JSON beyond the limits of the API. */
export class JsonTextError extends Error {
  override readonly name = "JsonTextError";
}

/** A decoded request body, and what strict decoding has to say about it. */
export interface DecodedJson {
  /** Integers beyond 2^53 are `bigint`, so that 64-bit values survive. */
  readonly value: unknown;
  /** Paths of fields that were given more than once, such as `spec.foo`; the last one wins. */
  readonly duplicates: readonly string[];
}

/** Nesting beyond this is refused: recursive code elsewhere relies on it. */
const depthMax = 250;

/**
 * Decodes JSON from outside: strict, within a depth limit, without keys that JavaScript treats specially.
 *
 * @throws JsonTextError
 */
export function decodeJson(text: string): DecodedJson {
  const reader: Reader = { text, at: 0, duplicates: [] };
  skipSpace(reader);
  const value = readValue(reader, { depth: 0, path: "" });
  skipSpace(reader);
  if (reader.at < text.length) throw unexpected(reader);
  return { value, duplicates: reader.duplicates };
}

/** Encodes a value whose integers may be `bigint`. */
export function encodeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, mark).replace(marked, (_, integer?: string) => integer ?? '"');
  }
}

/** Decodes JSON that this server encoded: fast, and without the checks that it has passed once. */
export function decodeTrustedJson(text: string): unknown {
  return longDigits.test(text) ? decodeJson(text).value : JSON.parse(text);
}

/** Big integers leave as marked texts; texts that look marked get a mark of their own, so that none is mistaken. */
function mark(_key: string, field: unknown): unknown {
  if (typeof field === "bigint") return `\u0001int:${field}`;
  return typeof field === "string" && field.startsWith("\u0001") ? `\u0001text:${field}` : field;
}

/** An opening quote is the only one that no backslash precedes and a mark follows. */
const marked = /(?<!\\)"\\u0001(?:int:(-?\d+)"|text:)/g;
const longDigits = /\d{16}/;

interface Reader {
  readonly text: string;
  at: number;
  readonly duplicates: string[];
}

interface Place {
  readonly depth: number;
  readonly path: string;
}

function readValue(reader: Reader, place: Place): unknown {
  if (place.depth > depthMax) throw new JsonTextError(`the value is nested deeper than ${depthMax} levels`);
  switch (reader.text[reader.at]) {
    case "{":
      return readObject(reader, place);
    case "[":
      return readArray(reader, place);
    case '"':
      return readString(reader);
    case "t":
      return readWord(reader, "true", true);
    case "f":
      return readWord(reader, "false", false);
    case "n":
      return readWord(reader, "null", null);
    case undefined:
    default:
      return readNumber(reader);
  }
}

function readObject(reader: Reader, place: Place): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  reader.at++;
  skipSpace(reader);
  if (take(reader, "}")) return result;
  for (;;) {
    if (reader.text[reader.at] !== '"') throw unexpected(reader);
    const key = readString(reader);
    if (key === "__proto__") throw new JsonTextError('the field name "__proto__" is not supported');
    const path = place.path === "" ? key : `${place.path}.${key}`;
    if (Object.hasOwn(result, key)) reader.duplicates.push(path);
    skipSpace(reader);
    if (!take(reader, ":")) throw unexpected(reader);
    skipSpace(reader);
    result[key] = readValue(reader, { depth: place.depth + 1, path });
    skipSpace(reader);
    if (take(reader, "}")) return result;
    if (!take(reader, ",")) throw unexpected(reader);
    skipSpace(reader);
  }
}

function readArray(reader: Reader, place: Place): unknown[] {
  const result: unknown[] = [];
  reader.at++;
  skipSpace(reader);
  if (take(reader, "]")) return result;
  for (;;) {
    result.push(readValue(reader, { depth: place.depth + 1, path: `${place.path}[${result.length}]` }));
    skipSpace(reader);
    if (take(reader, "]")) return result;
    if (!take(reader, ",")) throw unexpected(reader);
    skipSpace(reader);
  }
}

function readString(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  let end = start + 1;
  let plain = true;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x22) break;
    if (code === 0x5c) {
      plain = false;
      end++;
    } else if (code < 0x20) {
      reader.at = end;
      throw unexpected(reader);
    }
  }
  if (end >= text.length) throw new JsonTextError("unexpected end of JSON input");
  reader.at = end + 1;
  if (plain) return text.slice(start + 1, end);
  try {
    return JSON.parse(text.slice(start, end + 1)) as string;
  } catch (error) {
    throw new JsonTextError(`invalid escape in a string at offset ${start}`, { cause: error });
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

function readNumber(reader: Reader): number | bigint {
  numberPattern.lastIndex = reader.at;
  const match = numberPattern.exec(reader.text);
  if (match === null) throw unexpected(reader);
  reader.at += match[0].length;
  const value = Number(match[0]);
  if (!Number.isFinite(value)) throw new JsonTextError(`the number ${match[0].slice(0, 40)} is out of range`);
  if (match[1] !== undefined || match[2] !== undefined || Number.isSafeInteger(value)) return value;
  if (match[0].length > 20) return value;
  const exact = BigInt(match[0]);
  return exact >= int64Min && exact <= int64Max ? exact : value;
}

function readWord<T>(reader: Reader, word: string, value: T): T {
  if (!reader.text.startsWith(word, reader.at)) throw unexpected(reader);
  reader.at += word.length;
  return value;
}

function take(reader: Reader, character: string): boolean {
  if (reader.text[reader.at] !== character) return false;
  reader.at++;
  return true;
}

function skipSpace(reader: Reader): void {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    reader.at++;
  }
}

function unexpected(reader: Reader): JsonTextError {
  const found = reader.text[reader.at];
  return new JsonTextError(
    found === undefined
      ? "unexpected end of JSON input"
      : `invalid character ${JSON.stringify(found)} at offset ${reader.at}`,
  );
}
