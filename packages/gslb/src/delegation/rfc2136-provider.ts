import { findPrimary, updateZone, type DnsClient, type TsigKey, type UpdateVerdict } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { ServerAddress } from "../config/environment-reader.ts";
import { familyOf, hasTargets } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import { lookUpAddresses } from "../references/address-book.ts";
import type { DelegatedZone, DelegationProvider } from "./delegation-provider.ts";
import { delegationSet, parentRecords, type ParentQuestion } from "./parent-records.ts";
import { ensureUpdate, withdrawUpdate, type ParentRecords, type ParentUpdate } from "./parent-update.ts";
import type { UpdateKeys } from "./update-keys.ts";

/** Who takes updates of parent zones, and by which keys. */
export interface Rfc2136ProviderOptions {
  readonly dnsClient: DnsClient;
  /** The primaries; where there are none, the SOA of the parent zone names it. */
  readonly servers: readonly ServerAddress[];
  /** Resolvers, or servers of the parent, that are asked for names of servers and for SOAs. */
  readonly edgeServers: () => readonly Endpoint[];
  readonly keys: Pick<UpdateKeys, "keyFor">;
}

/** For each question and each update; writing to disk included. */
const deadlineMs = 5_000;
/** Clusters that change a delegation at the same moment meet no more often than this. */
const roundsMax = 4;
const primaryPort = 53;

/**
 * Writes the delegation into parent zones by dynamic update, signed by TSIG. Each cluster adds and removes its own NS record
 * and the addresses of its own server's name, and nothing else, so clusters join and leave without a word to the others,
 * and what a dead one left stays until it is taken out by hand.
 */
export class Rfc2136Provider implements DelegationProvider {
  readonly name: string = "RFC 2136";
  readonly #options: Rfc2136ProviderOptions;

  constructor(options: Rfc2136ProviderOptions) {
    this.#options = options;
  }

  async ensure(zone: DelegatedZone, signal: AbortSignal): Promise<void> {
    // A name without an address would send resolvers nowhere; one whose address nobody knows now keeps what it has.
    if (!hasTargets(zone.ownAddresses)) return;
    await this.#change(zone, { plan: ensureUpdate, signal });
  }

  async withdraw(zone: DelegatedZone, signal: AbortSignal): Promise<"withdrawn" | "waiting"> {
    await this.#change(zone, { plan: withdrawUpdate, signal });
    return "withdrawn";
  }

  async members(zone: ZonePair, signal: AbortSignal): Promise<readonly string[]> {
    const question = await this.#questionFor(zone.parentZone, signal);
    const set = await delegationSet(zone, question);
    if (set === undefined)
      throw new Error(
        `the primary of parent zone ${zone.parentZone} does not tell whom it delegates ${zone.loadBalancedZone} to; let it be asked by this cluster`,
      );
    return set.data.toSorted();
  }

  async #change(
    zone: DelegatedZone,
    {
      plan,
      signal,
    }: {
      readonly plan: (zone: DelegatedZone, present: ParentRecords) => ParentUpdate | undefined;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    const question = await this.#questionFor(zone.parentZone, signal);
    for (let round = 1; ; round++) {
      const update = plan(zone, await parentRecords(zone, question));
      if (update === undefined) return;
      const verdict = await updateZone(this.#options.dnsClient, {
        ...update,
        zone: zone.parentZone,
        primary: { servers: question.servers },
        ...(question.key === undefined ? {} : { key: question.key }),
        ...{ deadlineMs, signal },
      });
      if (verdict.state === "applied") return;
      const isOvertaken = verdict.state === "unmet" && verdict.rcode === "NXRRSET";
      if (!isOvertaken || round === roundsMax) throw new Error(whyNot(zone, verdict, question.key));
    }
  }

  async #questionFor(parentZone: string, signal: AbortSignal): Promise<ParentQuestion> {
    const { dnsClient, keys } = this.#options;
    const [servers, key] = await Promise.all([this.#serversOf(parentZone, signal), keys.keyFor(parentZone)]);
    return { dnsClient, servers, key, deadlineMs, signal };
  }

  async #serversOf(parentZone: string, signal: AbortSignal): Promise<readonly Endpoint[]> {
    const { dnsClient, servers } = this.#options;
    const edgeServers = this.#options.edgeServers();
    if (servers.length === 0) {
      const found = await findPrimary(dnsClient, {
        ...{ zone: parentZone, servers: edgeServers, port: primaryPort, deadlineMs, signal },
      });
      if (found.servers !== undefined) return found.servers;
      throw new Error(`the primary of parent zone ${parentZone} cannot be found: ${found.reason}`);
    }
    const asked = { dnsClient, servers: edgeServers, deadlineMs, signal };
    const found = await Promise.all(
      servers.map(async ({ host, port }) => {
        if (familyOf(host) !== undefined) return [{ address: host, port }];
        const answer = await lookUpAddresses(canonicalName(host), asked);
        if (answer.state === "failed") return `${host} cannot be resolved: ${answer.verdict}`;
        return [...answer.targets.A, ...answer.targets.AAAA].map((address) => ({ address, port }));
      }),
    );
    const usable = found.flatMap((each) => (typeof each === "string" ? [] : each));
    if (usable.length > 0) return usable;
    const problems = found.filter((each) => typeof each === "string");
    throw new Error(
      `the primary of parent zone ${parentZone} cannot be reached: ${problems.join("; ") || "its name has no address"}`,
    );
  }
}

function whyNot(
  zone: DelegatedZone,
  verdict: Exclude<UpdateVerdict, { state: "applied" }>,
  key: TsigKey | undefined,
): string {
  const { parentZone, loadBalancedZone, ownNameServer } = zone;
  const by = key === undefined ? "without a key" : `by key ${key.name}`;
  const what = `cannot change parent zone ${parentZone} ${by}`;
  if (verdict.state === "unreachable") return `${what}: ${verdict.reason}`;
  const at = `${verdict.server.address}:${verdict.server.port}`;
  const rights = `NS of ${loadBalancedZone}, and A and AAAA of ${ownNameServer}`;
  switch (verdict.state) {
    case "unproved": {
      // Knot DNS says BADKEY also where the key may not change what it is about to.
      const claim = verdict.error === undefined ? "" : ` (${verdict.error})`;
      return `${what}: the reply of ${at} proves nothing, ${verdict.reason}${claim}; it must know the same key, and let it change ${rights}`;
    }
    case "unmet":
      return verdict.rcode === "YXRRSET"
        ? `${what}: ${at} has a CNAME at ${ownNameServer} or ${loadBalancedZone}; remove it`
        : `${what}: others change the delegation of ${loadBalancedZone} all the time (${verdict.rcode} of ${at})`;
    case "refused": {
      if (verdict.rcode === "REFUSED") return `${what}: ${at} refuses; let it change ${rights}`;
      const remedy = verdict.rcode === "NOTAUTH" ? "; it must be the primary of that zone" : "";
      return `${what}: ${at} answers ${verdict.rcode}${remedy}`;
    }
  }
}
