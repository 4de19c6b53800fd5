import { composeMessage, type Message, type MessageRecord } from "@meridian/dns";
import type { Random } from "@meridian/runtime";
import { shuffled } from "../fleet/draws.ts";
import type { K8gbEndpoint } from "./k8gb-endpoint.ts";

/** What k8gb's CoreDNS has in its cache. */
export interface PluginContent {
  /** Until the cache is filled everything is SERVFAIL. */
  readonly synced: boolean;
  readonly zones: readonly string[];
  /** The entries of all objects, in the order in which they are read. */
  readonly endpoints: Iterable<K8gbEndpoint>;
  /** The field of the GeoIP database that targets and clients are compared by. */
  readonly siteOf: (address: string) => string | undefined;
  /** The hour, as a serial. */
  readonly serial: number;
}

interface Found {
  readonly targets: readonly string[];
  /** Of the entry that is spelled as the question is; `undefined` where none is. */
  readonly exact: K8gbEndpoint | undefined;
}

const servFail = 2;
const nxDomain = 3;
const refused = 5;
const lowTtlSeconds = 60;
const highTtlSeconds = 30;
const plainOctetsMax = 512;

/**
 * Answers as CoreDNS with k8gb's plugin: never authoritative, NXDOMAIN for a name without targets, TTL and labels only where
 * the case of the question is that of the object, types ignored.
 *
 * @returns the octets, cut to what the question allows, with TC where something was left out
 */
export function answerAsPlugin(
  content: PluginContent,
  query: Message,
  of: { readonly client: string; readonly random: Random },
): Uint8Array {
  const [question] = query.questions;
  const name = question?.name ?? "";
  const zone = longestZone(name, content.zones);
  const reply = (rcode: number, parts: Partial<Message> = {}): Uint8Array =>
    respond(query, { ...parts, rcode });
  if (question === undefined || zone === undefined) return reply(refused);
  if (!content.synced) return reply(servFail);
  const soa = soaOf(zone, content.serial);
  if (sameName(name, zone)) return answerApex(zone, { soa, type: question.type, reply });
  if (isBelow(name, `dns.${zone}`))
    return reply(sameName(name, `dns.${zone}`) || sameName(name, `ns1.dns.${zone}`) ? 0 : nxDomain, {
      authority: [soa],
    });

  const found = find(name, content.endpoints);
  if (found === undefined || found.targets.length === 0) return reply(nxDomain, { authority: [soa] });
  const ttl = found.exact?.recordTtlSeconds || lowTtlSeconds;
  if (question.type === "TXT") {
    const data = found.targets.map((target) => `"${target}"`).join(" ");
    return reply(0, { answers: [{ name: name.toLowerCase(), type: "TXT", class: 1, ttl, data }] });
  }
  if (question.type !== "A") return reply(0, { authority: [soa] });
  const labels = found.exact?.labels ?? {};
  const near =
    labels["strategy"] === "geoip" ? nearest(found.targets, content.siteOf, of.client) : found.targets;
  const ordered = inOrder([...new Set(near)], labels, of.random);
  const answers = ordered.map((data) => ({ name: name.toLowerCase(), type: "A", class: 1, ttl, data }));
  return reply(0, { answers });
}

function answerApex(
  zone: string,
  of: {
    readonly soa: MessageRecord;
    readonly type: string;
    readonly reply: (rcode: number, parts: Partial<Message>) => Uint8Array;
  },
): Uint8Array {
  const ns = { name: zone, type: "NS", class: 1, ttl: highTtlSeconds, data: `ns1.dns.${zone}.` };
  if (of.type === "SOA") return of.reply(0, { answers: [of.soa], authority: [ns] });
  if (of.type === "NS") return of.reply(0, { answers: [ns] });
  return of.reply(0, { authority: [of.soa] });
}

