import type { Clock } from "@meridian/runtime";
import { rcode } from "../message/header.ts";
import type { RequestHandler, VerifiedRequest } from "../server/dns-request.ts";
import { congestedMs } from "../server/tcp-sessions.ts";
import { isNewerSerial } from "../zone/serial.ts";
import type { WireRecord, ZoneDelta, ZoneSnapshot } from "../zone/wire-record.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import { soaToRecord } from "./soa-record.ts";
import type { TransferPolicy } from "./transfer-policy.ts";
import {
  composeRefusal,
  plainOpt,
  readTransferRequest,
  type TransferQuestion,
  type TransferRefusal,
} from "./transfer-request.ts";
import { TransferSlots } from "./transfer-slots.ts";
import { TransferWriter, type TransferHead } from "./transfer-writer.ts";
import { condenseDeltas, ZoneJournal, type JournaledZone } from "./zone-journal.ts";

/** A zone as transfers see it. */
export interface TransferableZone extends JournaledZone {
  readonly origin: string;
  readonly serial: number;
  readonly soa: ZoneSoa;
  readonly ready: boolean;
  readonly nameCount: number;
  snapshot(): ZoneSnapshot;
}

/** Which zones may be had, by whom, and within which limits. */
export interface TransferServerOptions {
  readonly clock: Clock;
  /** The zone with exactly this origin (folded, no trailing dot); an `Authority` is one. */
  readonly zones: { zone(origin: string): TransferableZone | undefined };
  readonly policy: Pick<TransferPolicy, "allows">;
  /** What each zone's journal may hold; 0 answers every IXFR with the whole zone. Default 1 MiB. */
  readonly journalOctetsMax?: number;
  /** Transfers at a time, over all peers; more wait. Default 10. */
  readonly transfersMax?: number;
  /** A peer that takes no message for this long loses its transfer. Default 10,000, when its connection is closed, too. */
  readonly idleMs?: number;
  /** The longest that one transfer may last. Default one hour. */
  readonly totalMs?: number;
}

/** Numbers since the start; they only rise. */
export interface TransferCounters {
  /** Answered with a whole zone, with differences, with "you are up to date". */
  whole: number;
  incremental: number;
  current: number;
  refused: number;
  /** Begun and not finished: the peer left, was too slow, or a record was too long. */
  broken: number;
  octets: number;
}

const prohibited = 18;
const notReady = 14;
const waitingMax = 1_000;
/** How long packing may go on before other work has its turn. */
const sliceMs = 4;

/**
 * Gives zones away: AXFR (RFC 5936) and IXFR (RFC 1995), one transfer per zone and peer at a time.
 *
 * What goes out is every record of the zone, whatever policy would choose among them in an answer: a zone of balanced
 * names is transferred as its healthy view, not as one client's. A transfer is of one moment, however the zone changes
 * meanwhile. The journal of a zone begins with its first transfer.
 */
export class TransferServer {
  readonly counters: TransferCounters = {
    whole: 0,
    incremental: 0,
    current: 0,
    refused: 0,
    broken: 0,
    octets: 0,
  };
  /** Answers an AXFR or IXFR request. Throws when a transfer that has begun cannot go on: break the connection. */
  readonly answer: RequestHandler = (request) => this.#answer(request);
  readonly #clock: Clock;
  readonly #zones: TransferServerOptions["zones"];
  readonly #journalOctetsMax: number;
  readonly #idleMs: number;
  readonly #totalMs: number;
  readonly #slots: TransferSlots;
  readonly #journals = new WeakMap<TransferableZone, ZoneJournal>();
  #policy: Pick<TransferPolicy, "allows">;

  constructor(options: TransferServerOptions) {
    this.#clock = options.clock;
    this.#zones = options.zones;
    this.#policy = options.policy;
    this.#journalOctetsMax = options.journalOctetsMax ?? 1024 * 1024;
    this.#idleMs = options.idleMs ?? congestedMs;
    this.#totalMs = options.totalMs ?? 3_600_000;
    this.#slots = new TransferSlots({ max: options.transfersMax ?? 10, waitingMax });
  }

  /** Replaces who may have what; transfers that run go on. */
  setPolicy(policy: Pick<TransferPolicy, "allows">): void {
    this.#policy = policy;
  }

