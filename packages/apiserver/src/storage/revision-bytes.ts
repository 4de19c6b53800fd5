import type { Revision } from "./storage.ts";

/** Octets of a revision on a disk: big-endian, so that byte order is revision order. */
export const revisionBytes = 8;

export function writeRevision(target: Buffer, revision: number, offset: number): void {
  target.writeUInt32BE(Math.floor(revision / 0x1_0000_0000), offset);
  target.writeUInt32BE(revision % 0x1_0000_0000, offset + 4);
}

export function readRevision(source: Buffer, offset: number): Revision {
  return (source.readUInt32BE(offset) * 0x1_0000_0000 + source.readUInt32BE(offset + 4)) as Revision;
}
