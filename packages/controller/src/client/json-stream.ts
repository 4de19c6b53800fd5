import { ControllerError } from "../controller-error.ts";
import { ContainerScanner } from "./container-scanner.ts";
import { isWhiteSpace } from "./json-octets.ts";

/** Longest document of a stream: far above the largest object that an API server stores (about 1.5 MiB). */
export const documentBytesMaxDefault: number = 16 * 1024 * 1024;

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
  let documents: unknown[] = [];
  const scanner = new ContainerScanner({
    containerBytesMax: options.documentBytesMax ?? documentBytesMaxDefault,
    between: documentStart,
    onContainer: ({ octets, start, end }) => void documents.push(parseDocument(octets.subarray(start, end))),
  });
  for await (const chunk of chunks) {
    let failure: unknown;
    try {
      scanner.push(chunk);
    } catch (error) {
      failure = error;
    }
    // What was whole before the fault in the same chunk is still good.
    const whole = documents;
    documents = [];
    yield* whole;
    if (failure !== undefined) throw failure;
  }
  scanner.finish();
}

/** Only white space (RFC 8259 §2) may stand between documents. Returns where the next one starts, or `end`. */
export function documentStart(octets: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const octet = octets[at] as number;
    if (octet === 0x7b) return at;
    if (!isWhiteSpace(octet)) {
      throw new ControllerError(
        "MalformedResponse",
        `a stream of JSON objects contains octet ${octet} between them`,
      );
    }
  }
  return end;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws ControllerError `MalformedResponse` */
export function parseDocument(octets: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(octets));
  } catch (cause) {
    throw new ControllerError("MalformedResponse", `a document of ${octets.length} octets is not JSON`, {
      cause,
    });
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
