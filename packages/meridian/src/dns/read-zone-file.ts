import { open, stat } from "node:fs/promises";
import { foldNameText, ZoneFileReader, type RecordSet, type Zone, type ZoneFileOptions } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { FileZoneSettings } from "./dns-settings.ts";
import { messageOf } from "../meridian-error.ts";
import { unreadable } from "./read-materials.ts";

/** A zone as its file has it, and what tells whether the file is another now. */
export interface ReadZone {
  readonly zone: Zone;
  readonly stamp: string;
}

/** A few milliseconds of work, so that others have their turn while a large file is read. */
const pieceOctets = 1 << 15;
/** Progress is told so often, of files that take longer. */
const progressMs = 1_000;

/** Another text whenever the file may be another; `undefined` where it cannot be read. */
export async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await stat(path);
    return [ino, size, mtimeMs, ctimeMs].join(" ");
  } catch {
    return undefined;
  }
}

/** Reads a zone file piece by piece, so that a large one takes no more memory than its zone. */
export async function readZoneFile(
  { clock, log }: Pick<Runtime, "clock" | "log">,
  settings: Pick<FileZoneSettings, "file" | "origin" | "choices"> & Pick<ZoneFileOptions, "hashSeed">,
  problems: string[],
): Promise<ReadZone | undefined> {
  const { file, origin, choices, hashSeed } = settings;
  const reader = new ZoneFileReader({
    ...(origin === undefined ? {} : { origin }),
    ...(hashSeed === undefined ? {} : { hashSeed }),
  });
  const piece = new Uint8Array(pieceOctets);
  // Before reading: a file that changes meanwhile is read again the next time.
  const stamp = (await stampOf(file.path)) ?? "";
  try {
    const handle = await open(file.path);
    try {
      const { size } = await handle.stat();
      let toldMs = clock.monotonicMs();
      for (let octets = 0; ;) {
        const { bytesRead } = await handle.read(piece);
        if (bytesRead === 0) break;
        reader.write(piece.subarray(0, bytesRead));
        octets += bytesRead;
        if (clock.monotonicMs() - toldMs < progressMs) continue;
        toldMs = clock.monotonicMs();
        log.info("reading a zone file", {
          path: file.path,
          percent: Math.floor((100 * octets) / Math.max(size, octets)),
        });
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    problems.push(unreadable(file, error));
    return undefined;
  }
  const { zone, problems: found } = reader.end();
  if (zone !== undefined) return putChoices(zone, choices, problems) ? { zone, stamp } : undefined;
  for (const { line, message } of found)
    problems.push(`${line === 0 ? file.path : `${file.path}:${line}`}: ${message}`);
  return undefined;
}

/** Puts the sets in whose answers are choices, in place of those of the same name and type in the file. */
function putChoices(zone: Zone, choices: FileZoneSettings["choices"], problems: string[]): boolean {
  const before = problems.length;
  const owners = new Map<string, readonly RecordSet[]>();
  for (const { at, set } of choices) {
    try {
      const owner = foldNameText(set.name);
      const others = owners.get(owner) ?? givenSetsOf(zone, owner);
      const sets = [...others.filter(({ type }) => type !== set.type.toUpperCase()), set];
      for (const { message } of zone.check(new Map([[owner, sets]]))) problems.push(`${at}: ${message}`);
      owners.set(owner, sets);
    } catch (error) {
      problems.push(`${at}: ${messageOf(error)}`);
    }
  }
  if (problems.length > before) return false;
  // The file's serial stays: a journal of updates stands on it.
  if (owners.size > 0) zone.load(owners, zone.serial);
  return true;
}

/** The sets of an owner without those that a zone has of itself. */
function givenSetsOf(zone: Zone, owner: string): readonly RecordSet[] {
  const sets = zone.recordSetsOf(owner);
  return owner === zone.origin ? sets.filter(({ type }) => type !== "SOA" && type !== "NS") : sets;
}
