import { pick, type Integers } from "./fuzz-seed.ts";

/** Field names that JavaScript, Kubernetes or a careless path treats specially. */
export const hostileNames: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "",
  ".",
  "..",
  "a/b",
  "metadata",
  "resourceVersion",
  "namespace",
  "name",
  "uid",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "deletionTimestamp",
  "$patch",
  "$retainKeys",
  "$setElementOrder/items",
  "x".repeat(300),
  "\u0000",
  "ключ",
  "\ud800",
];

/** Values that a field of any type may meet. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  -(2 ** 63),
  "",
  " ",
  "0",
  "-1",
  "null",
  "x".repeat(5_000),
  "\u0000",
  "\ud800",
  "a\nb",
  "../../etc",
  "${1+1}",
  "2026-13-45T99:99:99Z",
  "2026-11-30T10:00:00Z",
  "18446744073709551616",
  [],
  {},
  [[]],
  [null],
  [{}],
  { $patch: "delete" },
  JSON.parse('{"__proto__":{"polluted":true}}'),
  JSON.parse('{"constructor":{"prototype":{"polluted":true}}}'),
];

/** A copy of `sample` with a few places changed, doubled, renamed, dropped or filled with something hostile. */
export function mutateJson(sample: unknown, integer: Integers): unknown {
  let mutated = sample;
  for (let change = integer(4); change >= 0; change--) mutated = mutateOnce(mutated, integer);
  return mutated;
}

/** JSON text of a mutated value; now and then the text itself is spoiled. */
export function mutatedJsonText(sample: unknown, integer: Integers): string {
  const text = JSON.stringify(mutateJson(sample, integer)) ?? "";
  switch (integer(14)) {
    case 0:
      return text.slice(0, integer(text.length + 1));
    case 1:
      return `${text}${text}`;
    case 2: {
      const depth = 10 ** integer(6);
      return `{"a":`.repeat(depth) + "1" + "}".repeat(depth);
    }
    case 3:
      return "[".repeat(10 ** integer(6));
    case 4:
      return text.replace(/[{,]"/, (start) => `${start}__proto__":{"polluted":1},"`);
    case 5:
      return text.replace(/\d+/, "9".repeat(1 + integer(400)));
    case 6:
      return text.replace(/:(\d+)/, ":1e99999");
    default:
      return text;
  }
}

function mutateOnce(value: unknown, integer: Integers): unknown {
  if (Array.isArray(value) && value.length > 0 && integer(6) > 0) {
    const at = integer(value.length);
    const changed = mutateOnce(value[at], integer);
    switch (integer(5)) {
      case 0:
        return value.toSpliced(at, 1);
      case 1:
        return [...(value as unknown[]), value[at]];
      case 2:
        return Array.from({ length: 200 }, () => value[at] as unknown);
      default:
        return value.with(at, changed);
    }
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && integer(8) > 0) {
    const entries = Object.entries(value);
    const at = integer(entries.length + 1);
    const entry = entries[at];
    if (entry === undefined) entries.push([pick(hostileNames, integer), pick(hostileValues, integer)]);
    else if (integer(8) === 0) entries.splice(at, 1);
    else if (integer(12) === 0) entries[at] = [pick(hostileNames, integer), entry[1]];
    else entries[at] = [entry[0], mutateOnce(entry[1], integer)];
    return objectOf(entries);
  }
  return pick(hostileValues, integer);
}

/** An object with own fields only, also one called `__proto__`. */
function objectOf(entries: readonly (readonly [string, unknown])[]): object {
  const object = {};
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return object;
}
