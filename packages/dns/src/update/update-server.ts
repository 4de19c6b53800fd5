import type { Runtime } from "@meridian/runtime";
import { rcode } from "../message/header.ts";
import { foldName, nameToText } from "../name/name.ts";
import type { RequestHandler, VerifiedRequest } from "../server/dns-request.ts";
import { composeEmptyAnswer, readRequestHead } from "../server/request-head.ts";
import { isNewerSerial, nextSerial } from "../zone/serial.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import type { Zone } from "../zone/zone.ts";
import { applyUpdates } from "./apply-updates.ts";
import { checkPrerequisites } from "./prerequisites.ts";
import { prescan } from "./prescan.ts";
import { SeenUpdates } from "./seen-updates.ts";
import { UpdateJournal } from "./update-journal.ts";
import { readUpdate, type UpdateMessage } from "./update-message.ts";
import { UpdatePolicy, type UpdateRule } from "./update-policy.ts";
import { ZoneDraft } from "./zone-draft.ts";

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
  policy: UpdatePolicy;
  /** Updates of one zone are made one after the other. */
  last: Promise<unknown>;
  waiting: number;
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
  readonly #seen: SeenUpdates;
  readonly #targets = new Map<string, Target>();

  private constructor(runtime: Runtime, authority: UpdateServerOptions["authority"]) {
    this.#runtime = runtime;
    this.#authority = authority;
    this.#seen = new SeenUpdates(runtime.clock);
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
   * Takes updates of one more zone, once its journal is put on top of it.
   *
   * @throws DnsError `BadJournal` for one that cannot be used, `BadName` or `BadRecord` for a rule
   */
  async add({ zone, journal: path, rules }: UpdatableZone): Promise<void> {
    const policy = new UpdatePolicy(zone.origin, rules);
    const journal = await UpdateJournal.open(this.#runtime, { path, zone });
    this.#targets.set(zone.origin, { zone, journal, policy, last: Promise.resolve(), waiting: 0 });
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
    const { signature } = request;
    const decide = (): Promise<number> => this.#decide(request);
    const code = await (signature === undefined ? decide() : this.#seen.once(signature, decide));
    if (code !== rcode.noError) this.counters.refused++;
    yield composeEmptyAnswer(readRequestHead(request.message), { rcode: code });
  }

  async #decide({ message, key, signal }: VerifiedRequest): Promise<number> {
    if (key === undefined) return rcode.refused;
    const update = readUpdate(message);
    if (typeof update === "number") return update;
    const origin = nameToText(foldName(update.zone));
    const target = this.#targets.get(origin);
    if (target === undefined)
      return this.#authority.zone(origin) === undefined ? rcode.notAuth : rcode.refused;
    if (!target.policy.knows(key)) return this.#forbid(target.zone, key);
    if (target.waiting >= waitingMax) return rcode.servFail;
    target.waiting++;
    const made = target.last.then(() => this.#make(target, { update, key, signal }));
    // Compacting is nothing that the sender should wait for.
    target.last = made.then(
      () => this.#compact(target),
      () => {},
    );
    try {
      return await made;
    } finally {
      target.waiting--;
    }
  }

  /** Everything from the first look at the zone to the change is one turn, but for the write to the disk. */
  async #make(
    { zone, journal, policy }: Target,
    {
      update,
      key,
      signal,
    }: { readonly update: UpdateMessage; readonly key: string; readonly signal: AbortSignal },
  ): Promise<number> {
    signal.throwIfAborted();
    if (!zone.ready) return rcode.servFail;
    const draft = new ZoneDraft(zone);
    const unmet =
      checkPrerequisites(update.prerequisites, { draft, zone: update.zone }) ||
      prescan(update.updates, update.zone);
    if (unmet !== rcode.noError) return unmet;
    if (!policy.allows(key, update.updates, draft)) return this.#forbid(zone, key);
    applyUpdates(update.updates, draft);
    const change = draft.changes();
    if (change === undefined) {
      this.counters.unchanged++;
      return rcode.noError;
    }
    const [problem] = zone.check(change.owners);
    if (problem !== undefined || (change.step.nameServers?.length ?? 0) > nameServersMax) {
      this.#runtime.log.warn("an update would break its zone", { ...problem, zone: zone.origin, key });
      return rcode.refused;
    }
    const { serial: wanted } = change.step;
    let serial: number;
    do {
      serial = wanted !== undefined && isNewerSerial(wanted, zone.serial) ? wanted : nextSerial(zone.serial);
      await journal.append(change, serial);
      // Keys may have stepped the serial meanwhile: what is served is what the journal has, so it gets a newer one.
    } while (!isNewerSerial(serial, zone.serial));
    zone.replace(change.owners, { ...change.step, serial });
    this.counters.applied++;
    return rcode.noError;
  }

  /** The sender learns no more than REFUSED, so the log is where to look. Only holders of keys come here. */
  #forbid(zone: Zone, key: string): number {
    this.#runtime.log.warn(
      "an update was refused: the rules do not give its key all of these names and types",
      {
        zone: zone.origin,
        key,
      },
    );
    return rcode.refused;
  }

  /** A journal that cannot be compacted is only large: the update is safe. */
  async #compact({ journal, zone }: Target): Promise<void> {
    try {
      await journal.compactIfLarge(zone, new WorkSlices(this.#runtime.clock));
    } catch (error) {
      this.#runtime.log.warn("compacting an update journal failed; the next update tries again", {
        error,
        zone: zone.origin,
      });
    }
  }
}
