import type { Runtime } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { rcode } from "../message/header.ts";
import { foldName, nameToText } from "../name/name.ts";
import type { RequestHandler, RequestSignature, VerifiedRequest } from "../server/dns-request.ts";
import { composeEmptyAnswer, readRequestHead } from "../server/request-head.ts";
import { isNewerSerial, nextSerial } from "../zone/serial.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import type { PreparedChanges, Zone } from "../zone/zone.ts";
import { applyUpdates } from "./apply-updates.ts";
import { checkPrerequisites } from "./prerequisites.ts";
import { prescan } from "./prescan.ts";
import { replayJournal, type JournalReading } from "./journal-replay.ts";
import { outcomeOf, SeenUpdates } from "./seen-updates.ts";
import { UpdateJournal } from "./update-journal.ts";
import { readUpdate, type UpdateMessage } from "./update-message.ts";
import { UpdatePolicy, type UpdateRule } from "./update-policy.ts";
import { ZoneDraft, type ZoneChange } from "./zone-draft.ts";

/** A zone that takes updates. From `open` on nobody else changes it. */
export interface UpdatableZone {
  /** As it was read from its file. */
  readonly zone: Zone;
  /** Where acknowledged updates are kept, a path on the runtime's disk; each zone has its own. */
  readonly journal: string;
  readonly rules: readonly UpdateRule[];
}

/** Which zones take updates. */
export interface UpdateServerOptions {
  readonly zones: readonly UpdatableZone[];
  /** Tells served zones that take no updates (REFUSED) from strange ones (NOTAUTH); an `Authority` is one. */
  readonly authority: { zone(origin: string): unknown };
}

/** Numbers since the start; they only rise. */
export interface UpdateCounters {
  /** Updates that changed something and are durable. */
  applied: number;
  /** Answered NOERROR, as there was nothing to change. */
  unchanged: number;
  /** Answered with any other rcode. */
  refused: number;
}

interface Target {
  readonly zone: Zone;
  readonly journal: UpdateJournal;
  readonly seen: SeenUpdates;
  policy: UpdatePolicy;
  /** Updates of one zone are made one after the other. */
  last: Promise<unknown>;
  waiting: number;
}

interface PreparedChange extends ZoneChange {
  readonly prepared: PreparedChanges;
}

/** An update that is to be made. */
interface SignedUpdate {
  readonly update: UpdateMessage;
  readonly key: string;
  readonly signature: RequestSignature | undefined;
  readonly signal: AbortSignal;
  readonly onRefused: NonNullable<VerifiedRequest["onRefused"]>;
}

/** Updates of one zone that may wait for those before them. */
const waitingMax = 1_000;
/** More could be too large for any answer. */
const nameServersMax = 200;

/**
 * Takes dynamic updates (RFC 2136): only signed ones, by rules for each key, all or nothing, one serial step for each
 * message. NOERROR means that the change is on the disk and in the answers; it is in no answer before it is on the disk.
 */
export class UpdateServer implements AsyncDisposable {
  readonly counters: UpdateCounters = { applied: 0, unchanged: 0, refused: 0 };
  /** For the request pipeline. */
  readonly handle: RequestHandler;
  readonly #runtime: Runtime;
  readonly #authority: UpdateServerOptions["authority"];
  readonly #targets = new Map<string, Target>();

  private constructor(runtime: Runtime, authority: UpdateServerOptions["authority"]) {
    this.#runtime = runtime;
    this.#authority = authority;
    this.handle = (request) => this.#answer(request);
  }

