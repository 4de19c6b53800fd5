import { nextSerial, Zone, type Authority, type DnsClient } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { localTargetsZone } from "../decide/zone-names.ts";
import type { TaskScope } from "../tasks/task-scope.ts";
import { Wakeup } from "../tasks/wakeup.ts";
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
  /** A digest of the `localtargets-` record sets that the zone answers now. */
  readonly digest: () => string;
  /** Each peer's servers; empty where nobody is to be told. */
  readonly peers: () => readonly (readonly Endpoint[])[];
}

const retryMsMax = 15_000;

/**
 * What this cluster says of itself for one zone, as the zone `_localtargets.<zone>` with a serial of its own.
 *
 * The serial moves only when that content changes, never back, and is stored with the content's digest before it is
 * published; so equal serials mean equal content, over restarts too. Peers are told of each new serial, and once after a
 * start; a peer's change never makes us tell anything.
 */
export class LocalView {
  readonly #runtime: Pick<Runtime, "clock" | "log">;
  readonly #options: LocalViewOptions;
  readonly #origin: string;
  readonly #changed = new Wakeup();
  readonly #tasks: TaskScope;
  #stored: StoredSerial | undefined;
  #zone: Zone | undefined;
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

  /** The zone's `localtargets-` content may have changed. */
  touch(): void {
    this.#changed.wake();
  }

  close(): void {
    this.#tasks.abort(new Error("the zone is gone"));
    this.#options.authority.removeZone(this.#origin);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let failures = 0;
    let isLoaded = false;
    while (true) {
      await this.#changed.wait(signal);
      if (signal.aborted) return;
      try {
        if (!isLoaded) this.#stored = await this.#options.store.load(this.#options.zone, signal);
        isLoaded = true;
        await this.#publish(signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        // What was read may be stale: another writer, or a write whose answer was lost.
        isLoaded = false;
        this.#runtime.log.warn("storing the serial of the own view failed; trying again", {
          zone: this.#origin,
          error,
        });
        await this.#runtime.clock.sleep(Math.min(retryMsMax, 100 * 2 ** failures), signal).catch(() => {});
        this.#changed.wake();
      }
    }
  }

  async #publish(signal: AbortSignal): Promise<void> {
    const digest = this.#options.digest();
    let current = this.#stored;
    if (current?.digest !== digest) {
      current = { serial: serialAfter(current, this.#zone?.serial, this.#runtime.clock.now()), digest };
      await this.#options.store.store(this.#options.zone, current, signal);
      this.#stored = current;
    }
    const { serial } = current;
    if (this.#zone?.serial === serial) return;
    if (this.#zone === undefined) {
      this.#zone = this.#newZone(serial);
      this.#options.authority.setZone(this.#zone);
    } else this.#zone.setSoa({ serial });
    this.#tellPeers();
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
    const notifying = this.#tasks.child();
    this.#notifying = notifying;
    const { dnsClient, peers } = this.#options;
    const { soa } = this.#zone!;
    for (const servers of peers()) {
      if (servers.length === 0) continue;
      notifying.start("notify", async (signal) => {
        await dnsClient.notify({ zone: this.#origin, soa, servers, signal });
      });
    }
  }
}

/** One more than the newest known; the first is the time, so that a lost store never goes back. */
function serialAfter(stored: StoredSerial | undefined, served: number | undefined, now: number): number {
  const last = stored?.serial ?? served;
  return last === undefined ? Math.floor(now / 1000) >>> 0 : nextSerial(last);
}
