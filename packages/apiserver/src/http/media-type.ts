/** One entry of an `Accept` header, or a `Content-Type`. */
export interface MediaType {
  /** `type/subtype`, in lower case. */
  readonly type: string;
  /** Parameters by lower-case name. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses a `Content-Type` value. */
export function parseMediaType(text: string): MediaType {
  const [type = "", ...parameters] = text.split(";");
  return {
    type: type.trim().toLowerCase(),
    parameters: new Map(
      parameters.map((parameter) => {
        const equals = parameter.indexOf("=");
        const name = equals < 0 ? parameter : parameter.slice(0, equals);
        const value = equals < 0 ? "" : parameter.slice(equals + 1);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
      }),
    ),
  };
}

/** Parses an `Accept` value in order of preference: by `q`, then as written. Absent or empty means anything. */
export function parseAccept(text: string | undefined): readonly MediaType[] {
  const entries = (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .slice(0, acceptEntriesMax)
    .map(parseMediaType);
  if (entries.length === 0) return [{ type: "*/*", parameters: new Map() }];
  return entries
    .map((entry) => ({ entry, quality: qualityOf(entry) }))
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ entry }) => entry);
}

const acceptEntriesMax = 32;

function qualityOf(type: MediaType): number {
  const quality = type.parameters.get("q");
  if (quality === undefined) return 1;
  const value = Number(quality);
  return Number.isFinite(value) ? value : 0;
}
