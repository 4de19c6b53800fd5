import { deepEqual } from "@meridian/kube";
import { isUntold } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import type { DelegatedZone, DelegationProvider } from "./delegation-provider.ts";
import { WapiError, type WapiClient, type WapiSession } from "./wapi-client.ts";

/** What the provider writes with. */
export interface InfobloxProviderOptions {
  readonly client: Pick<WapiClient, "session">;
  /** `INFOBLOX_DNS_VIEW`: the view that is read and written. */
  readonly dnsView: string;
}

interface NameServer {
  readonly name: string;
  readonly address: string;
}

/** A `zone_delegated` object of the WAPI, as far as it is read. */
interface DelegatedObject {
  readonly ref: string;
  readonly delegateTo: readonly NameServer[];
}

/** How often a write is looked at and done again that another cluster's write overtook. */
const attemptsMax = 4;
const withdrawn = "withdrawn" as const;

/**
 * Keeps delegations as `zone_delegated` objects of an Infoblox grid, which all clusters share: each cluster replaces only the
 * entries of its own server. Since the grid knows no conditional write, each is read again and repeated where one was lost.
 *
 * What cannot be read is not absent: whatever fails leaves the grid as it is.
 */
export class InfobloxProvider implements DelegationProvider {
  readonly name: string = "Infoblox";
  readonly #options: InfobloxProviderOptions;

  constructor(options: InfobloxProviderOptions) {
    this.#options = options;
  }

  ensure(zone: DelegatedZone, signal: AbortSignal): Promise<void> {
    return this.#options.client.session(signal, async (send) => {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const stored = await this.#find(send, zone);
        const wanted = withOwn(zone, stored?.delegateTo ?? []);
        if (stored === undefined) await this.#create(send, zone, ownEntries(zone));
        else if (sameServers(stored.delegateTo, wanted)) return;
        else await this.#update(send, stored, wanted);
      }
      throw overtaken(zone);
    });
  }

  withdraw(zone: DelegatedZone, signal: AbortSignal): Promise<"withdrawn"> {
    return this.#options.client.session(signal, async (send) => {
      for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
        const stored = await this.#find(send, zone);
        if (stored === undefined) return withdrawn;
        const others = stored.delegateTo.filter((entry) => !isOwn(zone, entry));
        if (others.length === 0) await deleteFound(send, stored);
        else if (others.length === stored.delegateTo.length) return withdrawn;
        else await this.#update(send, stored, others);
      }
      throw overtaken(zone);
    });
  }

  members(zone: ZonePair, signal: AbortSignal): Promise<readonly string[]> {
    return this.#options.client.session(signal, async (send) => {
      const stored = await this.#find(send, zone);
      return [...new Set((stored?.delegateTo ?? []).map(({ name }) => canonicalName(name)))].sort();
    });
  }

  async #find(send: WapiSession, zone: ZonePair): Promise<DelegatedObject | undefined> {
    const fqdn = canonicalName(zone.loadBalancedZone);
    const found = await send({
      method: "GET",
      path: "zone_delegated",
      query: { fqdn, view: this.#options.dnsView, _return_fields: "fqdn,delegate_to,view" },
    });
    if (!Array.isArray(found))
      throw new WapiError(
        undefined,
        `the grid answered no list of delegated zones for ${fqdn}; nothing is written`,
      );
    const [object] = found as readonly { readonly _ref?: unknown; readonly delegate_to?: unknown }[];
    if (object === undefined) return undefined;
    const { _ref: ref, delegate_to: delegateTo } = object;
    if (typeof ref !== "string" || ref === "" || !isServerList(delegateTo))
      throw new WapiError(
        undefined,
        `the grid answered a delegated zone ${fqdn} without its reference or servers; nothing is written`,
      );
    return { ref, delegateTo };
  }

  async #create(send: WapiSession, zone: DelegatedZone, delegateTo: readonly NameServer[]): Promise<void> {
    await send({
      method: "POST",
      path: "zone_delegated",
      body: {
        fqdn: canonicalName(zone.loadBalancedZone),
        delegate_to: delegateTo,
        comment: "created by k8gb",
        disable: false,
        locked: false,
        delegated_ttl: zone.ttlSeconds,
        use_delegated_ttl: true,
        view: this.#options.dnsView,
        zone_format: "FORWARD",
      },
    });
  }

  async #update(
    send: WapiSession,
    { ref }: DelegatedObject,
    delegateTo: readonly NameServer[],
  ): Promise<void> {
    await send({ method: "PUT", path: ref, body: { delegate_to: delegateTo, comment: "updated by k8gb" } });
  }
}

function overtaken({ loadBalancedZone }: ZonePair): WapiError {
  return new WapiError(
    undefined,
    `others keep changing the delegation of ${loadBalancedZone}; it is tried again`,
  );
}

async function deleteFound(send: WapiSession, { ref }: DelegatedObject): Promise<void> {
  try {
    await send({ method: "DELETE", path: ref });
  } catch (error) {
    if (!(error instanceof WapiError && error.status === 404)) throw error;
  }
}

function isOwn({ ownNameServer }: DelegatedZone, { name }: NameServer): boolean {
  return canonicalName(name) === ownNameServer;
}

function ownEntries({ ownNameServer: name, ownAddresses }: DelegatedZone): readonly NameServer[] {
  return [...ownAddresses.A, ...ownAddresses.AAAA].map((address) => ({ name, address }));
}

/** The own entries beside all others and what nobody could tell of, in the order of their addresses' text. */
function withOwn(zone: DelegatedZone, present: readonly NameServer[]): readonly NameServer[] {
  const { unknownFamily } = zone;
  const own = ownEntries(zone);
  const told = own.map(({ address }) => address);
  const kept = present.filter(
    (entry) => !isOwn(zone, entry) || isUntold(entry.address, { unknownFamily, told }),
  );
  const all = [...own, ...kept];
  return all.sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
}

function sameServers(a: readonly NameServer[], b: readonly NameServer[]): boolean {
  const texts = (entries: readonly NameServer[]): readonly string[] =>
    entries.map(({ name, address }) => `${canonicalName(name)} ${address}`).sort();
  return deepEqual(texts(a), texts(b));
}

function isServerList(value: unknown): value is readonly NameServer[] {
  return (
    Array.isArray(value) &&
    value.every(
      (entry: { readonly name?: unknown; readonly address?: unknown }) =>
        typeof entry.name === "string" && typeof entry.address === "string",
    )
  );
}
