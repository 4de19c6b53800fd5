import { invalidValue, required } from "./field-error.ts";
import type { CustomResourceNames } from "./kinds/custom-resource-definition.ts";
import { validateDns1035Label } from "./names.ts";
import type { StatusCause } from "./status.ts";

/** Every rule that the names of a custom kind break. Each name alone; whether another definition has it is for the server to know. */
export function validateCustomResourceNames(names: CustomResourceNames, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const label = (field: string, text: string): void => {
    const broken = validateDns1035Label(text);
    if (broken.length > 0) causes.push(invalidValue(`${path}.${field}`, text, broken.join(",")));
  };
  const kind = (field: string, text: string): void => {
    const broken = validateDns1035Label(text.toLowerCase());
    if (broken.length === 0) return;
    const detail = `may have mixed case, but should otherwise match: ${broken.join(",")}`;
    causes.push(invalidValue(`${path}.${field}`, text, detail));
  };
  const checks = { plural: label, singular: label, kind, listKind: kind } as const;
  for (const [field, check] of Object.entries(checks)) {
    const text = names[field as keyof typeof checks] ?? "";
    if (text === "") causes.push(required(`${path}.${field}`));
    else check(field, text);
  }
  names.shortNames?.forEach((name, index) => label(`shortNames[${index}]`, name));
  names.categories?.forEach((name, index) => label(`categories[${index}]`, name));
  if (names.kind !== "" && names.kind === names.listKind) {
    causes.push(invalidValue(`${path}.listKind`, names.listKind, "kind and listKind may not be the same"));
  }
  return causes;
}