/** All spellings of a name together; of several entries of one spelling the last. */
function find(name: string, endpoints: Iterable<K8gbEndpoint>): Found | undefined {
  const bySpelling = new Map<string, K8gbEndpoint>();
  for (const endpoint of endpoints)
    if (sameName(endpoint.dnsName, name)) bySpelling.set(endpoint.dnsName, endpoint);
  if (bySpelling.size === 0) return undefined;
  return {
    targets: [...bySpelling.values()].flatMap(({ targets }) => targets),
    exact: bySpelling.get(withoutDot(name)),
  };
}

function nearest(
  targets: readonly string[],
  siteOf: PluginContent["siteOf"],
  client: string,
): readonly string[] {
  const site = siteOf(client);
  const near = site === undefined ? [] : targets.filter((target) => siteOf(target) === site);
  return near.length > 0 ? near : targets;
}

/** The stage `loadbalance weight`: shuffles plain round robin, and draws groups by weight. */
function inOrder(
  targets: readonly string[],
  labels: Readonly<Record<string, string>>,
  random: Random,
): readonly string[] {
  const keys = Object.keys(labels);
  if (keys.length === 1 && labels["strategy"]?.toLowerCase() === "roundrobin")
    return shuffled(random, targets);
  const groups = new Map<string, { weight: number; targets: string[] }>();
  for (const key of keys.filter((each) => each.startsWith("weight")).sort()) {
    const parts = key.split("-");
    const weight = Number(parts[3]);
    // A geo tag with a dash gives one part too many, and turns all weighting off.
    if (parts.length !== 4 || !Number.isInteger(weight)) return targets;
    const group = groups.get(`${parts[1]} ${weight}`) ?? { weight, targets: [] };
    group.targets.push(labels[key]!);
    groups.set(`${parts[1]} ${weight}`, group);
  }
  const labelled = [...groups.values()].flatMap((group) => group.targets);
  if (groups.size === 0 || labelled.toSorted().join() !== targets.toSorted().join()) return targets;
  return drawn([...groups.values()], random).flatMap((group) => shuffled(random, group.targets));
}

function drawn<G extends { readonly weight: number }>(groups: readonly G[], random: Random): readonly G[] {
  const left = groups.filter(({ weight }) => weight > 0);
  const order: G[] = [];
  while (left.length > 0) {
    let rest = random.float() * left.reduce((sum, { weight }) => sum + weight, 0);
    const index = left.findIndex(({ weight }) => (rest -= weight) < 0);
    order.push(...left.splice(Math.max(0, index), 1));
  }
  return [...order, ...groups.filter(({ weight }) => weight === 0)];
}

/** The header is the question's; AA and RA are never set. An OPT record is answered with one. */
function respond(query: Message, parts: Partial<Message>): Uint8Array {
  const { id, opcode, recursionDesired, checkingDisabled, questions, edns } = query;
  const limit = Math.max(plainOctetsMax, edns?.payloadSize ?? 0);
  const head = { id, opcode, recursionDesired, checkingDisabled, questions, response: true };
  const opt = edns === undefined ? {} : { edns: { ...edns, options: [] } };
  const answers = [...(parts.answers ?? [])];
  for (let truncated = false; ; truncated = true) {
    const octets = composeMessage({ ...head, ...opt, ...parts, answers, truncated });
    if (octets.length <= limit || answers.length === 0) return octets;
    answers.pop();
  }
}

function soaOf(zone: string, serial: number): MessageRecord {
  const data = `ns1.dns.${zone}. hostmaster.dns.${zone}. ${serial} 7200 1800 86400 ${highTtlSeconds}`;
  return { name: zone, type: "SOA", class: 1, ttl: highTtlSeconds, data };
}

function longestZone(name: string, zones: readonly string[]): string | undefined {
  return zones.filter((zone) => isBelow(name, zone)).toSorted((a, b) => b.length - a.length)[0];
}

function isBelow(name: string, zone: string): boolean {
  const folded = withoutDot(name).toLowerCase();
  return folded === zone || folded.endsWith(`.${zone}`);
}

function sameName(a: string, b: string): boolean {
  return withoutDot(a).toLowerCase() === withoutDot(b).toLowerCase();
}

function withoutDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
