import { rcode } from "../message/header.ts";
import { isAtOrBelow, nameToText, foldName, type Name } from "../name/name.ts";
import { typeAny } from "../message/type-numbers.ts";
import { isMetaType } from "./prescan.ts";
import { updateClass, type UpdateRecord } from "./update-message.ts";
import { rdataKey, type ZoneDraft } from "./zone-draft.ts";

/** Whether what the sender believes of the zone is so (RFC 2136 §3.2): 0, or the rcode that says what is not. */
export function checkPrerequisites(
  prerequisites: readonly UpdateRecord[],
  { draft, zone }: { readonly draft: ZoneDraft; readonly zone: Name },
): number {
  /** Records that must be exactly a set, by owner and type. */
  const wanted = new Map<string, { owner: Name; type: number; keys: Set<string> }>();
  for (const { owner, type, class: meaning, ttl, rdata } of prerequisites) {
    if (ttl !== 0) return rcode.formErr;
    if (!isAtOrBelow(owner, zone)) return rcode.notZone;
    switch (meaning) {
      case updateClass.any:
        if (rdata.length > 0 || (isMetaType(type) && type !== typeAny)) return rcode.formErr;
        if (type === typeAny) {
          if (draft.types(owner).length === 0) return rcode.nxDomain;
        } else if (draft.keys(owner, type) === undefined) {
          return rcode.nxRRset;
        }
        break;
      case updateClass.none:
        if (rdata.length > 0 || (isMetaType(type) && type !== typeAny)) return rcode.formErr;
        if (type === typeAny) {
          if (draft.types(owner).length > 0) return rcode.yxDomain;
        } else if (draft.keys(owner, type) !== undefined) {
          return rcode.yxRRset;
        }
        break;
      case updateClass.in: {
        if (isMetaType(type)) return rcode.formErr;
        const key = `${nameToText(foldName(owner))} ${type}`;
        const set = wanted.get(key) ?? { owner, type, keys: new Set<string>() };
        wanted.set(key, set);
        set.keys.add(rdataKey(type, rdata));
        break;
      }
      default:
        return rcode.formErr;
    }
  }
  for (const { owner, type, keys } of wanted.values()) {
    const present = draft.keys(owner, type);
    const equal = present?.size === keys.size && [...keys].every((key) => present.has(key));
    if (!equal) return rcode.nxRRset;
  }
  return rcode.noError;
}
