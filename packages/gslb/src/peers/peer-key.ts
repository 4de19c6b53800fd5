import type { TsigKey } from "@meridian/dns";

/** The name of the TSIG key by which clusters of a fleet prove to each other who they are. */
export const peerKeyName = "meridian-peers";

/** That key among those that Secrets give: of several the last, by which a `TsigKeyring` checks, too. */
export function peerKey(keys: readonly TsigKey[]): TsigKey | undefined {
  return keys.findLast(({ name }) => name === peerKeyName);
}
