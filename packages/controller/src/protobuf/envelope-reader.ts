import { magic, readTypeMeta, refuseEncoding, typeTags, unknownTags } from "./unknown-envelope.ts";
import { hasOctets } from "./wire-cursor.ts";
import type { WireCursor } from "./wire-cursor.ts";

/** Of what kind documents are expected to be. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * Opens documents, most of which are of one kind: those begin with the same octets, which are compared in place of being
 * decoded. It is itself what was found last, so that opening costs no memory.
 */
export class EnvelopeReader {
  readonly #expected: ExpectedKind;
  /** What a document of the kind begins with. */
  readonly #beginning: Buffer;
  /** Whether the document is of the kind that is expected. */
  isOfKind = false;
  /** Where the message in it stands. */
  start = 0;
  end = 0;

  constructor(expected: ExpectedKind) {
    this.#expected = expected;
    const type = [...field(typeTags.apiVersion, expected.apiVersion), ...field(typeTags.kind, expected.kind)];
    this.#beginning = Buffer.from([...magic, unknownTags.typeMeta, type.length, ...type]);
  }

  /** Opens the document that stands from where the cursor is to its end. @throws ControllerError `MalformedResponse` */
  open(cursor: WireCursor): void {
    const { octets, at, end } = cursor;
    const beginning = this.#beginning;
    this.isOfKind = end - at >= beginning.length && hasOctets(octets, at, beginning);
    if (!this.isOfKind && (end - at < magic.length || !hasOctets(octets, at, magic))) {
      throw cursor.broken("a document does not begin as one of Kubernetes");
    }
    cursor.at += this.isOfKind ? beginning.length : magic.length;
    // An empty message is written as no octets, and those may be left out.
    this.start = this.end = cursor.at;
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag === unknownTags.raw) {
        this.end = cursor.delimited();
        this.start = cursor.at;
        cursor.at = this.end;
      } else if (tag === unknownTags.typeMeta) this.isOfKind = this.#isExpected(cursor.within(readTypeMeta));
      else if (tag === unknownTags.contentEncoding) cursor.within(refuseEncoding);
      else cursor.skip(tag);
    }
  }

  #isExpected({ apiVersion, kind }: ExpectedKind): boolean {
    return apiVersion === this.#expected.apiVersion && kind === this.#expected.kind;
  }
}

/** A field with a text that is shorter than 128 octets, as all these are. */
const field = (tag: number, text: string): readonly number[] => [tag, text.length, ...Buffer.from(text)];
