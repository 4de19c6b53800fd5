import { DnsClient, type DnsQuestion, type Verdict } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";

export class RememberingClient extends DnsClient {
  readonly #last = new Map<string, Verdict>();

  override async query(question: DnsQuestion): Promise<Verdict> {
    const key = `${question.name} ${question.type} ${question.servers[0]?.address}`;
    const verdict = await super.query(question);
    if (verdict.state === "answered") this.#last.set(key, verdict);
    return verdict.state === "unreachable" ? (this.#last.get(key) ?? verdict) : verdict;
  }
}

export class EmptyHandedClient extends DnsClient {
  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const [server] = question.servers;
    if (verdict.state === "answered" || server === undefined) return verdict;
    const nothing = { records: [], authority: [], additional: [] };
    return { state: "answered", outcome: "nxdomain", authoritative: true, server, ...nothing };
  }
}

export class ForgetfulClient extends DnsClient {
  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const isPeers = question.name.startsWith("localtargets-");
    if (!isPeers || verdict.state !== "answered" || verdict.records.length < 2) return verdict;
    return { ...verdict, records: verdict.records.slice(0, -1) };
  }
}

export class LateHearingClient extends DnsClient {
  readonly #heard = new Set<string>();

  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const key = `${question.name} ${question.servers[0]?.address}`;
    const isFirst = question.name.startsWith("localtargets-") && !this.#heard.has(key);
    this.#heard.add(key);
    return isFirst && verdict.state === "answered" ? { ...verdict, outcome: "nodata", records: [] } : verdict;
  }
}

/** Backs off without a bound, as is right nearly everywhere else. */
export class BackingOffClient extends DnsClient {
  readonly #runtime: Runtime;
  readonly #until = new Map<string, { untilMs: number; pauseMs: number }>();

  constructor(runtime: Runtime, options: { readonly from: string }) {
    super(runtime, options);
    this.#runtime = runtime;
  }

  override async query(question: DnsQuestion): Promise<Verdict> {
    const key = question.servers[0]?.address ?? "";
    const nowMs = this.#runtime.clock.monotonicMs();
    const pause = this.#until.get(key);
    if (pause !== undefined && nowMs < pause.untilMs) return { state: "unreachable", reason: "left alone" };
    const verdict = await super.query(question);
    if (verdict.state !== "unreachable") this.#until.delete(key);
    else {
      const pauseMs = Math.min(120_000, (pause?.pauseMs ?? 5_000) * 2);
      this.#until.set(key, { pauseMs, untilMs: nowMs + pauseMs });
    }
    return verdict;
  }
}

export class SingleFileClient extends DnsClient {
  #line: Promise<unknown> = Promise.resolve();

  override query(question: DnsQuestion): Promise<Verdict> {
    const result = this.#line.then(() => super.query(question));
    this.#line = result.catch(() => {});
    return result;
  }
}

/** Believes only servers that say they are authoritative; k8gb's never do. */
export class StrictClient extends DnsClient {
  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const isPeers = question.name.startsWith("localtargets-");
    return isPeers && verdict.state === "answered" && !verdict.authoritative
      ? { state: "unreachable", reason: "not authoritative" }
      : verdict;
  }
}

/** Asks one address of a peer only, as k8gb does, if the first and not the last. */
export class OneAddressClient extends DnsClient {
  override query(question: DnsQuestion): Promise<Verdict> {
    const { address } = question.servers[0] ?? { address: "" };
    return super.query({
      ...question,
      servers: question.servers.filter((server) => server.address === address),
    });
  }
}

/** Goes on telling the first serial that each server told of a view. */
export class StuckSerialClient extends DnsClient {
  readonly #first = new Map<string, Verdict>();

  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    if (question.type !== "SOA" || verdict.state !== "answered") return verdict;
    const key = `${question.name} ${question.key === undefined} ${question.servers[0]?.address}`;
    const first = this.#first.get(key) ?? verdict;
    this.#first.set(key, first);
    return first;
  }
}
