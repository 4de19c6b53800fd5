import { createHash } from "node:crypto";
import type { Clock, Disk } from "@meridian/runtime";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import { nameFromText } from "../name/name.ts";
import type { WireRecord, ZoneSnapshot } from "../zone/wire-record.ts";
import { OctetPool } from "./octet-pool.ts";
import { readTransferMessage } from "./record-reader.ts";
import { TransferReader } from "./transfer-reader.ts";
import { wholeZone } from "./transfer-server.ts";
import { TransferWriter } from "./transfer-writer.ts";

/** A stored zone, and when its primary last vouched for it. */
export interface StoredZone {
  readonly soa: WireRecord;
  readonly records: readonly WireRecord[];
  /** Wall time in ms since the epoch. */
  readonly checkedAtMs: number;
}

const axfr = [0, 252, 0, 1];
const unlimited = { recordsMax: Number.POSITIVE_INFINITY, octetsMax: Number.POSITIVE_INFINITY };

/**
 * A secondary zone's copy on disk: the messages of an AXFR in one file, replaced as a whole, and in another the time of
 * the last check. A copy that is damaged is none: the zone is then fetched.
 */
export class ZoneCopy {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #origin: string;
  readonly #path: string;

  constructor(options: {
    readonly disk: Disk;
    readonly clock: Clock;
    readonly folder: string;
    readonly origin: string;
  }) {
    this.#disk = options.disk;
    this.#clock = options.clock;
    this.#origin = options.origin;
    this.#path = `${options.folder}/${fileName(options.origin)}`;
  }

  /** @throws whatever the disk throws */
  async read(): Promise<StoredZone | undefined> {
    const octets = await this.#disk.read(`${this.#path}.axfr`);
    if (octets === undefined) return undefined;
    const time = await this.#disk.read(`${this.#path}.checked`);
    const checkedAtMs = time === undefined ? Number.NaN : Number(new TextDecoder().decode(time));
    const reader = new TransferReader({
      origin: nameFromText(this.#origin),
      haveSerial: undefined,
      limits: unlimited,
    });
    const pool = new OctetPool();
    try {
      for (const frame of new FrameReader({ octetsMin: headerOctets, octetsMax: 65_535 }).read(octets)) {
        if (typeof frame === "string") return undefined;
        const content = reader.read(readTransferMessage(frame, pool).records, frame.length);
        if (content?.kind !== "whole") continue;
        // Without a time, it was checked long ago; with one from the future, the clock was set back since, and the copy
        // counts from now on.
        const known = Number.isNaN(checkedAtMs) ? 0 : Math.min(checkedAtMs, this.#clock.now());
        return { soa: content.soa, records: content.records, checkedAtMs: known };
      }
    } catch {
      return undefined;
    }
    return undefined;
  }

  /** Stores a zone, and when it was checked (wall time in ms). Gives way to other work between messages. */
  async write(snapshot: ZoneSnapshot, checkedAtMs: number): Promise<void> {
    const writer = new TransferWriter({
      id: 0,
      question: Uint8Array.from([...nameFromText(this.#origin), ...axfr]),
      octetsMax: 65_535,
    });
    const frames: Uint8Array[] = [];
    for (const record of wholeZone(snapshot)) {
      const message = writer.add(record);
      if (message === undefined) continue;
      frames.push(toFrame(message));
      if (frames.length % 16 === 0) await this.#clock.sleep(0);
    }
    frames.push(toFrame(writer.finish()));
    const whole = new Uint8Array(frames.reduce((sum, frame) => sum + frame.length, 0));
    let at = 0;
    for (const frame of frames) {
      whole.set(frame, at);
      at += frame.length;
    }
    await this.#disk.replace(`${this.#path}.axfr`, whole);
    await this.markChecked(checkedAtMs);
  }

  /** Stores when a primary last vouched for the copy. */
  async markChecked(checkedAtMs: number): Promise<void> {
    await this.#disk.replace(`${this.#path}.checked`, new TextEncoder().encode(String(checkedAtMs)));
  }
}

/** A name that every file system takes: what is not a letter, digit, `-`, `_` or inner dot becomes `%hex`; a long one a hash. */
function fileName(origin: string): string {
  if (origin === ".") return "%2e";
  if (origin.length > 80) return `sha256-${createHash("sha256").update(origin).digest("hex")}`;
  return origin.replace(/[^a-z0-9._-]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}
