import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  isNewerSerial,
  nextSerial,
  SecondaryZone,
  UpdateServer,
  WorkSlices,
  ZoneKeys,
  type AnswerSigner,
  type Authority,
  type DnsClient,
  type RecordSet,
  type SigningKeys,
  type TransferServer,
  type Zone,
  type ZoneNotifier,
  type ZoneSigning,
  type ZoneTransferClient,
} from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { messageOf } from "../meridian-error.ts";
import { diskPath } from "./disk-path.ts";
import type { DnsSettings, FileZoneSettings } from "./dns-settings.ts";
import { KeptSerial } from "./kept-serial.ts";
import {
  originOf,
  prepareSecondary,
  serversOf,
  transferPolicyOf,
  updateRulesOf,
  type PreparedFileZone,
  type PreparedSecondary,
  type PreparedZone,
} from "./prepared-zones.ts";
import { readSigningKeys, type DnsMaterials } from "./read-materials.ts";
import { readZoneFile, stampOf } from "./read-zone-file.ts";

/** What zones are served with. */
export interface ServedZonesOptions {
  readonly authority: Authority;
  readonly updates: UpdateServer;
  readonly transfers: TransferServer;
  readonly client: DnsClient;
  readonly notifier: ZoneNotifier;
  readonly transferClient: ZoneTransferClient;
  readonly answers: AnswerSigner;
  /** Told what threads sign a zone with; `undefined`: it is signed no more. */
  readonly onSigning: (zone: Zone, signing: ZoneSigning | undefined) => void;
}

interface ServedZone {
  prepared: PreparedZone;
  readonly zone: Zone;
  readonly secondary?: SecondaryZone;
  keys?: { readonly zoneKeys: ZoneKeys; readonly keys: SigningKeys } | undefined;
  keptSerial?: { readonly folder: string; readonly serial: KeptSerial } | undefined;
  following?: Disposable | undefined;
}

