import type { Endpoint, Logger, Runtime } from "@meridian/runtime";
import { formatEndpoint } from "@meridian/runtime";
import type { DnsClient } from "../client/dns-client.ts";
import { DnsError } from "../dns-error.ts";
import { foldNameText, nameFromText } from "../name/name.ts";
import { isNewerSerial } from "../zone/serial.ts";
import type { WireRecord, ZoneDelta } from "../zone/wire-record.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import { Zone } from "../zone/zone.ts";
import { ZoneTree } from "../zone/zone-tree.ts";
import { KeptCopy } from "./kept-copy.ts";
import { RecordLoader } from "./record-loader.ts";
import { jittered, refreshTimes, type RefreshBounds } from "./refresh-times.ts";
import { soaFromRecord } from "./soa-record.ts";
import { sameAddress } from "./transfer-policy.ts";
import type { Primary } from "./transfer-exchange.ts";
import { applyDeltas } from "./transferred-sets.ts";
import type { ZoneTransferClient } from "./zone-transfer-client.ts";

/** A zone that others are primary of, and how it is followed. */
export interface SecondaryZoneOptions {
  readonly origin: string;
  /** Asked in this order; at least one. */
  readonly primaries: readonly Primary[];
  /** Asks for serials. */
  readonly client: DnsClient;
  readonly transfers: ZoneTransferClient;
  readonly bounds?: RefreshBounds;
  /** Folder of the disk for copies, so that a restart serves at once; absent: none is kept. */
  readonly copyFolder?: string;
  /** Of the authority that will serve the zone, so that a large copy is not hashed again then. */
  readonly hashSeed?: number;
}

/** Who sent a NOTIFY. */
export interface NotifySender {
  readonly from: Pick<Endpoint, "address">;
  /** Name of the TSIG key that signed it, folded. */
  readonly key?: string | undefined;
}

/** Where a secondary zone stands. */
export interface SecondaryState {
  /** `empty`: never had; `current`: vouched for within the expire time; `expired`: answered SERVFAIL. */
  readonly at: "empty" | "current" | "expired";
  readonly serial: number | undefined;
  /** Of the last check that failed since one succeeded. */
  readonly problem: string | undefined;
  /** Checks and transfers since the start. */
  readonly checks: number;
  readonly transfers: number;
}

type CheckResult = "newer" | "same" | { readonly problem: string };

const serialDeadlineMs = 5_000;
/** A NOTIFY is acted on at most this often for each primary. */
const notifyGapMs = 1_000;
/** Pauses between tries of a zone that was never had, when nothing says how long to wait. */
const firstRetryMs = 1_000;
const firstRetryMaxMs = 60_000;

/**
 * A zone kept as its primaries have it: checked by serial, transferred incrementally where possible, applied as one step
 * with exactly the primary's serial, and not answered from once its expire time has passed without a primary in reach.
 *
 * Give `zone` to an authority once; it is not ready until there is content. A NOTIFY only leads to a check: nothing in it
 * is believed.
 */
export class SecondaryZone implements AsyncDisposable {
  readonly zone: Zone;
  readonly #runtime: Runtime;
  readonly #options: SecondaryZoneOptions;
  readonly #log: Logger;
  readonly #copy: KeptCopy | undefined;
  readonly #stop = new AbortController();
  /** Primaries that a NOTIFY came from and that were not asked since, and when each was last asked because of one. */
  readonly #notified = new Set<Primary>();
  readonly #askedMs = new Map<Primary, number>();
  #at: SecondaryState["at"] = "empty";
  #problem: string | undefined;
  #checks = 0;
  #transfers = 0;
  #failures = 0;
  /** Wall time of the last check that succeeded. */
  #checkedAtMs = 0;
  #dueMs: number;
  #wake: (() => void) | undefined;
  #cancelExpire: (() => void) | undefined;
  #running: Promise<void> | undefined;

