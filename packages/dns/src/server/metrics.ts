import { Counter, Gauge, type Registry } from "prom-client";
import { rcodeToText } from "../message/codes.ts";
import type { GeoStatus } from "../geo/geo-source.ts";
import type { Authority } from "./authority.ts";
import type { QueryLog } from "./query-log.ts";
import { responseClassNames, type RateLimit } from "./rate-limit.ts";
import type { DnsServer } from "./serve-dns.ts";

/** Whose numbers are told. What is absent has no series. */
export interface DnsMetricsSources {
  readonly authority: Authority;
  readonly server: Pick<DnsServer, "counters">;
  readonly rateLimit?: RateLimit;
  readonly queryLog?: QueryLog;
  /** Numbers of the threads that answer datagrams, summed (`UdpWorkers`). */
  readonly threads?: () => ThreadCounters;
  /** Of a `GeoSource`. */
  readonly geo?: () => GeoStatus;
  /** The tags of weighted groups (`WeightedGroup`) whose answers are told of. */
  readonly geoTags?: () => Iterable<string>;
  readonly parts?: PartCounters;
}

/** Parts beside the server, each with counters by outcome. */
export interface PartCounters {
  /** An `UpdateServer`. */
  readonly updates?: Counted<"applied" | "unchanged" | "refused">;
  /** A `TransferServer`. */
  readonly transfersOut?: Counted<"whole" | "incremental" | "current" | "refused" | "broken">;
  /** A `ZoneTransferClient`. */
  readonly transfersIn?: Counted<"whole" | "incremental" | "current" | "failed">;
  /** A `ZoneNotifier`. */
  readonly notifier?: Counted<"acknowledged" | "rejected" | "unanswered">;
  /** The main thread's `AnswerSigner`. */
  readonly signer?: Counted<"made" | "reused" | "refused">;
}

interface Counted<Outcome extends string> {
  readonly counters: Readonly<Record<Outcome, number>>;
}

/** What happened to datagrams in threads, since the start. */
export interface ThreadCounters {
  readonly received: number;
  readonly answered: number;
  readonly unsendable: number;
  readonly deferred: number;
  readonly deferredLost: number;
}

/**
 * Registers the metrics of a DNS server, all named `meridian_dns_*`. They are read when they are scraped, so answering pays
 * nothing for them; their labels are transports, response codes, classes and zones served, never names that clients ask.
 */
export function registerDnsMetrics(registry: Registry, sources: DnsMetricsSources): void {
  const { authority, server, rateLimit, queryLog, threads, geo, geoTags, parts } = sources;
  const metrics = new ScrapedMetrics(registry);

  metrics.counter("meridian_dns_queries_total", "Messages answered.", () => authority.counters.queries);
  metrics.counter("meridian_dns_questions_total", "Questions by stream transport.", {
    label: "transport",
    values: () => [
      ["tcp", server.counters.tcpQuestions],
      ["tls", server.counters.tlsQuestions],
      ["https", server.counters.httpsQuestions],
    ],
  });
  metrics.counter("meridian_dns_responses_total", "Answers by response code.", {
    label: "rcode",
    // Few of the codes ever occur; those that did not have no series.
    values: () =>
      [...authority.counters.rcodes]
        .map((count, rcode) => [rcodeToText(rcode), count] as const)
        .filter(([, count]) => count > 0),
  });
  metrics.counter("meridian_dns_question_types_total", "Answers by the type asked for.", {
    label: "type",
    values: () => [...authority.counters.types],
  });
  metrics.counter(
    "meridian_dns_cookies_total",
    "Server cookies that clients sent, by what they were worth.",
    {
      label: "verdict",
      values: () => [
        ["valid", authority.counters.cookiesValid],
        ["bad", authority.counters.cookiesBad],
      ],
    },
  );
  metrics.counter(
    "meridian_dns_dropped_total",
    "Messages that get no answer: headers cut short, answers, ports that would answer back.",
    () => authority.counters.dropped,
  );
  metrics.counter("meridian_dns_truncated_total", "Answers with TC.", () => authority.counters.truncated);
  metrics.counter("meridian_dns_notifies_total", "NOTIFY messages taken.", () => authority.counters.notifies);
  metrics.counter(
    "meridian_dns_faults_total",
    "Messages answered SERVFAIL since answering them threw.",
    () => authority.counters.faults,
  );
  metrics.counter(
    "meridian_dns_udp_requests_lost_total",
    "Datagrams lost since too many that need more than a lookup were under way.",
    () => server.counters.udpRequestsLost,
  );
  metrics.counter(
    "meridian_dns_udp_answers_lost_total",
    "Answers of the main thread lost since too many waited for the network to take them.",
    () => server.counters.udpAnswersLost,
  );
  metrics.gauge("meridian_dns_zone_serial", "Serial of each zone served.", {
    label: "zone",
    values: () => authority.zones.map((zone) => [zone.origin, zone.serial]),
  });
  metrics.gauge(
    "meridian_dns_tcp_connections",
    "TCP and TLS connections open.",
    () => server.counters.tcpOpen,
  );
  metrics.counter(
    "meridian_dns_tcp_connections_total",
    "TCP and TLS connections accepted.",
    () => server.counters.tcpConnections,
  );
  metrics.counter("meridian_dns_tcp_closed_total", "TCP and TLS connections broken off, by reason.", {
    label: "reason",
    values: () => [
      ["evicted", server.counters.tcpEvicted],
      ["expired", server.counters.tcpExpired],
      ["reset", server.counters.tcpReset],
    ],
  });
  if (rateLimit !== undefined) registerRateLimit(metrics, rateLimit);
  if (threads !== undefined) {
    metrics.counter("meridian_dns_thread_datagrams_total", "Datagrams of answering threads, by event.", {
      label: "event",
      values: () => {
        const { received, answered, unsendable, deferred, deferredLost } = threads();
        return Object.entries({ received, answered, unsendable, deferred, deferred_lost: deferredLost });
      },
    });
  }
  if (geo !== undefined) registerGeo(metrics, geo);
  if (geoTags !== undefined) registerDrawn(metrics, authority, geoTags);
  if (parts !== undefined) registerParts(metrics, parts);
  if (queryLog !== undefined) {
    metrics.counter("meridian_dns_query_log_lines_total", "Lines of the query log, by what became of them.", {
      label: "outcome",
      values: () => [
        ["written", queryLog.counters.written],
        ["lost", queryLog.counters.lost],
      ],
    });
  }
}

