import { crc32 } from "node:zlib";

/** Which files hold the store. The one file that is replaced in place, as a whole. */
export interface Manifest {
  readonly snapshot: Snapshot | undefined;
  /** The logs from this number on follow the snapshot. */
  readonly firstLog: number;
}

export interface Snapshot {
  readonly file: string;
  /** Size, so that a snapshot that was cut at a frame is noticed. */
  readonly sizeBytes: number;
}

export const manifestFile = "manifest.json";

export function encodeManifest(manifest: Manifest): Uint8Array {
  const content = JSON.stringify(manifest);
  return Buffer.from(`${content}\n${crc32(content).toString(16)}\n`);
}

/** `undefined` where the bytes are no manifest. */
export function decodeManifest(bytes: Uint8Array): Manifest | undefined {
  const [content = "", checksum] = Buffer.from(bytes).toString("utf8").split("\n");
  if (crc32(content).toString(16) !== checksum) return undefined;
  return JSON.parse(content) as Manifest;
}

export function logFile(number: number): string {
  return `log-${String(number).padStart(10, "0")}`;
}

export function snapshotFile(number: number): string {
  return `snapshot-${String(number).padStart(10, "0")}`;
}
