import { formatEndpoint, type Endpoint, type Runtime } from "@meridian/runtime";
import type { DnsClient } from "../client/dns-client.ts";
import type { TsigKey } from "../tsig/tsig-key.ts";
import type { ZoneDelta } from "../zone/wire-record.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";

/** A server that is told of changes. */
export interface NotifyTarget extends Endpoint {
  /** Signs the NOTIFY. */
  readonly key?: TsigKey;
}

/** A zone whose changes are told. */
export interface NotifiedZone {
  readonly origin: string;
  readonly soa: ZoneSoa;
  readonly ready: boolean;
  observe(listener: (delta: ZoneDelta) => void): Disposable;
}

/** Numbers since the start; they only rise. */
export interface NotifierCounters {
  /** Zones told to a server, repeats not counted. */
  sent: number;
  /** Of them, those that a server replied to with NOERROR, and with another rcode. */
  acknowledged: number;
  rejected: number;
  /** Given up after the last repeat. */
  unanswered: number;
}

interface Telling {
  readonly zone: NotifiedZone;
  readonly target: NotifyTarget;
  place: "idle" | "paused" | "queued" | "sending";
  sentMs: number;
  /** Ends what is going on: the pause, or the repeats of a serial that is old now. */
  cancel: () => void;
}

/** One zone is told to one server at most this often; what changes meanwhile is told with the next. */
const gapMs = 1_000;

/**
 * Tells servers of each serial step of the zones that it follows (RFC 1996), at once and again after 1, 2, 4, 8 and 15 s
 * until there is any reply. However many zones change at once, the messages leave at a pace.
 */
export class ZoneNotifier implements AsyncDisposable {
  readonly counters: NotifierCounters = { sent: 0, acknowledged: 0, rejected: 0, unanswered: 0 };
  readonly #runtime: Runtime;
  readonly #client: DnsClient;
  readonly #paceMs: number;
  readonly #queue = new Set<Telling>();
  readonly #sending = new Set<Promise<void>>();
  readonly #followed = new Set<Disposable>();
  #nextMs = 0;
  #cancelPump: (() => void) | undefined;

  /** @param options.perSecondMax messages, repeats not counted. Default 100 */
  constructor(runtime: Runtime, options: { readonly client: DnsClient; readonly perSecondMax?: number }) {
    this.#runtime = runtime;
    this.#client = options.client;
    this.#paceMs = 1_000 / (options.perSecondMax ?? 100);
  }

  /** Tells the targets of the zone as it is, and from now on of each change, until the result is disposed of. */
  follow(zone: NotifiedZone, targets: readonly NotifyTarget[]): Disposable {
    const tellings = targets.map((target): Telling => ({
      zone,
      target,
      place: "idle",
      sentMs: Number.NEGATIVE_INFINITY,
      cancel: () => {},
    }));
    const tell = (): void => {
      for (const telling of tellings) this.#tell(telling);
    };
    const observing = zone.observe(tell);
    const following = {
      [Symbol.dispose]: () => {
        observing[Symbol.dispose]();
        this.#followed.delete(following);
        for (const telling of tellings) {
          this.#queue.delete(telling);
          telling.cancel();
        }
      },
    };
    this.#followed.add(following);
    tell();
    return following;
  }

  /** Follows nothing any more and ends the repeats. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const following of this.#followed) following[Symbol.dispose]();
    this.#cancelPump?.();
    await Promise.all(this.#sending);
  }

  #tell(telling: Telling): void {
    if (telling.place === "paused" || telling.place === "queued") return;
    if (telling.place === "sending") telling.cancel();
    const { clock } = this.#runtime;
    telling.place = "paused";
    // A pause of none, too, so that a change of many zones is over before the first message.
    telling.cancel = clock.after(Math.max(0, telling.sentMs + gapMs - clock.monotonicMs()), () => {
      telling.place = "queued";
      this.#queue.add(telling);
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#cancelPump !== undefined || this.#queue.size === 0) return;
    const { clock } = this.#runtime;
    this.#nextMs = Math.max(this.#nextMs, clock.monotonicMs());
    this.#cancelPump = clock.after(this.#nextMs - clock.monotonicMs(), () => {
      this.#cancelPump = undefined;
      const [next] = this.#queue;
      if (next === undefined) return;
      this.#queue.delete(next);
      this.#nextMs += this.#paceMs;
      if (next.zone.ready) this.#track(this.#send(next));
      else next.place = "idle";
      this.#pump();
    });
  }

  #track(sending: Promise<void>): void {
    this.#sending.add(sending);
    void sending.finally(() => this.#sending.delete(sending));
  }

  async #send(telling: Telling): Promise<void> {
    const { zone, target } = telling;
    const stop = new AbortController();
    const cancel = (): void => stop.abort(new Error("there is newer to tell"));
    telling.place = "sending";
    telling.sentMs = this.#runtime.clock.monotonicMs();
    telling.cancel = cancel;
    this.counters.sent++;
    try {
      const [result] = await this.#client.notify({
        zone: zone.origin,
        soa: zone.soa,
        servers: [target],
        ...(target.key === undefined ? {} : { key: target.key }),
        signal: stop.signal,
      });
      if (result?.acknowledged !== true) this.counters.unanswered++;
      else if (result.rcode === "NOERROR") this.counters.acknowledged++;
      else this.counters.rejected++;
      if (result?.rcode !== "NOERROR") {
        this.#runtime.log.debug("a server did not take a NOTIFY", {
          zone: zone.origin,
          server: formatEndpoint(target),
          rcode: result?.rcode,
        });
      }
    } catch (error) {
      if (!stop.signal.aborted)
        this.#runtime.log.warn("a NOTIFY could not be sent", { zone: zone.origin, error });
    }
    // Otherwise the next telling has begun already.
    if (telling.cancel === cancel) telling.place = "idle";
  }
}