  private constructor(runtime: Runtime, options: SecondaryZoneOptions) {
    const origin = foldNameText(options.origin);
    this.#runtime = runtime;
    this.#options = options;
    this.#log = runtime.log.child({ zone: origin });
    this.#dueMs = runtime.clock.monotonicMs();
    this.#copy =
      options.copyFolder === undefined
        ? undefined
        : new KeptCopy(runtime, { folder: options.copyFolder, origin, log: this.#log });
    const tree = new ZoneTree(nameFromText(origin), options.hashSeed);
    this.zone = new Zone(
      {
        origin,
        // Stands for the SOA that is not known yet; a zone that is not ready shows none of it.
        soa: {
          mname: ".",
          rname: ".",
          serial: 0,
          refresh: 0,
          retry: 0,
          expire: 0,
          minimum: 0,
          ttl: 0,
        },
        nameServers: ["."],
        nameServerTtl: 0,
        ready: false,
      },
      tree,
    );
  }

  /**
   * Starts following a zone, from its copy where there is one. Resolves once that is loaded, without waiting for a
   * primary.
   *
   * @throws DnsError `BadName`, or `BadZone` without a primary
   */
  static async open(runtime: Runtime, options: SecondaryZoneOptions): Promise<SecondaryZone> {
    if (options.primaries.length === 0)
      throw new DnsError("BadZone", `secondary zone ${options.origin} has no primary; name at least one`);
    const secondary = new SecondaryZone(runtime, options);
    await secondary.#loadCopy();
    secondary.#running = secondary.#run();
    return secondary;
  }

  get state(): SecondaryState {
    return {
      at: this.#at,
      serial: this.#at === "empty" ? undefined : this.zone.serial,
      problem: this.#problem,
      checks: this.#checks,
      transfers: this.#transfers,
    };
  }

  /**
   * Takes a NOTIFY: false when it is from none of the primaries, by key or address. Any number of them leads to one check
   * of that primary at a time, at most once in a second.
   */
  takeNotify({ from, key }: NotifySender): boolean {
    const { primaries } = this.#options;
    const senders = primaries.filter((primary) =>
      // Who signs is known by the key: its address may be anybody's, behind a translation.
      primary.key === undefined ? sameAddress(primary.address, from.address) : primary.key.name === key,
    );
    for (const primary of senders) this.#notified.add(primary);
    if (senders.length > 0) this.#wake?.();
    return senders.length > 0;
  }

  /** Checks now, whatever the timers say. */
  refresh(): void {
    this.#dueMs = this.#runtime.clock.monotonicMs();
    this.#wake?.();
  }

  /** Stops following; stores what is not stored yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the secondary zone is closed"));
    this.#wake?.();
    await this.#running;
    this.#cancelExpire?.();
    await this.#copy?.store(this.zone, this.#checkedAtMs);
  }

  async #run(): Promise<void> {
    const { clock } = this.#runtime;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const turn = await this.#nextTurn();
      if (signal.aborted) return;
      for (const primary of turn) this.#notified.delete(primary);
      const now = clock.monotonicMs();
      for (const primary of turn) this.#askedMs.set(primary, now);
      try {
        await this.#check([...turn, ...this.#options.primaries.filter((primary) => !turn.includes(primary))]);
      } catch (error) {
        if (signal.aborted) return;
        // Nothing above is meant to throw; whatever did must not end the following of the zone.
        this.#log.error("checking a secondary zone failed", { error });
        this.#fail(String(error));
      }
      await this.#copy?.storeIfDue(this.zone, this.#checkedAtMs);
    }
  }

  /** Waits until the zone is due, or a NOTIFY may be acted on: then the primaries to ask first. */
  async #nextTurn(): Promise<readonly Primary[]> {
    const { clock } = this.#runtime;
    const { signal } = this.#stop;
    for (;;) {
      const now = clock.monotonicMs();
      const notBefore = (primary: Primary): number => (this.#askedMs.get(primary) ?? -Infinity) + notifyGapMs;
      const turn = [...this.#notified].filter((primary) => notBefore(primary) <= now);
      if (signal.aborted || turn.length > 0 || this.#dueMs <= now) return turn;
      const copyDueMs = this.#copy?.dueMs ?? Infinity;
      const waitUntil = Math.min(this.#dueMs, copyDueMs, ...[...this.#notified].map(notBefore));
      await new Promise<void>((resolve) => {
        const cancel = clock.after(waitUntil - now, resolve);
        this.#wake = () => {
          cancel();
          resolve();
        };
      });
      this.#wake = undefined;
      await this.#copy?.storeIfDue(this.zone, this.#checkedAtMs);
    }
  }

  /** Asks the primaries in order until one has vouched for what we have, or given what is newer. */
  async #check(primaries: readonly Primary[]): Promise<void> {
    this.#checks++;
    const problems: string[] = [];
    for (const primary of primaries) {
      const result = await this.#checkSerial(primary);
      if (result === "same") return this.#succeed();
      const problem = result === "newer" ? await this.#transfer(primary) : result.problem;
      if (problem === undefined) return this.#succeed();
      problems.push(`${formatEndpoint(primary)}: ${problem}`);
    }
    this.#fail(problems.join("; "));
  }

  async #checkSerial(primary: Primary): Promise<CheckResult> {
    // Content that nobody vouches for is fetched anew, whatever its serial.
    if (this.#at !== "current") return "newer";
    const verdict = await this.#options.client.query({
      name: this.zone.origin,
      type: "SOA",
      servers: [primary],
      deadlineMs: serialDeadlineMs,
      ...(primary.key === undefined ? {} : { key: primary.key }),
      ...(primary.tls === undefined ? {} : { transport: "tls" as const, tls: primary.tls }),
      signal: this.#stop.signal,
    });
    if (verdict.state === "unreachable") return { problem: verdict.reason };
    if (verdict.state === "refused") return { problem: `it answers ${verdict.rcode}` };
    const soa = verdict.records.find(
      (record) => record.type === "SOA" && foldNameText(record.name) === this.zone.origin,
    );
    if (soa === undefined || !verdict.authoritative) return { problem: "it has no authority for the zone" };
    const serial = Number(soa.data.split(" ")[2]);
    if (serial === this.zone.serial) return "same";
    return isNewerSerial(serial, this.zone.serial)
      ? "newer"
      : { problem: `its serial ${serial} is older than ours, ${this.zone.serial}` };
  }

  /** Fetches and applies; what went wrong, or `undefined`. */
  async #transfer(primary: Primary): Promise<string | undefined> {
    const { signal } = this.#stop;
    const origin = this.zone.origin;
    const haveSerial = this.#at === "current" ? this.zone.serial : undefined;
    for (let serial = haveSerial; ; serial = undefined) {
      let loader: RecordLoader | undefined;
      const outcome = await this.#options.transfers.fetchRecords({
        zone: origin,
        primary,
        haveSerial: serial,
        signal,
        startWhole: () => (loader = this.#startLoader()).take,
      });
      switch (outcome.kind) {
        case "refused":
          return `it answers the transfer with ${outcome.rcode}`;
        case "unreachable":
        case "broken":
          return outcome.reason;
        case "current":
          return undefined;
        case "whole":
        case "deltas":
          break;
      }
      try {
        if (outcome.kind === "deltas") this.#applyDeltas(outcome.soa, outcome.deltas);
        else if (loader !== undefined) await this.#adopt(loader);
      } catch (error) {
        if (!(error instanceof DnsError)) throw error;
        // Differences that do not fit ours: once more, and whole.
        if (outcome.kind === "deltas") continue;
        return error.message;
      }
      this.#transfers++;
      this.#copy?.mark("content");
      if (outcome.foreignRecords > 0)
        this.#log.warn("a primary sent records outside the zone", { records: outcome.foreignRecords });
      return undefined;
    }
  }

  #startLoader(): RecordLoader {
    const { origin, seed } = this.zone.tree;
    return new RecordLoader({ origin, hashSeed: seed });
  }

  async #adopt(loader: RecordLoader): Promise<void> {
    await this.zone.adopt(loader.end(), new WorkSlices(this.#runtime.clock));
  }

  #applyDeltas(soaRecord: WireRecord, deltas: readonly ZoneDelta[]): void {
    const { zone } = this;
    const { serial, ...soa } = soaFromRecord(soaRecord);
    const changes = new Map(applyDeltas(zone, deltas));
    const apex = changes.get(zone.origin);
    if (apex === undefined) {
      zone.replace(changes, { serial, soa, signedElsewhere: true });
      return;
    }
    const nameServers = apex.find((set) => set.type === "NS");
    if (nameServers === undefined)
      throw new DnsError("BadTransfer", "the zone would be left without name servers");
    changes.set(
      zone.origin,
      apex.filter((set) => set.type !== "NS"),
    );
    zone.replace(changes, {
      ...{ serial, soa, signedElsewhere: true },
      ...{ nameServers: nameServers.data, nameServerTtl: nameServers.ttl },
    });
  }

  #succeed(): void {
    const { clock, random } = this.#runtime;
    if (this.#at !== "current") this.#log.info("secondary zone is served", { serial: this.zone.serial });
    this.#at = "current";
    this.#checkedAtMs = clock.now();
    this.zone.setReady();
    this.#problem = undefined;
    this.#failures = 0;
    this.#copy?.mark("time");
    const { refreshMs, expireMs } = refreshTimes(this.zone.soa, this.#options.bounds);
    this.#dueMs = clock.monotonicMs() + jittered(refreshMs, random);
    this.#expireAfter(expireMs);
  }

  #fail(problem: string): void {
    const { clock, random } = this.#runtime;
    if (this.#problem === undefined) this.#log.warn("secondary zone could not be checked", { problem });
    this.#problem = problem;
    const retryMs =
      this.#at === "empty"
        ? Math.min(firstRetryMaxMs, firstRetryMs * 2 ** Math.min(this.#failures, 10))
        : refreshTimes(this.zone.soa, this.#options.bounds).retryMs;
    this.#failures++;
    this.#dueMs = clock.monotonicMs() + jittered(retryMs, random);
  }

  #expireAfter(ms: number): void {
    this.#cancelExpire?.();
    this.#cancelExpire = this.#runtime.clock.after(ms, () => {
      this.#at = "expired";
      this.zone.setReady(false);
      this.#log.warn("secondary zone has expired", { serial: this.zone.serial, problem: this.#problem });
    });
  }

  async #loadCopy(): Promise<void> {
    if (this.#copy === undefined) return;
    try {
      const loader = this.#startLoader();
      const checkedAtMs = await this.#copy.read(loader.take);
      if (checkedAtMs === undefined) return;
      await this.#adopt(loader);
      this.#checkedAtMs = checkedAtMs;
      const { expireMs } = refreshTimes(this.zone.soa, this.#options.bounds);
      // A clock that was set back makes the copy no younger than new.
      const leftMs = expireMs - Math.max(0, this.#runtime.clock.now() - checkedAtMs);
      this.#at = leftMs > 0 ? "current" : "expired";
      if (leftMs > 0) {
        this.zone.setReady();
        this.#expireAfter(leftMs);
      }
    } catch (error) {
      this.#log.warn("the copy of a secondary zone cannot be used", { error });
    }
  }
}