  /**
   * Opens the journals and puts what they hold into the zones.
   *
   * @throws DnsError `BadJournal` for one that cannot be used, `BadName` or `BadRecord` for a rule
   */
  static async open(runtime: Runtime, { zones, authority }: UpdateServerOptions): Promise<UpdateServer> {
    const server = new UpdateServer(runtime, authority);
    try {
      for (const zone of zones) await server.add(zone);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /**
   * Takes updates of one more zone, once its journal is put on top of it, which takes turns with other work.
   *
   * @throws DnsError `BadJournal` for one that cannot be used, `BadName` or `BadRecord` for a rule, `BadZone` for a zone with
   * the signatures of somebody else; the signal's reason
   */
  async add({ zone, journal: path, rules }: UpdatableZone, signal?: AbortSignal): Promise<void> {
    if (zone.presigned)
      throw new DnsError(
        "BadZone",
        `zone ${zone.origin} is signed elsewhere, and an update would void its signatures; send updates to who signs it`,
      );
    const policy = new UpdatePolicy(zone.origin, rules);
    const { journal, seen: known } = await UpdateJournal.open(this.#runtime, { path, zone, signal });
    const seen = new SeenUpdates(this.#runtime.clock, known);
    this.#targets.set(zone.origin, { zone, journal, seen, policy, last: Promise.resolve(), waiting: 0 });
  }

  /**
   * Puts a journal on top of its zone as `add` does, and writes nothing.
   *
   * @returns octets of a torn end, which a start would cut off
   * @throws DnsError `BadJournal`, or the signal's reason
   */
  static async checkJournal(
    runtime: Pick<Runtime, "disk" | "clock" | "log">,
    reading: JournalReading,
  ): Promise<{ readonly wholeOctets: number; readonly tornOctets: number }> {
    return replayJournal(runtime, reading);
  }

  /** @throws DnsError `BadName` or `BadRecord` for a rule that cannot be read */
  static checkRules(origin: string, rules: readonly UpdateRule[]): void {
    void new UpdatePolicy(origin, rules);
  }

  /**
   * Goes by other rules from the next update on; a zone that takes none stays so.
   *
   * @throws DnsError `BadName` or `BadRecord` for a rule; then those before stay
   */
  setRules(origin: string, rules: readonly UpdateRule[]): void {
    const policy = new UpdatePolicy(origin, rules);
    const target = this.#targets.get(origin);
    if (target !== undefined) target.policy = policy;
  }

  /** Takes no more updates of a zone; resolves after those that are under way. The journal stays. */
  async remove(origin: string): Promise<void> {
    const target = this.#targets.get(origin);
    this.#targets.delete(origin);
    await target?.last;
    await target?.journal[Symbol.asyncDispose]();
  }

  /** Ends after the updates that are under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const origin of [...this.#targets.keys()]) await this.remove(origin);
  }

  async *#answer(request: VerifiedRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const code = await this.#decide(request);
    if (code !== rcode.noError) this.counters.refused++;
    yield composeEmptyAnswer(readRequestHead(request.message), { rcode: code });
  }

  #decide(request: VerifiedRequest): Promise<number> | number {
    const { message, key, signature, signal, onRefused = () => {} } = request;
    if (key === undefined) {
      onRefused("it is not signed");
      return rcode.refused;
    }
    const update = readUpdate(message);
    if (typeof update === "number") return update;
    const origin = nameToText(foldName(update.zone));
    const target = this.#targets.get(origin);
    if (target === undefined) {
      onRefused("the zone takes no updates here");
      return this.#authority.zone(origin) === undefined ? rcode.notAuth : rcode.refused;
    }
    return this.#queue(target, { update, key, signature, signal, onRefused });
  }

  #queue(target: Target, signed: SignedUpdate): Promise<number> {
    let isQueued = false;
    const queue = async (): Promise<number> => {
      if (!target.policy.knows(signed.key)) {
        signed.onRefused("no rule is about its key");
        return rcode.refused;
      }
      if (target.waiting >= waitingMax) return rcode.servFail;
      isQueued = true;
      target.waiting++;
      try {
        await target.last;
        return await this.#make(target, signed);
      } finally {
        target.waiting--;
      }
    };
    const { signature } = signed;
    const outcome = signature === undefined ? queue() : target.seen.once(signature, queue);
    // Compacting is nothing that the sender should wait for. It comes once what was seen knows this outcome, too.
    if (isQueued) {
      target.last = outcome.then(
        () => this.#compact(target),
        () => {},
      );
    }
    return outcome;
  }

  async #make(target: Target, signed: SignedUpdate): Promise<number> {
    const { zone, journal } = target;
    const { signature, signal } = signed;
    signal.throwIfAborted();
    if (!zone.ready) return rcode.servFail;
    const change = this.#draft(target, signed);
    if (typeof change === "number") {
      // Sent again at another time, it could do what it did not do now.
      const isOfNow = change !== rcode.formErr && change !== rcode.notZone;
      if (signature !== undefined && isOfNow) await journal.note(outcomeOf(signature, change));
      return change;
    }
    const seen = signature && outcomeOf(signature, rcode.noError);
    const { serial: wanted } = change.step;
    let serial: number;
    do {
      serial = wanted !== undefined && isNewerSerial(wanted, zone.serial) ? wanted : nextSerial(zone.serial);
      await journal.append(change, { serial, seen });
      // Keys may have stepped the serial meanwhile: what is served is what the journal has, so it gets a newer one.
    } while (!isNewerSerial(serial, zone.serial));
    zone.replacePrepared(change.prepared, { ...change.step, serial });
    this.counters.applied++;
    return rcode.noError;
  }

  /** What is to be changed, or the rcode of an update that changes nothing. */
  #draft({ zone, policy }: Target, { update, key, onRefused }: SignedUpdate): PreparedChange | number {
    const draft = new ZoneDraft(zone);
    const unmet =
      checkPrerequisites(update.prerequisites, { draft, zone: update.zone }) ||
      prescan(update.updates, update.zone);
    if (unmet !== rcode.noError) return unmet;
    if (!policy.allows(key, update.updates, draft)) {
      onRefused("the rules do not give its key all of these names and types");
      return rcode.refused;
    }
    applyUpdates(update.updates, draft);
    const change = draft.changes();
    if (change === undefined) {
      this.counters.unchanged++;
      return rcode.noError;
    }
    const prepared = zone.prepare(change.owners);
    const [problem] = prepared.problems;
    if (problem === undefined && (change.step.nameServers?.length ?? 0) <= nameServersMax)
      return { ...change, prepared };
    onRefused("it would break its zone", { ...(problem ?? { problem: "too many name servers" }) });
    return rcode.refused;
  }

  /** A journal that cannot be compacted is only large: the update is safe. */
  async #compact({ journal, zone, seen }: Target): Promise<void> {
    try {
      const slices = new WorkSlices(this.#runtime.clock);
      await journal.compactIfLarge(zone, { slices, seen: seen.known() });
    } catch (error) {
      this.#runtime.log.warn("compacting an update journal failed; the next update tries again", {
        error,
        zone: zone.origin,
      });
    }
  }
}
