import type { GeoMap } from "./geo-map.ts";
import type { GeoNetwork } from "./geo-network.ts";
import type { GeoState } from "./geo-state.ts";
import { geoTagId } from "./geo-tag.ts";
import { importMmdb } from "./import-mmdb.ts";
import type { MmdbFile } from "./mmdb-file.ts";
import { TrieBuilder, type TrieReference } from "./trie-builder.ts";

/** What is known of where addresses are. */
export interface GeoInputs {
  /**
   * Dotted paths of a database's records that targets and clients are compared by, in order: `country.iso_code`,
   * `subdivisions.0.iso_code`. k8gb's default is `datacenter`.
   */
  readonly fields: readonly string[];
  readonly database?: MmdbFile | undefined;
  /** Its networks win over the database, field by field. */
  readonly map?: GeoMap | undefined;
  /** Where resolvers are whose client subnets are believed. Absent: everywhere. */
  readonly trusted?: readonly GeoNetwork[] | undefined;
}

/** What one place is known by, before it is known which of it matters. */
interface Place {
  readonly values: readonly (string | undefined)[];
  /** Of a network of the map. */
  readonly tags: readonly string[];
}

const countryField = "country.iso_code";
const continentField = "continent.code";
const subdivisionField = "subdivisions.0.iso_code";
/** Short names that a map may use for them. */
const shortNames: Readonly<Record<string, string>> = {
  [countryField]: "country",
  [continentField]: "continent",
  [subdivisionField]: "subdivision",
};

/**
 * IPv6 prefixes behind which there is an IPv4 address (RFC 4291 §2.5.5.2, RFC 6052 §2.1, RFC 3056): clients there are
 * where that address is.
 */
const embeddings: readonly { readonly head: readonly number[]; readonly prefix: number }[] = [
  { head: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], prefix: 96 },
  { head: [0, 0x64, 0xff, 0x9b], prefix: 96 },
  { head: [0x20, 0x02], prefix: 16 },
];

/**
 * Merges everything known into one trie for each family, whose leaves are the places that can be told apart by `fields` and
 * tags. `pause` is awaited every few milliseconds of work on a database.
 *
 * @throws DnsError `BadGeoData` where the database is damaged
 */
export async function compileGeo(
  { fields, database, map, trusted }: GeoInputs,
  pause: () => Promise<void> = async () => {},
): Promise<GeoState> {
  const wanted = [...new Set([...fields, ...placeFields(map)])];
  const places = new PlaceTable(wanted.length);
  const builder = new TrieBuilder();
  const imported =
    database === undefined
      ? { v4: ~0, v6: ~0 }
      : await importMmdb(builder, database, {
          leafOf: (recordAt) =>
            places.add({ values: wanted.map((path) => database.field(recordAt, path.split("."))), tags: [] }),
          pause,
        });
  const v4 = builder.overlay(
    imported.v4,
    networkTrie(builder, { octetCount: 4, map, wanted, places }),
    places.join,
  );
  const v6 = builder.overlay(
    withEmbeddings(builder, imported.v6, v4),
    networkTrie(builder, { octetCount: 16, map, wanted, places }),
    places.join,
  );
  const locations = new LocationTable(fields, { wanted, map });
  const { trie, roots } = await builder.freeze([v4, v6], {
    leafOf: (place) => locations.of(places.at(place)),
    pause,
  });
  const state = { trie, roots: { v4: roots[0]!, v6: roots[1]! }, ...locations.share() };
  return trusted === undefined ? state : { ...state, trusted: await trustTries(trusted, pause) };
}

function withEmbeddings(builder: TrieBuilder, v6: TrieReference, v4: TrieReference): TrieReference {
  return embeddings.reduce((base, { head, prefix }) => {
    const octets = new Uint8Array(16);
    octets.set(head);
    return builder.with(base, { octets, prefix }, v4);
  }, v6);
}

async function trustTries(
  trusted: readonly GeoNetwork[],
  pause: () => Promise<void>,
): Promise<NonNullable<GeoState["trusted"]>> {
  const builder = new TrieBuilder();
  const rootOf = (octetCount: 4 | 16, base: TrieReference): TrieReference =>
    trusted
      .filter((network) => network.octetCount === octetCount)
      .reduce((root, network) => builder.with(root, network, ~1), base);
  const v4 = rootOf(4, ~0);
  const v6 = rootOf(16, withEmbeddings(builder, ~0, v4));
  const { trie, roots } = await builder.freeze([v4, v6], { leafOf: (leaf) => leaf, pause });
  return { trie, v4: roots[0]!, v6: roots[1]! };
}

