import { ControllerError } from "../controller-error.ts";

/** Longest document of a stream: far above the largest object that an API server stores (about 1.5 MiB). */
const documentBytesMaxDefault: number = 16 * 1024 * 1024;

/**
 * Decodes concatenated JSON objects, with or without white space between them, from chunks cut anywhere, also inside a
 * UTF-8 sequence. Holds no more than one document and one chunk.
 *
 * @throws ControllerError `MalformedResponse`, `ResponseTooLarge`, and `TruncatedResponse` where the stream ends inside
 * a document. What the stream itself throws passes through.
 */
export async function* decodeJsonStream(
  chunks: AsyncIterable<Uint8Array>,
  options: { readonly documentBytesMax?: number } = {},
): AsyncGenerator<unknown, void, undefined> {
  const splitter = new DocumentSplitter(options.documentBytesMax ?? documentBytesMaxDefault);
  for await (const chunk of chunks) {
    const documents: Uint8Array[] = [];
    let failure: unknown;
    try {
      splitter.push(chunk, documents);
    } catch (error) {
      failure = error;
    }
    // What was whole before the fault in the same chunk is still good.
    for (const document of documents) yield parseDocument(document);
    if (failure !== undefined) throw failure;
  }
  splitter.end();
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parseDocument(octets: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(octets));
  } catch (cause) {
    throw new ControllerError("MalformedResponse", `a document of ${octets.length} octets is not JSON`, {
      cause,
    });
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds where each top-level object ends by counting braces outside strings. All the octets that it looks for are ASCII
 * and never occur inside a longer UTF-8 sequence, so octets suffice and nothing is decoded twice.
 */
class DocumentSplitter {
  readonly #documentBytesMax: number;
  /** The parts of a document that has begun, and their length together. */
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** Open braces and brackets; 0 is between documents. */
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(documentBytesMax: number) {
    this.#documentBytesMax = documentBytesMax;
  }

  /** Adds the documents that end in this chunk. The scan keeps its state in locals: it looks at each octet once, and only once. */
  push(chunk: Uint8Array, documents: Uint8Array[]): void {
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const octet = chunk[index] as number;
      if (inString) {
        if (escaped) escaped = false;
        else if (octet === backslash) escaped = true;
        else if (octet === quote) inString = false;
      } else if (octet === quote && depth > 0) {
        inString = true;
      } else if (octet === openBrace || (octet === openBracket && depth > 0)) {
        if (depth === 0) start = index;
        depth++;
      } else if ((octet === closeBrace || octet === closeBracket) && depth > 0) {
        depth--;
        if (depth === 0) {
          this.#keep(chunk.subarray(start, index + 1));
          documents.push(this.#take());
        }
      } else if (depth === 0 && !isWhiteSpace(octet)) {
        throw new ControllerError(
          "MalformedResponse",
          `a stream of JSON objects contains octet ${octet} between them`,
        );
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    // The chunk belongs to whoever read it and may be reused: what is kept of it is a copy.
    if (depth > 0) this.#keep(chunk.slice(start));
  }

  end(): void {
    if (this.#depth === 0) return;
    throw new ControllerError(
      "TruncatedResponse",
      `a stream ended after ${this.#bytes} octets of a document`,
    );
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#documentBytesMax) {
      throw new ControllerError(
        "ResponseTooLarge",
        `a document of a stream is longer than the ${this.#documentBytesMax} octets allowed`,
      );
    }
    this.#parts.push(part);
  }

  #take(): Uint8Array {
    const document = joinOctets(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    return document;
  }
}

/** The parts as one array; the only part itself where there is one. */
export function joinOctets(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** RFC 8259 §2. */
const isWhiteSpace = (octet: number): boolean =>
  octet === 0x20 || octet === 0x0a || octet === 0x0d || octet === 0x09;
