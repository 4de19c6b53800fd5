import { OctetReader } from "../message/octets.ts";
import { typeAny, typeCname, typeDname, typeNs, typeSoa } from "../message/type-numbers.ts";
import { readName } from "../message/wire-name.ts";
import { nameToText } from "../name/name.ts";
import type { ZoneSoa } from "../zone/zone-apex.ts";
import { updateClass, type UpdateRecord } from "./update-message.ts";
import type { ZoneDraft } from "./zone-draft.ts";

/**
 * Makes the updates in their order (RFC 2136 §3.4.2). Those that would break the zone's apex or put data beside a CNAME
 * are passed over in silence, as the standard has it.
 */
export function applyUpdates(updates: readonly UpdateRecord[], draft: ZoneDraft): void {
  for (const update of updates) {
    if (update.class === updateClass.in) addRecord(update, draft);
    else if (update.class === updateClass.any) removeSets(update, draft);
    else removeRecord(update, draft);
  }
}

/** RFC 2136 §3.4.2.2. */
function addRecord(update: UpdateRecord, draft: ZoneDraft): void {
  const { owner, type, rdata, ttl } = update;
  const types = draft.types(owner);
  if (type === typeSoa) {
    if (draft.isApex(owner)) draft.setSoa(readSoa(rdata, ttl));
    return;
  }
  if (type === typeCname ? types.some((other) => other !== typeCname) : types.includes(typeCname)) return;
  // Of these a name has one at most: the new one takes the place of the old.
  if (type === typeCname || type === typeDname) draft.removeSet(owner, type);
  draft.add(owner, update);
}

/** RFC 2136 §3.4.2.3. */
function removeSets({ owner, type }: UpdateRecord, draft: ZoneDraft): void {
  const apex = draft.isApex(owner);
  for (const present of draft.types(owner)) {
    const meant = type === typeAny || type === present;
    const kept = apex && (present === typeSoa || present === typeNs);
    if (meant && !kept) draft.removeSet(owner, present);
  }
}

/** RFC 2136 §3.4.2.4. */
function removeRecord({ owner, type, rdata }: UpdateRecord, draft: ZoneDraft): void {
  if (type === typeSoa) return;
  const isLastNs = type === typeNs && draft.isApex(owner) && draft.keys(owner, typeNs)?.size === 1;
  if (!isLastNs) draft.remove(owner, type, rdata);
}

function readSoa(rdata: Uint8Array, ttl: number): ZoneSoa {
  const reader = new OctetReader(rdata);
  const mname = nameToText(readName(reader));
  const rname = nameToText(readName(reader));
  const [serial, refresh, retry, expire] = [
    reader.uint32(),
    reader.uint32(),
    reader.uint32(),
    reader.uint32(),
  ];
  return { mname, rname, serial, refresh, retry, expire, minimum: reader.uint32(), ttl };
}
