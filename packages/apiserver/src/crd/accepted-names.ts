import type { CustomResourceDefinition, CustomResourceNames } from "@meridian/kube";

/** Names that are taken in a group: resource names share one space, kinds another. */
export interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** Which names a definition gets, and the last that it does not get, which is the one that kube-apiserver names. */
export interface NamesVerdict {
  readonly accepted: CustomResourceNames;
  readonly conflict?: { readonly reason: string; readonly message: string };
}

/** Decides names: what others hold stays theirs until their definition is gone. Pure. */
export function decideNames(crd: CustomResourceDefinition, taken: TakenNames): NamesVerdict {
  const { names } = crd.spec;
  const singular = names.singular ?? names.kind.toLowerCase();
  const listKind = names.listKind ?? `${names.kind}List`;
  const before = crd.status?.acceptedNames;
  const problems: { readonly reason: string; readonly message: string }[] = [];
  const check = (
    name: string,
    of: { readonly space: ReadonlySet<string>; readonly reason: string },
  ): boolean => {
    if (!of.space.has(name)) return true;
    problems.push({ reason: of.reason, message: `"${name}" is already in use` });
    return false;
  };

  const plural = check(names.plural, { space: taken.resources, reason: "PluralConflict" });
  const single = check(singular, { space: taken.resources, reason: "SingularConflict" });
  const shortNames = (names.shortNames ?? []).filter((name) =>
    check(name, { space: taken.resources, reason: "ShortNamesConflict" }),
  );
  const allShort = shortNames.length === (names.shortNames ?? []).length;
  const kind = check(names.kind, { space: taken.kinds, reason: "KindConflict" });
  const list = check(listKind, { space: taken.kinds, reason: "ListKindConflict" });

  const conflict = problems.at(-1);
  return {
    accepted: {
      plural: plural ? names.plural : (before?.plural ?? ""),
      kind: kind ? names.kind : (before?.kind ?? ""),
      ...optional("singular", single ? singular : before?.singular),
      ...optional("listKind", list ? listKind : before?.listKind),
      ...optional("shortNames", allShort ? names.shortNames : before?.shortNames),
      ...optional("categories", names.categories),
    },
    ...(conflict !== undefined && { conflict }),
  };
}

/** The names that a definition holds now. */
export function heldNames(crd: CustomResourceDefinition): {
  readonly resources: readonly string[];
  readonly kinds: readonly string[];
} {
  const { kind, listKind, plural, shortNames, singular } = crd.status?.acceptedNames ?? {
    plural: "",
    kind: "",
  };
  return {
    resources: [plural, singular ?? "", ...(shortNames ?? [])].filter((name) => name !== ""),
    kinds: [kind, listKind ?? ""].filter((name) => name !== ""),
  };
}

function optional<Field extends string, Value>(
  field: Field,
  value: Value | undefined,
): { readonly [F in Field]?: Value } {
  return (value === undefined ? {} : { [field]: value }) as { readonly [F in Field]?: Value };
}
