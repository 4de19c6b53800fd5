import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";
import { networkFromText, type GeoNetwork } from "./geo-network.ts";

/** Where addresses are, as people write it: what a database does not know, or what must win over it. */
export interface GeoMap {
  readonly networks: readonly MappedNetwork[];
  /** Geo tags, nearest first, by ISO 3166-1 code (`DE`) or ISO 3166-2 code (`US-CA`). */
  readonly countries: ReadonlyMap<string, readonly string[]>;
  /** Geo tags, nearest first, by MaxMind's continent code (`EU`). */
  readonly continents: ReadonlyMap<string, readonly string[]>;
  /** Geo tags of addresses of which nothing is known. */
  readonly unknown: readonly string[];
}

/** What is known of one network. */
export interface MappedNetwork extends GeoNetwork {
  /** By field, as a database has it: `datacenter`, `country.iso_code`. */
  readonly values: ReadonlyMap<string, string>;
  /** Geo tags, nearest first. */
  readonly tags: readonly string[];
}

/** One thing wrong with a map. */
export interface GeoMapProblem {
  /** From 1; 0 is the text as a whole. */
  readonly line: number;
  /** One line: the field, what is wrong with it and what to do. */
  readonly message: string;
}

/** A map, or everything that is wrong with its text. */
export type GeoMapResult =
  | { readonly map: GeoMap; readonly problems?: undefined }
  | { readonly map?: undefined; readonly problems: readonly GeoMapProblem[] };

const problemsMax = 100;
const continentCodes: readonly string[] = ["AF", "AN", "AS", "EU", "NA", "OC", "SA"];

/**
 * Reads a map from YAML or JSON.
 *
 *     networks:
 *       10.2.0.0/16: us                                    # a geo tag, or several in order
 *       10.2.3.0/24: { datacenter: eu-1, tags: [eu, us] }  # or fields, as a database has them; the longest network wins
 *     countries: { DE: [eu, us], US-CA: us }
 *     continents: { EU: eu }
 *     unknown: [eu, us]
 */
export function parseGeoMap(text: string): GeoMapResult {
  const reading = new MapReading(text);
  const map = reading.read();
  return reading.problems.length === 0 ? { map } : { problems: reading.problems };
}

class MapReading {
  readonly problems: GeoMapProblem[] = [];
  readonly #lines = new LineCounter();
  readonly #document: ReturnType<typeof parseDocument>;

  constructor(text: string) {
    this.#document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: false,
    });
  }

  read(): GeoMap {
    const networks: MappedNetwork[] = [];
    const countries = new Map<string, readonly string[]>();
    const continents = new Map<string, readonly string[]>();
    let unknown: readonly string[] = [];
    for (const error of this.#document.errors) this.#report(error.pos[0], `not YAML: ${error.message}`);
    const { contents } = this.#document;
    if (this.problems.length === 0 && contents !== null && !isMap(contents))
      this.#report(0, "the map must have the keys networks, countries, continents or unknown");
    if (this.problems.length === 0 && isMap(contents)) {
      for (const { key, value, at } of this.#entries(contents)) {
        if (key === "unknown") unknown = this.#tags(value, { at, field: key });
        else if (key === "networks") this.#readNetworks(value, networks);
        else if (key === "countries") this.#readPlaces(value, countries, /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/);
        else if (key === "continents") this.#readPlaces(value, continents, continentCodes);
        else this.#report(at, `${key} is none of networks, countries, continents and unknown`);
      }
    }
    return { networks, countries, continents, unknown };
  }

  #readNetworks(node: unknown, networks: MappedNetwork[]): void {
    const seen = new Set<string>();
    for (const { key, value, at } of this.#entries(node, "networks")) {
      const network = networkFromText(key);
      if (typeof network === "string") {
        this.#report(at, `networks: ${network}`);
        continue;
      }
      const id = `${network.octets.join(".")}/${network.prefix}`;
      if (seen.has(id)) this.#report(at, `networks: ${key} is there twice; keep one`);
      seen.add(id);
      if (!isMap(value)) {
        networks.push({ ...network, values: new Map(), tags: this.#tags(value, { at, field: key }) });
        continue;
      }
      const values = new Map<string, string>();
      let tags: readonly string[] = [];
      for (const entry of this.#entries(value, key)) {
        if (entry.key === "tags") tags = this.#tags(entry.value, { at: entry.at, field: `${key} tags` });
        else {
          const text = textOf(entry.value);
          if (text === undefined) this.#report(entry.at, `${key} ${entry.key} must be a text, such as eu`);
          else values.set(entry.key, text);
        }
      }
      networks.push({ ...network, values, tags });
    }
  }

  #readPlaces(
    node: unknown,
    places: Map<string, readonly string[]>,
    codes: RegExp | readonly string[],
  ): void {
    for (const { key, value, at } of this.#entries(node, "places")) {
      const isCode = codes instanceof RegExp ? codes.test(key) : codes.includes(key);
      if (places.has(key)) this.#report(at, `${key} is there twice; keep one`);
      else if (!isCode && codes instanceof RegExp)
        this.#report(at, `${key} is no ISO 3166 code in capitals, such as DE or US-CA`);
      else if (!isCode) this.#report(at, `${key} is none of the continents ${continentCodes.join(", ")}`);
      else places.set(key, this.#tags(value, { at, field: key }));
    }
  }

  #tags(node: unknown, { at, field }: { readonly at: number; readonly field: string }): readonly string[] {
    const items = isSeq(node) ? node.items : [node];
    const tags = items.map(textOf);
    if (tags.length > 0 && tags.every((tag) => tag !== undefined)) return tags;
    this.#report(at, `${field} must be a geo tag or a list of geo tags, such as [eu, us]`);
    return [];
  }

  *#entries(node: unknown, field?: string): IterableIterator<Entry> {
    if (!isMap(node)) {
      const empty = node === null || (isScalar(node) && node.value === null);
      if (field !== undefined && !empty)
        this.#report(placeOf(node), `${field} must be a list of names and values`);
      return;
    }
    for (const pair of node.items) {
      const at = placeOf(pair.key);
      const key = textOf(pair.key);
      if (key === undefined) this.#report(at, "a key must be a text");
      else yield { key, value: pair.value, at };
    }
  }

  #report(at: number, message: string): void {
    if (this.problems.length < problemsMax)
      this.problems.push({ line: this.#lines.linePos(at).line, message });
  }
}

interface Entry {
  readonly key: string;
  readonly value: unknown;
  /** Offset in the text. */
  readonly at: number;
}

function placeOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}

/** A scalar that people take for a text: `eu`, and `64500`, too. */
function textOf(node: unknown): string | undefined {
  if (!isScalar(node)) return undefined;
  const { value } = node;
  if (typeof value === "string") return value === "" ? undefined : value;
  return typeof value === "number" ? (node.source ?? String(value)) : undefined;
}
