/** One condition on labels. All requirements of a selector must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "=" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";
  readonly values: readonly string[];
}

/** A parsed label selector. No requirement: everything matches. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** Set for the selector that matches no object at all. */
  readonly nothing?: true;
}

/** A selector as resources carry it in their spec (meta/v1 LabelSelector). */
export interface LabelSelectorSpec {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | string;
    readonly values?: readonly string[];
  }[];
}

export function parseLabelSelector(text: string): LabelSelector {
  throw new Error(`not parsed: ${text}`);
}
export function labelSelectorFromSpec(spec: LabelSelectorSpec | undefined): LabelSelector {
  throw new Error(`not built: ${JSON.stringify(spec)}`);
}
export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.requirements.length === 0 && labels !== null;
}
export function formatLabelSelector(selector: LabelSelector): string {
  return JSON.stringify(selector);
}