/** The zones of a server and everything around them, exchanged without a moment in which one is not answered. */
export class ServedZones implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #options: ServedZonesOptions;
  readonly #served = new Map<string, ServedZone>();

  constructor(runtime: Runtime, options: ServedZonesOptions) {
    this.#runtime = runtime;
    this.#options = options;
    options.authority.onNotify = (hint) =>
      this.#served.get(hint.zone)?.secondary?.takeNotify(hint) === true ? undefined : "refuse";
  }

  /**
   * Reads what the settings name and checks all of it but journals. Nothing has changed then, and where anything is added
   * to `problems` the result must not be applied.
   */
  async prepare(
    settings: DnsSettings,
    materials: DnsMaterials,
    problems: string[],
  ): Promise<readonly PreparedZone[]> {
    const prepared = new Map<string, PreparedZone>();
    for (const each of settings.zones) {
      const zone =
        each.kind === "file"
          ? await this.#prepareFileZone(each, materials, problems)
          : prepareSecondary(each, materials, problems);
      if (zone === undefined) continue;
      const origin = originOf(zone);
      if (prepared.has(origin)) problems.push(`${each.at}: zone ${origin} is there twice; keep one`);
      else prepared.set(origin, zone);
    }
    const zones = [...prepared.values()];
    try {
      transferPolicyOf(zones);
    } catch (error) {
      problems.push(messageOf(error));
    }
    return zones;
  }

  /**
   * Puts what acknowledged updates made of the zones on top of their files, the last step before `apply`.
   *
   * @throws the signal's reason
   */
  async openJournals(
    prepared: readonly PreparedZone[],
    problems: string[],
    signal?: AbortSignal,
  ): Promise<void> {
    const { updates } = this.#options;
    const opened: string[] = [];
    for (const { zone, settings, journal, at } of journalsOf(prepared)) {
      try {
        await updates.add({ zone, journal: diskPath(journal), rules: updateRulesOf(settings) }, signal);
        opened.push(zone.origin);
      } catch (error) {
        signal?.throwIfAborted();
        problems.push(`${at}: ${messageOf(error).replaceAll(diskPath(journal), () => journal)}`);
      }
    }
    if (problems.length > 0) for (const origin of opened) await updates.remove(origin);
  }

  /**
   * Puts journals on top of zones that will not be served, and leaves the files as they are.
   *
   * @returns a line for each end that was torn off, which a start would mend
   */
  async checkJournals(prepared: readonly PreparedZone[], problems: string[]): Promise<readonly string[]> {
    const torn: string[] = [];
    for (const { zone, journal, at } of journalsOf(prepared)) {
      const path = diskPath(journal);
      try {
        const { wholeOctets, tornOctets } = await UpdateServer.checkJournal(this.#runtime, { zone, path });
        if (tornOctets > 0)
          torn.push(
            `${at}: journal ${journal} ends at octet ${wholeOctets} with ${tornOctets} octets that are no whole update, which a start cuts off`,
          );
      } catch (error) {
        problems.push(`${at}: ${messageOf(error).replaceAll(path, () => journal)}`);
      }
    }
    return torn;
  }

  /** Serves exactly these zones from now on. */
  async apply(prepared: readonly PreparedZone[]): Promise<void> {
    const { authority, transfers } = this.#options;
    transfers.setPolicy(transferPolicyOf(prepared));
    for (const each of prepared) {
      if ("zone" in each) await this.#applyFileZone(each);
      else await this.#applySecondary(each);
    }
    const kept = new Set(prepared.map(originOf));
    for (const [origin, served] of [...this.#served]) {
      if (kept.has(origin)) continue;
      authority.removeZone(origin);
      this.#served.delete(origin);
      await this.#end(served);
    }
  }

  /** Stops following, signing and telling of changes; updates under way are finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.authority.onNotify = undefined;
    await this.#options.updates[Symbol.asyncDispose]();
    for (const { secondary, following, keys, keptSerial } of this.#served.values()) {
      following?.[Symbol.dispose]();
      await keptSerial?.serial[Symbol.asyncDispose]();
      keys?.zoneKeys[Symbol.dispose]();
      await secondary?.[Symbol.asyncDispose]();
    }
  }

  async #prepareFileZone(
    settings: FileZoneSettings,
    materials: DnsMaterials,
    problems: string[],
  ): Promise<PreparedFileZone | undefined> {
    const present = await this.#reusable(settings);
    const { hashSeed } = this.#options.authority;
    const read = present ?? (await readZoneFile(this.#runtime, { ...settings, hashSeed }, problems));
    if (read === undefined) return undefined;
    const { zone, stamp } = read;
    const isNew = present === undefined;
    const unsigned = zone.presigned ? whatNeedsUnsigned(settings) : undefined;
    if (unsigned !== undefined)
      problems.push(
        `${unsigned.at}: ${zone.origin} is signed already, which ${unsigned.what} would void; take it from an unsigned file, or leave this out`,
      );
    if (isNew && settings.updates !== undefined && this.#takesUpdates(zone.origin))
      problems.push(`${settings.updates.journal.at}: the journal of a zone changes at a start only`);
    try {
      UpdateServer.checkRules(zone.origin, updateRulesOf(settings));
    } catch (error) {
      problems.push(`${settings.at}: updates: ${messageOf(error)}`);
    }
    const signing = settings.signing && (await readSigningKeys(zone.origin, settings.signing, problems));
    return { settings, zone, stamp, isNew, signing, notify: serversOf(settings.notify, materials) };
  }

  /** A zone that is served already and need not, or cannot, be read again. */
  async #reusable(
    settings: FileZoneSettings,
  ): Promise<{ readonly zone: Zone; readonly stamp: string } | undefined> {
    const { file, origin, updates } = settings;
    for (const { prepared } of this.#served.values()) {
      if (!("zone" in prepared)) continue;
      const { settings: before, zone, stamp } = prepared;
      if (before.updates?.journal.path !== updates?.journal.path) continue;
      const isSame =
        before.file.path === file.path &&
        before.origin === origin &&
        isDeepStrictEqual(setsOf(before), setsOf(settings)) &&
        (await stampOf(file.path)) === stamp;
      if (isSame) return { zone, stamp };
      if (updates === undefined) continue;
      this.#runtime.log.warn(
        "a zone that takes updates is read from its file at a start only, which fails where the file's serial is not the journal's; put the old file back and change the zone by updates",
        { zone: zone.origin, path: file.path },
      );
      return { zone, stamp };
    }
    return undefined;
  }

  #takesUpdates(origin: string): boolean {
    const prepared = this.#served.get(origin)?.prepared;
    return prepared !== undefined && "zone" in prepared && prepared.settings.updates !== undefined;
  }

  async #applyFileZone(given: PreparedFileZone): Promise<void> {
    const before = this.#served.get(given.zone.origin);
    const isAdopted = before !== undefined && (await this.#adopt(before, given));
    const prepared = isAdopted ? { ...given, zone: before.zone } : given;
    const { zone, settings } = prepared;
    const served: ServedZone = before?.zone === zone ? before : { prepared, zone };
    await this.#keepSerial(served, settings.signing?.keys.path);
    this.#sign(served, { prepared, before });
    this.#options.updates.setRules(zone.origin, updateRulesOf(settings));
    this.#options.authority.setZone(zone);
    this.#served.set(zone.origin, served);
    this.#follow(served, prepared);
    if (before === undefined || before === served) return;
    if ("zone" in before.prepared && before.prepared.settings.updates && settings.updates === undefined)
      await this.#options.updates.remove(zone.origin);
    await this.#end(before, { isReplaced: true });
  }

  /** Lets a zone that is served go over to what its file has now, so that transfers of it stay incremental. */
  async #adopt(
    { prepared, zone }: ServedZone,
    { zone: read, isNew, settings }: PreparedFileZone,
  ): Promise<boolean> {
    const isPlain =
      "zone" in prepared && prepared.settings.updates === undefined && settings.updates === undefined;
    if (!isNew || !isPlain) return false;
    // Key sets step the serial, too, so that of a new file may be behind what was served: secondaries would miss it.
    if (settings.signing !== undefined && !isNewerSerial(read.serial, zone.serial))
      read.setSoa({ serial: nextSerial(zone.serial) });
    await zone.adopt(read, new WorkSlices(this.#runtime.clock));
    return true;
  }

  /** Before the first key set steps the serial, and behind the journal, which stands on that of the file. */
  async #keepSerial(served: ServedZone, folder: string | undefined): Promise<void> {
    if (served.keptSerial?.folder === folder) return;
    await served.keptSerial?.serial[Symbol.asyncDispose]();
    served.keptSerial = undefined;
    if (folder === undefined) return;
    const { zone } = served;
    const path = diskPath(join(folder, `${encodeURIComponent(zone.origin)}.serial`));
    served.keptSerial = { folder, serial: await KeptSerial.open(this.#runtime, { zone, path }) };
  }

  /** Before the zone is served, so that no answer of a signed zone lacks its signatures. */
  #sign(
    served: ServedZone,
    { prepared, before }: { readonly prepared: PreparedFileZone; readonly before: ServedZone | undefined },
  ): void {
    const { answers, onSigning } = this.#options;
    const { clock, log } = this.#runtime;
    const { zone, signing, settings } = prepared;
    const old = "zone" in served.prepared ? served.prepared.settings.signing : undefined;
    const isAsBefore = served.keys !== undefined && isDeepStrictEqual(old, settings.signing);
    if (signing === undefined || !isAsBefore) {
      served.keys?.zoneKeys[Symbol.dispose]();
      served.keys = undefined;
    }
    if (signing === undefined) {
      if (before?.keys !== undefined) onSigning(zone, undefined);
      return;
    }
    if (served.keys === undefined) {
      const { keys: _folder, foreignKeys: _files, ...options } = settings.signing!;
      const context = { clock, log, answers, onSigning: (made: ZoneSigning) => onSigning(zone, made) };
      served.keys = { keys: signing, zoneKeys: new ZoneKeys(zone, { keys: signing, ...options }, context) };
    } else if (!isDeepStrictEqual(served.keys.keys, signing)) {
      served.keys.zoneKeys.set(signing);
      served.keys = { zoneKeys: served.keys.zoneKeys, keys: signing };
    }
  }

  async #applySecondary(prepared: PreparedSecondary): Promise<void> {
    const { origin, primaries, settings } = prepared;
    const before = this.#served.get(origin);
    const old = before?.prepared;
    const isAsBefore =
      old !== undefined &&
      !("zone" in old) &&
      isDeepStrictEqual([old.primaries, old.settings.copyFolder], [primaries, settings.copyFolder]);
    if (isAsBefore) {
      before?.secondary?.refresh();
      this.#follow(before!, prepared);
      return;
    }
    // The new one starts from the copy that the old one leaves behind.
    if (before !== undefined) await this.#end(before, { isReplaced: true });
    const { client, transferClient: transfers, authority } = this.#options;
    const { copyFolder } = settings;
    const secondary = await SecondaryZone.open(this.#runtime, {
      ...{ origin, primaries, client, transfers, hashSeed: authority.hashSeed },
      ...(copyFolder === undefined ? {} : { copyFolder: diskPath(copyFolder) }),
    });
    const served: ServedZone = { prepared, zone: secondary.zone, secondary };
    authority.setZone(secondary.zone);
    this.#served.set(origin, served);
    this.#follow(served, prepared);
  }

  /** Tells the servers that shall know of changes. */
  #follow(served: ServedZone, prepared: PreparedZone): void {
    const isAsBefore =
      served.following !== undefined && isDeepStrictEqual(served.prepared.notify, prepared.notify);
    served.prepared = prepared;
    if (isAsBefore) return;
    served.following?.[Symbol.dispose]();
    served.following =
      prepared.notify.length === 0 ? undefined : this.#options.notifier.follow(served.zone, prepared.notify);
  }

  /** Ends what is around a zone that is served no more, or by another object. */
  async #end(served: ServedZone, { isReplaced = false } = {}): Promise<void> {
    const { updates, onSigning } = this.#options;
    served.following?.[Symbol.dispose]();
    if (served.keys !== undefined && !isReplaced) onSigning(served.zone, undefined);
    // Taking the keys out steps a zone that is served no more.
    await served.keptSerial?.serial[Symbol.asyncDispose]();
    served.keys?.zoneKeys[Symbol.dispose]();
    await served.secondary?.[Symbol.asyncDispose]();
    if (!isReplaced) await updates.remove(served.zone.origin);
  }
}

/** The journals that are to be put on zones which were just read. */
function* journalsOf(prepared: readonly PreparedZone[]): Generator<{
  readonly zone: Zone;
  readonly settings: FileZoneSettings;
  readonly journal: string;
  /** Where the settings name it. */
  readonly at: string;
}> {
  for (const each of prepared) {
    if (!("zone" in each) || !each.isNew || each.settings.updates === undefined) continue;
    const { path: journal, at } = each.settings.updates.journal;
    yield { zone: each.zone, settings: each.settings, journal, at };
  }
}

function setsOf({ choices }: FileZoneSettings): readonly RecordSet[] {
  return choices.map(({ set }) => set);
}

/** The setting of a zone that changes what its answers have, and where that stands. */
function whatNeedsUnsigned({
  signing,
  updates,
  choices,
}: FileZoneSettings): { readonly at: string; readonly what: string } | undefined {
  if (signing !== undefined) return { at: signing.keys.at, what: "signing it again" };
  if (updates !== undefined) return { at: updates.journal.at, what: "any update" };
  const [choice] = choices;
  return choice && { at: choice.at, what: "other records" };
}
