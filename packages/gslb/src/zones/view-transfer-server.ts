import { foldNameText, TransferServer, type Authority } from "@meridian/dns";
import type { Clock } from "@meridian/runtime";
import { peerKeyName } from "../peers/peer-key.ts";

const viewLabel = [...new TextEncoder().encode("_localtargets")];

/**
 * Gives the views of the own DNS server (`_localtargets.<zone>`) to whoever signs with the fleet's key, and nothing else to
 * anybody: the zones themselves are no one's to transfer.
 */
export function viewTransferServer(options: {
  readonly clock: Clock;
  readonly authority: Pick<Authority, "zone" | "lease">;
}): TransferServer {
  const key = foldNameText(peerKeyName);
  return new TransferServer({
    clock: options.clock,
    zones: options.authority,
    policy: {
      // What nobody vouches for any more is given to nobody.
      allows: (zone, by) => by.key === key && isView(zone) && options.authority.lease?.isOver !== true,
    },
  });
}

/** Whether a name in wire form begins with the label of views. */
function isView(name: Uint8Array): boolean {
  return (
    name[0] === viewLabel.length &&
    viewLabel.every((octet, index) => (name[index + 1]! | 0x20) === (octet | 0x20))
  );
}
