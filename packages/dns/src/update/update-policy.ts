import { DnsError } from "../dns-error.ts";
import { typeFromText } from "../message/codes.ts";
import { typeAny, typeNs, typeNsec, typeRrsig, typeSoa } from "../message/type-numbers.ts";
import { equalNames, foldNameText, isAtOrBelow, nameFromText, type Name } from "../name/name.ts";
import { updateClass, type UpdateRecord } from "./update-message.ts";
import type { ZoneDraft } from "./zone-draft.ts";

/** What one key may change in one zone. Nothing is allowed that no rule names. */
export interface UpdateRule {
  /** Name of the TSIG key. */
  readonly key: string;
  /**
   * `self`: the name that is the key's own. `exact`: the name `name`. `subdomain`: `name` and everything below; without
   * `name`, the whole zone.
   */
  readonly match: "self" | "exact" | "subdomain";
  readonly name?: string;
  /** Mnemonics, or `ANY` for all. Absent: all but SOA, NS and what signing makes (RRSIG, NSEC, NSEC3). */
  readonly types?: readonly string[];
}

interface ParsedRule {
  readonly key: string;
  readonly name: Name;
  readonly below: boolean;
  readonly types: ReadonlySet<number> | undefined;
}

const typeNsec3 = 50;
const exceptByDefault: ReadonlySet<number> = new Set([typeSoa, typeNs, typeRrsig, typeNsec, typeNsec3]);

/** Who may change what in one zone. */
export class UpdatePolicy {
  readonly #rules: readonly ParsedRule[];

  /** @throws DnsError `BadName` or `BadRecord` for a rule that cannot be read */
  constructor(zone: string, rules: readonly UpdateRule[]) {
    this.#rules = rules.map((rule) => parseRule(zone, rule));
  }

  /** Whether any rule is about the key: a stranger is not even told which prerequisites hold. */
  knows(key: string): boolean {
    return this.#rules.some((rule) => rule.key === key);
  }

  /** Whether the key may make all the updates. To delete a whole name it must be allowed every type there. */
  allows(key: string, updates: readonly UpdateRecord[], draft: ZoneDraft): boolean {
    return updates.every(({ owner, type, class: meaning }) => {
      if (type !== typeAny || meaning !== updateClass.any) return this.#allowsOne(key, owner, type);
      // At the apex these stay whatever is deleted, so they need no permission.
      const kept = draft.isApex(owner) ? [typeSoa, typeNs] : [];
      const types = draft.types(owner).filter((present) => !kept.includes(present));
      if (types.length === 0) return this.#rules.some((rule) => rule.key === key && isAbout(rule, owner));
      return types.every((present) => this.#allowsOne(key, owner, present));
    });
  }

  #allowsOne(key: string, owner: Name, type: number): boolean {
    return this.#rules.some(
      (rule) =>
        rule.key === key &&
        isAbout(rule, owner) &&
        (rule.types === undefined
          ? !exceptByDefault.has(type)
          : rule.types.has(typeAny) || rule.types.has(type)),
    );
  }
}

function isAbout({ name, below }: ParsedRule, owner: Name): boolean {
  return below ? isAtOrBelow(owner, name) : equalNames(owner, name);
}

function parseRule(zone: string, { key, match, name, types }: UpdateRule): ParsedRule {
  if (match === "exact" && name === undefined) {
    throw new DnsError("BadName", `the rule of key ${key} matches exactly one name and has none; name it`);
  }
  return {
    key: foldNameText(key),
    name: nameFromText(match === "self" ? key : (name ?? zone)),
    below: match === "subdomain",
    types: types === undefined ? undefined : new Set(types.map(typeFromText)),
  };
}
