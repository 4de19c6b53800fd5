import type { AddressFamily, FamilyTargets } from "../decide/address-family.ts";
import type { ZonePair } from "../decide/zone-names.ts";

/** What one cluster wants the parent zone to say of a load-balanced zone. All names in canonical form, without a dot at the end. */
export interface DelegatedZone extends ZonePair {
  /** TTL of the NS and address records, in seconds (`NS_RECORD_TTL`). */
  readonly ttlSeconds: number;
  /** The name of the own DNS server, in the parent zone. */
  readonly ownNameServer: string;
  /** Where the own DNS server is reached, the glue of its name; both families empty while nobody knows. */
  readonly ownAddresses: FamilyTargets;
  /** A family of own addresses that nobody could tell of: what the parent has of it stays. */
  readonly unknownFamily?: AddressFamily;
  /** The names of the clusters' servers that take part, sorted: the own one, and each peer's whose address is known. */
  readonly nameServers: readonly string[];
  /** Whether the own server is the only one known, so that with it the delegation as a whole goes. */
  readonly isLast: boolean;
  /**
   * Whether another zone of this cluster has a server of the same name, as `a.b.example.com` and `a-b.example.com` have. It is the
   * same server: the name leaves this zone's NS set, and its addresses stay.
   */
  readonly isNameServerShared?: boolean;
}

/**
 * Writes the delegation of load-balanced zones into their parent zones. Both calls are level-based and repeated: each looks
 * at what is there first, and writes nothing where that is right. Neither touches what another cluster wrote, as far as the
 * means of the provider allow. Failures reject, with an error that names the server or object and what it said; the caller
 * reports them in the condition `Programmed` and tries again.
 */
export interface DelegationProvider {
  /** What logs and conditions call it, for example `external-dns`. */
  readonly name: string;
  /** Makes the parent zone delegate to the own server. Resolves when the provider has been told all there is to tell. */
  ensure(zone: DelegatedZone, signal: AbortSignal): Promise<void>;
  /**
   * Takes the own server out of the delegation; where `isLast`, the delegation as a whole. That nothing is there is a success.
   *
   * @returns `waiting` where something else has to happen first and the call is to be repeated; `withdrawn` when nothing of
   *   this cluster is left in what the provider writes. Caches may still hold it then, for its TTL
   */
  withdraw(zone: DelegatedZone, signal: AbortSignal): Promise<"withdrawn" | "waiting">;
  /**
   * The names of the servers that the parent delegates to now, in canonical form; for geo tags that are found out. Absent where
   * the provider cannot tell, and then the parent's servers are asked by DNS.
   */
  members?(zone: ZonePair, signal: AbortSignal): Promise<readonly string[]>;
}
