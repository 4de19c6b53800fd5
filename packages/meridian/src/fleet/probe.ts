import type { KubeClient } from "@meridian/controller";
import type { DnsClient, Verdict } from "@meridian/dns";
import { NetworkError, type Endpoint } from "@meridian/runtime";

/** Whether a server answered as it should, and in one phrase what it said. */
export interface ProbeResult {
  readonly ok: boolean;
  readonly said: string;
}

const deadlineMs = 2_000;

/** Asks an API server whether it is ready. */
export async function probeApiServer(client: KubeClient): Promise<ProbeResult> {
  try {
    await client.getRaw("/readyz", { deadlineMs });
    return { ok: true, said: "ready" };
  } catch (error) {
    return { ok: false, said: describeRefusal(error) };
  }
}

/** The whole message tells what to do about one request; beside an address in a table only the reason is new. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof NetworkError ? `no answer (${error.cause.code})` : error.message;
}

/** Asks a DNS server for a zone's SOA record: it must answer with authority. */
export async function probeDnsServer(
  client: DnsClient,
  asked: { readonly server: Endpoint; readonly zone: string },
): Promise<ProbeResult> {
  const verdict = await client.query({ name: asked.zone, type: "SOA", servers: [asked.server], deadlineMs });
  const ok = verdict.state === "answered" && verdict.outcome === "data" && verdict.authoritative;
  return { ok, said: ok ? "answers" : describeVerdict(verdict) };
}

/** The A or AAAA records that one server gives for a name, sorted; or what it said instead. */
export async function askAddresses(
  client: DnsClient,
  asked: {
    readonly server: Endpoint;
    readonly name: string;
    readonly type: "A" | "AAAA";
    readonly deadlineMs?: number;
    /** Whom it is asked for. */
    readonly clientAddress?: string | undefined;
  },
): Promise<{ readonly addresses: readonly string[]; readonly verdict: Verdict }> {
  const { server, name, type, clientAddress } = asked;
  const verdict = await client.query({
    name,
    type,
    servers: [server],
    deadlineMs: asked.deadlineMs ?? deadlineMs,
    ...(clientAddress === undefined ? {} : { clientAddress }),
  });
  const records = verdict.state === "answered" ? verdict.records : [];
  return {
    addresses: records
      .filter((record) => record.type === type)
      .map(({ data }) => data)
      .sort(),
    verdict,
  };
}

/** What a server said, in one phrase. */
export function describeVerdict(verdict: Verdict): string {
  switch (verdict.state) {
    case "answered":
      return verdict.outcome === "nxdomain"
        ? "no such name"
        : verdict.outcome === "nodata"
          ? "no records"
          : verdict.outcome;
    case "refused":
      return verdict.rcode;
    case "unreachable":
      return `no answer (${verdict.reason})`;
  }
}
