import { createHash } from "node:crypto";
import type { Clock, Disk } from "@meridian/runtime";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { headerOctets } from "../message/header.ts";
import { nameFromText } from "../name/name.ts";
import type { ZoneSnapshot } from "../zone/wire-record.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import { OctetPool } from "./octet-pool.ts";
import { readTransferMessage } from "./record-reader.ts";
import { TransferReader, type TakeRecord } from "./transfer-reader.ts";
import { wholeZone } from "./transfer-server.ts";
import { TransferWriter } from "./transfer-writer.ts";

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

  /**
   * Reads the zone's records, the SOA first, in slices. What was taken is the zone only where there is a result: when a
   * primary last vouched for it, as wall time in ms since the epoch.
   *
   * @throws whatever the disk throws
   */
  async read(take: TakeRecord): Promise<number | undefined> {
    const octets = await this.#disk.read(`${this.#path}.axfr`);
    if (octets === undefined) return undefined;
    const time = await this.#disk.read(`${this.#path}.checked`);
    const checkedAtMs = time === undefined ? Number.NaN : Number(new TextDecoder().decode(time));
    const reader = new TransferReader({
      origin: nameFromText(this.#origin),
      haveSerial: undefined,
      limits: unlimited,
      startWhole: () => take,
    });
    const slices = new WorkSlices(this.#clock);
    const pool = new OctetPool();
    try {
      for (const frame of new FrameReader({ octetsMin: headerOctets, octetsMax: 65_535 }).read(octets)) {
        if (typeof frame === "string") return undefined;
        const content = reader.read(readTransferMessage(frame, pool).records, frame.length);
        const pause = slices.pause();
        if (pause !== undefined) await pause;
        if (content?.kind !== "whole") continue;
        // Without a time, it was checked long ago; with one from the future, the clock was set back since, and the copy
        // counts from now on.
        return Number.isNaN(checkedAtMs) ? 0 : Math.min(checkedAtMs, this.#clock.now());
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
    const slices = new WorkSlices(this.#clock);
    for (const record of wholeZone(snapshot)) {
      const message = writer.add(record);
      if (message === undefined) continue;
      frames.push(toFrame(message));
      const pause = slices.pause();
      if (pause !== undefined) await pause;
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
