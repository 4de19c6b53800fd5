import type { ObjectReading } from "../client/object-reading.ts";
import { WireCursor } from "./wire-cursor.ts";

const metadataTag = 0x0a;
const managedFieldsNumber = 17;
/** The tag and the length of the metadata. */
const headBytesMax = 6;

/** Takes `metadata.managedFields` out of objects: messages say how long they are, so that nothing is decoded for it. */
export class ManagedFieldsRemover {
  readonly #cursor = new WireCursor();
  #octets: Buffer = Buffer.alloc(0);

  /**
   * The reading without the field, valid until the next one; `undefined` where the field is scattered, as no server
   * writes it.
   *
   * @throws ControllerError `MalformedResponse`
   */
  remove(reading: ObjectReading): ObjectReading | undefined {
    const { octets, start, end } = reading;
    const cursor = this.#cursor;
    cursor.reset(octets, start, end);
    for (let from = start; cursor.at < end; from = cursor.at) {
      const tag = cursor.size();
      if (tag !== metadataTag) {
        cursor.skip(tag);
        continue;
      }
      const bodyEnd = cursor.delimited();
      const bodyAt = cursor.at;
      cursor.end = bodyEnd;
      const cut = managedFieldsIn(cursor);
      if (cut === "none") return reading;
      return cut === undefined ? undefined : this.#without(cut, { reading, from, bodyAt, bodyEnd });
    }
    return reading;
  }

  #without(cut: Range, metadata: MetadataPlace): ObjectReading {
    const { reading, from, bodyAt, bodyEnd } = metadata;
    const { octets, start, end, format, key, version } = reading;
    if (this.#octets.length < end - start + headBytesMax) {
      this.#octets = Buffer.allocUnsafeSlow(2 * (end - start + headBytesMax));
    }
    const to = this.#octets;
    const removed = cut.end - cut.start;
    let filled = octets.copy(to, 0, start, from);
    to[filled++] = metadataTag;
    let length = bodyEnd - bodyAt - removed;
    for (; length >= 0x80; length = Math.floor(length / 0x80)) to[filled++] = (length & 0x7f) | 0x80;
    to[filled++] = length;
    const moved = filled - bodyAt;
    filled += octets.copy(to, filled, bodyAt, cut.start);
    filled += octets.copy(to, filled, cut.end, end);
    const uidMoved = reading.uidStart < cut.start ? moved : moved - removed;
    return {
      ...{ octets: to, start: 0, end: filled, format, key, version },
      uidStart: reading.uidStart + uidMoved,
      uidEnd: reading.uidEnd + uidMoved,
    };
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where the metadata of an object begins with its tag, and where its fields stand. */
interface MetadataPlace {
  readonly reading: ObjectReading;
  readonly from: number;
  readonly bodyAt: number;
  readonly bodyEnd: number;
}

/** Where the managed fields stand, one behind the other, from where the cursor is to its end. */
function managedFieldsIn(cursor: WireCursor): Range | "none" | undefined {
  let start = 0;
  let end = 0;
  while (cursor.at < cursor.end) {
    const from = cursor.at;
    const tag = cursor.size();
    cursor.skip(tag);
    if (tag >>> 3 !== managedFieldsNumber) continue;
    if (end === 0) start = from;
    else if (end !== from) return undefined;
    end = cursor.at;
  }
  return end === 0 ? "none" : { start, end };
}