/** The fields that a map's places are found by. */
function placeFields(map: GeoMap | undefined): readonly string[] {
  if (map === undefined) return [];
  const codes = [...map.countries.keys()];
  return [
    ...(codes.length > 0 ? [countryField] : []),
    ...(codes.some((code) => code.includes("-")) ? [subdivisionField] : []),
    ...(map.continents.size > 0 ? [continentField] : []),
  ];
}

function networkTrie(
  builder: TrieBuilder,
  given: {
    readonly octetCount: 4 | 16;
    readonly map: GeoMap | undefined;
    readonly wanted: readonly string[];
    readonly places: PlaceTable;
  },
): TrieReference {
  const networks = (given.map?.networks ?? []).filter(({ octetCount }) => octetCount === given.octetCount);
  let root: TrieReference = ~0;
  // The longest last, so that it stays.
  for (const network of networks.toSorted((a, b) => a.prefix - b.prefix)) {
    const values = given.wanted.map(
      (path) => network.values.get(path) ?? network.values.get(shortNames[path] ?? path),
    );
    root = builder.with(root, network, ~given.places.add({ values, tags: network.tags }));
  }
  return root;
}

/** Places by number, equal ones once; 0 is the one of which nothing is known. */
class PlaceTable {
  readonly #places: Place[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #joined = new Map<string, number>();

  constructor(width: number) {
    this.add({ values: Array<undefined>(width).fill(undefined), tags: [] });
  }

  add(place: Place): number {
    const key = JSON.stringify([place.values.map((value) => value ?? null), place.tags]);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#places.length);
    return this.#places.push(place) - 1;
  }

  at(number: number): Place {
    return this.#places[number]!;
  }

  /** The upper place, with what only the lower one tells. */
  readonly join = (lower: number, upper: number): number => {
    const key = `${lower} ${upper}`;
    const known = this.#joined.get(key);
    if (known !== undefined) return known;
    const below = this.at(lower);
    const { values, tags } = this.at(upper);
    const joined = this.add({ values: values.map((value, index) => value ?? below.values[index]), tags });
    this.#joined.set(key, joined);
    return joined;
  };
}

/** Places as far as answers can tell them apart. */
class LocationTable {
  readonly #numbers = new Map<string, number>();
  readonly #ofPlace = new Map<Place, number>();
  readonly #values: number[] = [];
  readonly #tags: (readonly number[])[] = [];
  readonly #fields: readonly string[];
  readonly #wanted: readonly string[];
  readonly #map: GeoMap | undefined;

  constructor(
    fields: readonly string[],
    { wanted, map }: { readonly wanted: readonly string[]; readonly map: GeoMap | undefined },
  ) {
    this.#fields = fields;
    this.#wanted = wanted;
    this.#map = map;
    this.of({ values: wanted.map(() => undefined), tags: [] });
  }

  of(place: Place): number {
    const known = this.#ofPlace.get(place) ?? this.#add(place);
    this.#ofPlace.set(place, known);
    return known;
  }

  share(): Pick<GeoState, "values" | "tags" | "fieldCount" | "locationCount"> {
    const locationCount = this.#tags.length;
    const starts: number[] = [];
    const flat: number[] = [];
    for (const tags of this.#tags) {
      starts.push(locationCount + 1 + flat.length);
      flat.push(...tags);
    }
    starts.push(locationCount + 1 + flat.length);
    const values = shared(this.#values);
    return { values, tags: shared([...starts, ...flat]), fieldCount: this.#fields.length, locationCount };
  }

  #add(place: Place): number {
    const value = (path: string): string | undefined => place.values[this.#wanted.indexOf(path)];
    const values = this.#fields.map((path) => geoTagId(value(path) ?? ""));
    const tags = this.#tagsOf(place, value).map(geoTagId);
    const key = `${values.join()} ${tags.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#tags.length);
    this.#values.push(...values);
    return this.#tags.push(tags) - 1;
  }

  /** A network's own, else the subdivision's, the country's, the continent's; those for the unknown where nothing is known. */
  #tagsOf({ values, tags }: Place, value: (path: string) => string | undefined): readonly string[] {
    const map = this.#map;
    if (map === undefined || tags.length > 0) return tags;
    const country = value(countryField);
    const found =
      map.countries.get(`${country}-${value(subdivisionField)}`) ??
      map.countries.get(country ?? "") ??
      map.continents.get(value(continentField) ?? "");
    return found ?? (values.every((each) => each === undefined) ? map.unknown : []);
  }
}

function shared(numbers: readonly number[]): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(4 * numbers.length);
  new Int32Array(buffer).set(numbers);
  return buffer;
}
