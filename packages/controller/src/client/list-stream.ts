import type { ListMeta } from "@meridian/kube";
import { readBody } from "@meridian/runtime";
import type { HttpBody } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { ContainerScanner } from "./container-scanner.ts";
import { isWhiteSpace } from "./json-octets.ts";
import { documentBytesMaxDefault, parseDocument } from "./json-stream.ts";
import type { JsonSpan } from "./object-reading.ts";

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** All of a list but its items. */
const frameBytesMax = 1024 * 1024;

/**
 * Reads a list out of the chunks of its body: hands over each item as soon as it is there, and at the end what stands
 * around the items, in whatever order and with whatever white space they come. `items: null` is no items.
 *
 * @throws ControllerError `MalformedResponse`, `ResponseTooLarge`, `TruncatedResponse`, and what `onItem` and the
 * chunks throw
 */
export async function readListStream(
  chunks: HttpBody,
  onItem: (item: JsonSpan) => void,
  onChunk: () => void = () => {},
): Promise<ListMeta> {
  const frame = new ListFrame();
  const scanner = new ContainerScanner({
    containerBytesMax: documentBytesMaxDefault,
    between: (octets, start, end) => frame.between(octets, start, end),
    onContainer: onItem,
  });
  await readBody(chunks, (chunk) => {
    onChunk();
    scanner.push(chunk);
  });
  scanner.finish();
  return frame.metadata();
}

/**
 * What stands around the items. It is small, so that it is looked at octet by octet and parsed at the end, with an empty
 * array in place of the items: `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}`.
 */
class ListFrame {
  #octets: Buffer = Buffer.allocUnsafe(1024);
  #length = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The text that was read last: before a bracket at the outermost level it is the name of the array. */
  #lastText = "";
  #textStart = 0;
  /** Between two items, or before the first. */
  #inItems = false;

  /** Returns where the next item starts, or `end`. */
  between(octets: Uint8Array, start: number, end: number): number {
    for (let at = start; at < end; at++) {
      const octet = octets[at] as number;
      if (!this.#inItems) {
        this.#keep(octet);
        this.#look(octet);
      } else if (octet === openBrace) {
        return at;
      } else if (octet === closeBracket) {
        this.#inItems = false;
        this.#keep(octet);
        this.#depth--;
      } else if (octet !== comma && !isWhiteSpace(octet)) {
        throw new ControllerError("MalformedResponse", `an item of a list begins with octet ${octet}`);
      }
    }
    return end;
  }

  /** @throws ControllerError `TruncatedResponse`, `MalformedResponse` */
  metadata(): ListMeta {
    if (this.#depth > 0) {
      throw new ControllerError("TruncatedResponse", "a list ended before its closing brace");
    }
    const list = parseDocument(this.#octets.subarray(0, this.#length));
    const { items, metadata } = (list ?? {}) as { readonly items?: unknown; readonly metadata?: unknown };
    // Some servers write null for no items. Without the field it is no list: not one of nothing.
    const isList = items === null || (Array.isArray(items) && items.length === 0);
    if (typeof metadata === "object" && metadata !== null && isList) return metadata;
    throw new ControllerError("MalformedResponse", "the answer is no list of the API");
  }

  #look(octet: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (octet === backslash) this.#escaped = true;
      else if (octet === quote) {
        this.#inString = false;
        this.#lastText = this.#octets.toString("latin1", this.#textStart, this.#length - 1);
      }
    } else if (octet === quote) {
      this.#inString = true;
      this.#textStart = this.#length;
    } else if (octet === openBrace || octet === openBracket) {
      this.#inItems = octet === openBracket && this.#depth === 1 && this.#lastText === "items";
      this.#depth++;
    } else if (octet === closeBrace || octet === closeBracket) {
      this.#depth--;
    }
  }

  #keep(octet: number): void {
    if (this.#length === this.#octets.length) {
      if (this.#length >= frameBytesMax) {
        throw new ControllerError(
          "ResponseTooLarge",
          `what stands around the items of a list is longer than the ${frameBytesMax} octets allowed`,
        );
      }
      this.#octets = Buffer.concat([this.#octets], this.#length * 2);
    }
    this.#octets[this.#length++] = octet;
  }
}
