import type { ExplainedPeer, Explanation } from "@meridian/gslb";
import { textTable } from "../cli/text-table.ts";

/** What one DNS server says about a host when it is really asked. */
export interface ServedAnswer {
  readonly type: "A" | "AAAA";
  readonly said: string;
  readonly addresses: readonly string[];
  /** Whom it was asked for, where that was said. */
  readonly client?: string;
}

/** How one cluster sees a host: its operator's explanation, or why there is none, and what its DNS server says. */
export interface ClusterExplanation {
  readonly name: string;
  readonly geoTag: string;
  readonly explanation?: Explanation;
  /** Why the operator could not be asked. */
  readonly unreachable?: string;
  readonly answers: readonly ServedAnswer[];
}

/** The explanations of all clusters as lines for a person; `now` dates what was seen when. */
export function explanationText(
  host: string,
  clusters: readonly ClusterExplanation[],
  now: number,
): readonly string[] {
  return [host, ...clusters.flatMap((cluster) => ["", ...clusterText(cluster, now)])];
}

/** That no cluster which could be asked knows a host, and which they know; `undefined` where one does, or none could be. */
export function unknownHostText(host: string, clusters: readonly ClusterExplanation[]): string | undefined {
  const told = clusters.flatMap(({ explanation }) => (explanation === undefined ? [] : [explanation]));
  if (told.length === 0 || told.some(({ knownHosts }) => knownHosts === undefined)) return undefined;
  const hosts = [...new Set(told.flatMap(({ knownHosts = [] }) => knownHosts))].sort();
  const list =
    hosts.length === 0 ? "there is no Gslb with a host yet" : `those that they know: ${hosts.join(", ")}`;
  return `no cluster knows ${host}; ${list}`;
}

function clusterText(cluster: ClusterExplanation, now: number): readonly string[] {
  const { explanation } = cluster;
  const rows =
    explanation === undefined
      ? [["operator", `cannot be asked: ${cluster.unreachable ?? "unknown"}`]]
      : explanationRows(explanation, now);
  const asked = (client: string | undefined): string => (client === undefined ? "DNS now" : `for ${client}`);
  const answers = cluster.answers.map((answer, at) => [
    at === 0 ? asked(answer.client) : "",
    answerText(answer),
  ]);
  return [`cluster ${cluster.name}`, ...textTable([...rows, ...answers], "  ")];
}

function explanationRows(explanation: Explanation, now: number): readonly string[][] {
  const rows: string[][] = [];
  if (explanation.problem !== undefined) rows.push(["problem", explanation.problem]);
  if (explanation.gslb !== undefined) {
    rows.push([
      "Gslb",
      `${explanation.gslb.namespace}/${explanation.gslb.name}, ${strategyText(explanation)}`,
    ]);
  }
  const { strategy } = explanation;
  if (strategy !== undefined && Object.keys(strategy.weight ?? {}).length > 0)
    rows.push(["weights", weightsText(strategy.dnsTtlSeconds)]);
  if (explanation.health !== undefined) {
    const services = explanation.health.services.map(
      (service) => `${service.namespace}/${service.name} ${service.state}, ${service.readyEndpoints} ready`,
    );
    rows.push([
      "health",
      `${explanation.health.verdict} (${explanation.health.policy} of: ${services.join("; ") || "none"})`,
    ]);
  }
  if (explanation.local !== undefined) {
    const { targets, published, source } = explanation.local;
    const addresses = addressesText([...targets.A, ...targets.AAAA]);
    rows.push(["local", `${addresses} from ${source}, ${published ? "published" : "not published"}`]);
  }
  for (const peer of explanation.peers) {
    for (const text of peerTexts(peer, now)) rows.push([`peer ${peer.geoTag}`, text]);
  }
  if (explanation.decision !== undefined) {
    const { picked, targets, held, at } = explanation.decision;
    const addresses = addressesText([...targets.A, ...targets.AAAA]);
    const waiting = held ? ", held until each peer was asked" : "";
    rows.push(["decision", `${picked.join(", ") || "nobody"}: ${addresses} (${agoText(at, now)}${waiting})`]);
    for (const reason of explanation.decision.reasons) rows.push(["", `${reason.geoTag}: ${reason.text}`]);
  }
  for (const warning of explanation.warnings) rows.push(["warning", warning]);
  return rows;
}

function strategyText(explanation: Explanation): string {
  const { strategy } = explanation;
  if (strategy === undefined) return "its strategy is invalid";
  const parts = [strategy.type];
  if (strategy.primaryGeoTag !== undefined) parts.push(`primary ${strategy.primaryGeoTag}`);
  for (const [tag, weight] of Object.entries(strategy.weight ?? {})) parts.push(`${tag} ${weight}`);
  parts.push(`TTL ${strategy.dnsTtlSeconds} s`);
  if (strategy.splitBrainThresholdSeconds > 0)
    parts.push(`unreachable peers believed ${strategy.splitBrainThresholdSeconds} s`);
  return parts.join(", ");
}

/** Why a loop of requests does not show the shares. */
function weightsText(ttlSeconds: number): string {
  const hint = ttlSeconds > 30 ? "; 30 s or less evens out sooner" : "";
  return `shares of many resolvers' questions: each keeps its answer for ${ttlSeconds} s, and so does a client${hint}`;
}

/** A family of which there never was anything is left out, unless nothing else would be said of the peer. */
function peerTexts(peer: ExplainedPeer, now: number): readonly string[] {
  const interesting = peer.views.filter((view) => view.family === "A" || view.targets.length > 0);
  return interesting.map((view) => {
    const when = view.asOf === undefined ? "never answered" : `answered ${agoText(view.asOf, now)}`;
    const since =
      view.unreachableSince === undefined ? "" : `, unreachable since ${agoText(view.unreachableSince, now)}`;
    const asked = peer.servers.length === 0 ? "no known server" : `asked at ${peer.servers.join(", ")}`;
    // The verdict of an answer names the server that gave it.
    const where = view.state === "fresh" || view.state === "empty" ? "" : `; ${asked}`;
    return `${view.state}: ${addressesText(view.targets)} (${view.family}, ${view.verdict}; ${when}${since}${where})`;
  });
}

function answerText(answer: ServedAnswer): string {
  return `${answer.type} ${answer.addresses.length > 0 ? answer.addresses.join(" ") : answer.said}`;
}

function addressesText(addresses: readonly string[]): string {
  return addresses.length === 0 ? "no addresses" : addresses.join(" ");
}

function agoText(time: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(time)) / 1000);
  if (seconds < 60) return `${seconds.toFixed(1)} s ago`;
  return seconds < 3600 ? `${Math.round(seconds / 60)} min ago` : time;
}