  async *#answer(request: VerifiedRequest): AsyncGenerator<Uint8Array, void, undefined> {
    const { message, client, key } = request;
    const overUdp = client.transport === "udp";
    const asked = readTransferRequest(message);
    if (typeof asked === "number") return yield this.#refuse(message, { rcode: asked });
    if (overUdp && asked.haveSerial === undefined)
      return yield this.#refuse(message, { rcode: rcode.notImp });
    const by = { key, address: client.address };
    if (!this.#policy.allows(asked.zone, by)) {
      request.onRefused?.("no rule gives the zone to this client or key");
      return yield this.#refuse(message, { rcode: rcode.refused, extendedError: prohibited });
    }
    const zone = this.#zones.zone(asked.origin);
    if (zone === undefined) {
      request.onRefused?.("the zone is not served here");
      return yield this.#refuse(message, { rcode: rcode.notAuth });
    }
    if (!zone.ready) return yield this.#refuse(message, { rcode: rcode.servFail, extendedError: notReady });
    if (overUdp) return yield this.#answerDatagram(zone, asked, request);
    const release = await this.#slots.acquire(
      `${asked.origin} ${client.address} ${key ?? ""}`,
      request.signal,
    );
    if (release === undefined) return yield this.#refuse(message, { rcode: rcode.servFail });
    yield* this.#stream(zone, asked, { request, release });
  }

  /** The differences where they fit into one datagram, else the SOA: the peer then comes over TCP (RFC 1995 §2). */
  #answerDatagram(zone: TransferableZone, asked: TransferQuestion, request: VerifiedRequest): Uint8Array {
    const octetsMax = Math.min(asked.payloadSize, request.octetsMax);
    const differences = this.#differences(zone, asked);
    const whole = differences === undefined ? undefined : packOne(head(asked, octetsMax), differences);
    if (whole !== undefined)
      return this.#count(whole.records === 1 ? "current" : "incremental", whole.message);
    const soaOnly = packOne(head(asked, octetsMax), [soaToRecord(zone.origin, zone.soa)]);
    if (soaOnly === undefined) return this.#refuse(request.message, { rcode: rcode.servFail });
    return this.#count("current", soaOnly.message);
  }

  /** The messages of a transfer over a stream, each packed when the one before it was taken. */
  async *#stream(
    zone: TransferableZone,
    asked: TransferQuestion,
    { request, release }: { readonly request: VerifiedRequest; readonly release: () => void },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const clock = this.#clock;
    const differences = this.#differences(zone, asked);
    const snapshot = differences === undefined ? zone.snapshot() : undefined;
    const deadline = clock.monotonicMs() + this.#totalMs;
    let open = true;
    const close = (): void => {
      if (!open) return;
      open = false;
      snapshot?.[Symbol.dispose]();
      release();
    };
    // While a message waits to be taken, the peer decides when this goes on, perhaps never: what is held is given up
    // without it.
    let stopWaiting: (() => void) | undefined;
    const wait = (): void => void (stopWaiting = clock.after(this.#idleMs, close));
    const goOn = (): void => {
      stopWaiting?.();
      request.signal.throwIfAborted();
      if (!open || clock.monotonicMs() > deadline) throw new Error("the peer took the transfer too slowly");
    };
    let done = false;
    let records = 0;
    let sliceEnd = clock.monotonicMs() + sliceMs;
    try {
      const writer = new TransferWriter(head(asked, request.octetsMax));
      for (const record of differences ?? wholeZone(snapshot!)) {
        const message = writer.add(record);
        records++;
        if (message === undefined) continue;
        this.counters.octets += message.length;
        wait();
        yield message;
        goOn();
        if (clock.monotonicMs() < sliceEnd) continue;
        await clock.sleep(0, request.signal);
        sliceEnd = clock.monotonicMs() + sliceMs;
      }
      done = true;
      const kind = differences === undefined ? "whole" : records === 1 ? "current" : "incremental";
      const last = this.#count(kind, writer.finish());
      close();
      yield last;
    } finally {
      stopWaiting?.();
      close();
      if (!done) this.counters.broken++;
    }
  }

  /** What an IXFR is answered with, SOA to SOA; `undefined`: the whole zone. */
  #differences(zone: TransferableZone, { haveSerial }: TransferQuestion): Iterable<WireRecord> | undefined {
    const journal = this.#journal(zone);
    if (haveSerial === undefined) return undefined;
    const soa = soaToRecord(zone.origin, zone.soa);
    // RFC 1995 §2: a peer whose serial is the same or newer is up to date.
    if (haveSerial === zone.serial || isNewerSerial(haveSerial, zone.serial)) return [soa];
    const deltas = journal.since(haveSerial);
    if (deltas === undefined) return undefined;
    const delta = condenseDeltas(deltas);
    // Differences that are more than the zone itself help nobody.
    if (delta.removed.length + delta.added.length > zone.nameCount + 4) return undefined;
    return incremental(soa, delta);
  }

  #journal(zone: TransferableZone): ZoneJournal {
    let journal = this.#journals.get(zone);
    if (journal === undefined) {
      journal = new ZoneJournal(zone, { octetsMax: this.#journalOctetsMax });
      this.#journals.set(zone, journal);
    }
    return journal;
  }

  #count(kind: "whole" | "incremental" | "current", message: Uint8Array): Uint8Array {
    this.counters[kind]++;
    this.counters.octets += message.length;
    return message;
  }

  #refuse(message: Uint8Array, refusal: TransferRefusal): Uint8Array {
    this.counters.refused++;
    return composeRefusal(message, refusal);
  }
}

/** The records of a whole transfer (RFC 5936 §2.2): the SOA is first and last, and nowhere between. */
export function* wholeZone(snapshot: ZoneSnapshot): IterableIterator<WireRecord> {
  let soa: WireRecord | undefined;
  for (const record of snapshot.records()) {
    soa ??= record;
    yield record;
  }
  yield soa!;
}

function* incremental(soa: WireRecord, { removed, added }: ZoneDelta): IterableIterator<WireRecord> {
  yield soa;
  yield* removed;
  yield* added;
  yield soa;
}

function head({ id, question, hasEdns }: TransferQuestion, octetsMax: number): TransferHead {
  return { id, question, octetsMax, ...(hasEdns ? { opt: plainOpt } : {}) };
}

/** The one message that holds all the records, or `undefined` where they do not fit. */
function packOne(
  messageHead: TransferHead,
  list: Iterable<WireRecord>,
): { readonly message: Uint8Array; readonly records: number } | undefined {
  const writer = new TransferWriter(messageHead);
  let records = 0;
  try {
    for (const record of list) {
      if (writer.add(record) !== undefined) return undefined;
      records++;
    }
  } catch {
    // A record that alone is too long.
    return undefined;
  }
  return { message: writer.finish(), records };
}
