import type { WireCursor } from "./wire-cursor.ts";

/** `k8s` and a zero: each document in protobuf begins with it, and with a message `runtime.Unknown` behind it. */
export const magic: Buffer = Buffer.from("k8s\0", "latin1");

/** Tags of `runtime.Unknown`: what kind it is of, its octets, and how those are packed. */
export const unknownTags = { typeMeta: 0x0a, raw: 0x12, contentEncoding: 0x1a } as const;
/** Tags of `runtime.TypeMeta`. */
export const typeTags = { apiVersion: 0x0a, kind: 0x12 } as const;

/** Reads the message `runtime.TypeMeta` from where the cursor is to its end. */
export function readTypeMeta(cursor: WireCursor): { apiVersion: string; kind: string } {
  const type = { apiVersion: "", kind: "" };
  while (cursor.at < cursor.end) {
    const tag = cursor.size();
    if (tag === typeTags.apiVersion) type.apiVersion = cursor.text(cursor.delimited());
    else if (tag === typeTags.kind) type.kind = cursor.text(cursor.delimited());
    else cursor.skip(tag);
  }
  return type;
}

/** Reads how the octets of a document are packed, from where the cursor is to its end: nobody has defined a way yet. */
export function refuseEncoding(cursor: WireCursor): void {
  const encoding = cursor.text(cursor.end);
  if (encoding !== "") throw cursor.broken(`a document has the encoding ${JSON.stringify(encoding)}`);
}
