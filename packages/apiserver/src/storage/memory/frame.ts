import { crc32 } from "node:zlib";

/**
 * A frame is how bytes stand in a log or a snapshot:
 *
 * ```text
 * magic (4)  length of payload (4)  CRC-32 of length and payload (4)  payload
 * ```
 *
 * Numbers are big-endian. The checksum starts from the file's nonce, so that bytes which a user stored, and which look
 * like a frame, are never taken for one.
 */
export const frameHeaderBytes = 12;

/** Far above a group (8 MiB) with one value (4 MiB) on top. */
const payloadBytesMax = 64 * 1_024 * 1_024;

const magic: Buffer = Buffer.from([0x89, 0x4d, 0x52, 0x46]);

/** Wraps a payload of which the first `frameHeaderBytes` octets were left free; returns the same buffer. */
export function sealFrame(frame: Buffer, nonce: number): Buffer {
  magic.copy(frame, 0);
  frame.writeUInt32BE(frame.length - frameHeaderBytes, 4);
  frame.writeUInt32BE(checksum(frame, nonce), 8);
  return frame;
}

/** The payload of the frame at `offset`, or `undefined` where no whole, sound frame stands. */
export function readFrame(file: Buffer, offset: number, nonce: number): Buffer | undefined {
  if (offset + frameHeaderBytes > file.length) return undefined;
  if (magic.compare(file, offset, offset + 4) !== 0) return undefined;
  const length = file.readUInt32BE(offset + 4);
  const end = offset + frameHeaderBytes + length;
  if (length === 0 || length > payloadBytesMax || end > file.length) return undefined;
  if (checksum(file.subarray(offset, end), nonce) !== file.readUInt32BE(offset + 8)) return undefined;
  return file.subarray(offset + frameHeaderBytes, end);
}

/** Where the first sound frame after `offset` starts, or `undefined`. */
export function findFrame(file: Buffer, offset: number, nonce: number): number | undefined {
  for (let at = file.indexOf(magic, offset); at !== -1; at = file.indexOf(magic, at + 1)) {
    if (readFrame(file, at, nonce) !== undefined) return at;
  }
  return undefined;
}

function checksum(frame: Buffer, nonce: number): number {
  return crc32(frame.subarray(frameHeaderBytes), crc32(frame.subarray(4, 8), nonce));
}