function registerParts(metrics: ScrapedMetrics, parts: PartCounters): void {
  const { updates, transfersOut, transfersIn, notifier, signer } = parts;
  const register = <Outcome extends string>(
    [name, help]: readonly [name: string, help: string],
    part: Counted<Outcome> | undefined,
    outcomes: readonly Outcome[],
  ): void => {
    if (part === undefined) return;
    const values = (): (readonly [string, number])[] =>
      outcomes.map((outcome) => [outcome, part.counters[outcome]]);
    metrics.counter(name, help, { label: "outcome", values });
  };
  register(["meridian_dns_updates_total", "Dynamic updates, by what became of them."], updates, [
    "applied",
    "unchanged",
    "refused",
  ]);
  register(["meridian_dns_transfers_out_total", "Transfers that others asked for."], transfersOut, [
    "whole",
    "incremental",
    "current",
    "refused",
    "broken",
  ]);
  register(["meridian_dns_transfers_in_total", "Transfers asked of primaries."], transfersIn, [
    "whole",
    "incremental",
    "current",
    "failed",
  ]);
  register(["meridian_dns_notifies_sent_total", "Changes that other servers were told of."], notifier, [
    "acknowledged",
    "rejected",
    "unanswered",
  ]);
  register(
    [
      "meridian_dns_signatures_total",
      "Signatures of the main thread, which answers streams and what threads leave to it; refused are answers.",
    ],
    signer,
    ["made", "reused", "refused"],
  );
}

function registerGeo(metrics: ScrapedMetrics, geo: () => GeoStatus): void {
  metrics.gauge(
    "meridian_dns_geo_database_built_seconds",
    "When the geo database in use was made, since the epoch; 0 where there is none.",
    () => geo().databaseBuildEpochSeconds ?? 0,
  );
  metrics.gauge(
    "meridian_dns_geo_map_entries",
    "Networks and places of the geo map in use.",
    () => geo().mapEntries,
  );
  metrics.gauge("meridian_dns_geo_problems", "What is wrong with the geo database and map, by reason.", {
    label: "reason",
    values: () => geo().problems.map(({ reason }) => [reason, 1]),
  });
}

function registerDrawn(metrics: ScrapedMetrics, authority: Authority, geoTags: () => Iterable<string>): void {
  metrics.counter("meridian_dns_weighted_answers_total", "Answers by the geo tag that weights drew.", {
    label: "geotag",
    values: () => {
      const others = authority.drawnFor("");
      const known = [...new Set(geoTags())].map((tag) => [tag, authority.drawnFor(tag)] as const);
      return others === 0 ? known : [...known, ["other", others] as const];
    },
  });
}

function registerRateLimit(metrics: ScrapedMetrics, rateLimit: RateLimit): void {
  for (const outcome of ["slipped", "dropped"] as const) {
    metrics.counter(`meridian_dns_rate_limit_${outcome}_total`, `Answers ${outcome} by the rate limit.`, {
      label: "class",
      values: () => responseClassNames.map((name, kind) => [name, rateLimit.counters[outcome][kind] ?? 0]),
    });
  }
}

type Values =
  (() => number) | { readonly label: string; readonly values: () => (readonly [string, number])[] };

/** Metrics whose values are those of other counters at the moment of the scrape. */
class ScrapedMetrics {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter(name: string, help: string, values: Values): void {
    const counter = new Counter({
      name,
      help,
      labelNames: labelsOf(values),
      registers: [this.#registry],
      collect: () => {
        // A counter of this library only counts up from what it has; what it had is the last scrape.
        counter.reset();
        for (const [labels, value] of seriesOf(values)) counter.inc(labels, value);
      },
    });
  }

  gauge(name: string, help: string, values: Values): void {
    const gauge = new Gauge({
      name,
      help,
      labelNames: labelsOf(values),
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        for (const [labels, value] of seriesOf(values)) gauge.set(labels, value);
      },
    });
  }
}

function labelsOf(values: Values): string[] {
  return typeof values === "function" ? [] : [values.label];
}

function seriesOf(values: Values): (readonly [Record<string, string>, number])[] {
  if (typeof values === "function") return [[{}, values()]];
  return values.values().map(([label, value]) => [{ [values.label]: label }, value]);
}
