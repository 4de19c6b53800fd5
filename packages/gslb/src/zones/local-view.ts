import { Zone, type Authority, type DnsClient, type RecordSet, type TsigKey } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { localTargetsZone } from "../decide/zone-names.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { Wakeup } from "../tasks/wakeup.ts";
import { ContentDigest } from "./content-digest.ts";
import type { SerialStore, StoredSerial } from "./serial-store.ts";

/** Whose view it is, what it is made of, and whom to tell. */
export interface LocalViewOptions {
  readonly zone: string;
  /** The own name server's name: it tells peers whose view this is. */
  readonly mname: string;
  readonly negativeTtlSeconds: number;
  readonly nameServerTtlSeconds: number;
  readonly authority: Authority;
  readonly dnsClient: Pick<DnsClient, "notify">;
  readonly store: SerialStore;
  readonly tasks: TaskScope;
  /** Empty where nobody is to be told. */
  readonly peers: () => readonly ToldPeer[];
}

/** A peer's servers, and the key that it is known to share. */
export interface ToldPeer {
  readonly servers: readonly Endpoint[];
  readonly key: TsigKey | undefined;
}

const retryMsMax = 15_000;
/** So long a content that is no more may be served because no serial for the next one can be stored; then none is. */
const unstoredMsMax = 30_000;

/**
 * What this cluster says of itself for one zone, as the zone `_localtargets.<zone>` with a serial of its own, for peers to
 * transfer: which hosts it carries, how it balances them, and where it serves them now.
 *
 * The serial moves only when that content changes, never back, and is stored with the content's digest before it is
 * published; so equal serials mean equal content, in all replicas and over restarts too. Peers are told of each new serial,
 * and once after a start; a peer's change never makes us tell anything.
 */
export class LocalView {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: LocalViewOptions;
  readonly #origin: string;
  readonly #changed = new Wakeup();
  readonly #tasks: TaskScope;
  /** Of the content as it is to be published. */
  readonly #digest = new ContentDigest();
  /** What differs from the published content, by owner. */
  #pending = new Map<string, readonly RecordSet[]>();
  #last: StoredSerial | undefined;
  #zone: Zone | undefined;
  #isWithheld = false;
  #notifying: TaskScope | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: LocalViewOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#origin = localTargetsZone(options.zone);
    this.#tasks = options.tasks.child();
    this.#tasks.start("own view", (signal) => this.#follow(signal));
  }

  /** The serial that is served, `undefined` until the first is. */
  get serial(): number | undefined {
    return this.#zone?.serial;
  }

  /** Puts an owner's record sets in place of its former ones; none removes it. To be published at the next `touch`. */
  set(owner: string, sets: readonly RecordSet[]): void {
    this.#pending.set(owner, sets);
    this.#digest.set(owner, sets);
  }

  /** Publishes what was set. */
  touch(): void {
    this.#changed.wake();
  }

  /** Tells a peer of the serial that is served; of a first one all are told when it comes. */
  tellPeer({ servers, key }: ToldPeer): void {
    const soa = this.#zone?.soa;
    if (soa === undefined || servers.length === 0) return;
    this.#notifying?.start("notify", async (signal) => {
      const signed = key === undefined ? {} : { key };
      await this.#options.dnsClient.notify({ zone: this.#origin, soa, servers, signal, ...signed });
    });
  }

  /** Stops giving the view away while nobody vouches for it, and starts again. */
  withhold(isWithheld: boolean): void {
    this.#isWithheld = isWithheld;
    this.#zone?.setReady(!isWithheld);
  }

  close(): void {
    this.#tasks.abort(new Error("the zone is gone"));
    this.#options.authority.removeZone(this.#origin);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#runtime;
    let failures = 0;
    let failedSinceMs = 0;
    while (true) {
      await this.#changed.wait(signal);
      if (signal.aborted) return;
      try {
        await this.#publish(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (failures === 0) failedSinceMs = clock.monotonicMs();
        failures += 1;
        log.warn("storing the serial of the own view failed; trying again", { zone: this.#origin, error });
        // Peers then ask for each host, which is answered as it is.
        if (clock.monotonicMs() - failedSinceMs >= unstoredMsMax) this.#zone?.setReady(false);
        await clock.sleep(Math.min(retryMsMax, 100 * 2 ** failures), signal).catch(() => {});
        this.#changed.wake();
      }
    }
  }

  async #publish(signal: AbortSignal): Promise<void> {
    const digest = this.#digest.text;
    const changes = this.#pending;
    this.#pending = new Map();
    let serial: number | undefined;
    try {
      serial = await this.#serialFor(digest, signal);
    } finally {
      if (serial === undefined) this.#pending = new Map([...changes, ...this.#pending]);
    }
    if (serial === undefined) return;
    const before = this.#zone?.serial;
    const zone = (this.#zone ??= this.#newZone(serial));
    if (before === undefined) {
      zone.load(changes, serial);
      this.#options.authority.setZone(zone);
    } else zone.replace(changes, { serial });
    zone.setReady(!this.#isWithheld);
    if (before !== serial) this.#tellPeers();
  }

  /** The serial of a content, stored; `undefined` where this replica's copies are behind another's. */
  async #serialFor(digest: string, signal: AbortSignal): Promise<number | undefined> {
    if (this.#last?.digest === digest && this.#zone?.serial === this.#last.serial) return this.#last.serial;
    const { store, zone } = this.#options;
    const now = this.#runtime.clock.now();
    const claimed = await store.claim(zone, { digest, last: this.#last, now, signal });
    if (claimed.kind === "behind") return undefined;
    this.#last = { serial: claimed.serial, digest: claimed.digest };
    return claimed.serial;
  }

  #newZone(serial: number): Zone {
    const { mname, zone, negativeTtlSeconds, nameServerTtlSeconds } = this.#options;
    const times = {
      refresh: 30,
      retry: 5,
      expire: 86_400,
      minimum: negativeTtlSeconds,
      ttl: negativeTtlSeconds,
    };
    return new Zone({
      origin: this.#origin,
      soa: { mname, rname: `hostmaster.${zone}`, serial, ...times },
      nameServers: [mname],
      nameServerTtl: nameServerTtlSeconds,
    });
  }

  /** A newer serial takes the place of one that some peer has not acknowledged yet. */
  #tellPeers(): void {
    this.#notifying?.abort(new Error("a newer serial is told instead"));
    this.#notifying = this.#tasks.child();
    for (const peer of this.#options.peers()) this.tellPeer(peer);
  }
}
