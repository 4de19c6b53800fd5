import { rcode } from "../message/header.ts";
import { typeAny, typeMetaMin, typeOpt } from "../message/type-numbers.ts";
import { isAtOrBelow, type Name } from "../name/name.ts";
import { updateClass, type UpdateRecord } from "./update-message.ts";

/** Looks at all updates before any is made (RFC 2136 §3.4.1): 0, or the rcode that refuses them. */
export function prescan(updates: readonly UpdateRecord[], zone: Name): number {
  for (const { owner, type, class: meaning, ttl, rdata } of updates) {
    if (!isAtOrBelow(owner, zone)) return rcode.notZone;
    const fits =
      meaning === updateClass.in
        ? !isMetaType(type)
        : meaning === updateClass.any
          ? ttl === 0 && rdata.length === 0 && (type === typeAny || !isMetaType(type))
          : meaning === updateClass.none && ttl === 0 && !isMetaType(type);
    if (!fits) return rcode.formErr;
  }
  return rcode.noError;
}

/** Types that no zone has data of (RFC 6895 §3.1). */
export function isMetaType(type: number): boolean {
  return type === 0 || type === typeOpt || (type >= typeMetaMin && type <= typeAny);
}
