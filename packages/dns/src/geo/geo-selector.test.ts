import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { writeMmdb, type MmdbContent } from "../testdata/mmdb-writer.ts";
import { compileGeo } from "./compile-geo.ts";
import { parseGeoMap, type GeoMap } from "./geo-map.ts";
import { networkFromText, type GeoNetwork } from "./geo-network.ts";
import { GeoSelector, type GeoSet } from "./geo-selector.ts";
import { geoTagId } from "./geo-tag.ts";
import { MmdbFile } from "./mmdb-file.ts";

function network(text: string): GeoNetwork {
  const parsed = networkFromText(text);
  if (typeof parsed === "string") throw new TypeError(parsed);
  return parsed;
}

function mapOf(text: string): GeoMap {
  const { map, problems } = parseGeoMap(text);
  if (map === undefined) throw new TypeError(JSON.stringify(problems));
  return map;
}

/** A set of addresses as they stand in a message, twelve octets before each. */
function addresses(...texts: readonly string[]): GeoSet {
  const all = texts.map((text) => network(text).octets);
  const octetCount = all[0]?.length === 16 ? 16 : 4;
  const octets = Uint8Array.from(all.flatMap((address) => [...Array<number>(12).fill(0), ...address]));
  return {
    ...{ count: texts.length, byTag: false, tags: new Int32Array(), tagsAt: 0 },
    ...{ octets, addressAt: 12, stride: 12 + octetCount, octetCount },
  };
}

function tagged(...tags: readonly string[]): GeoSet {
  return { ...addresses(...tags.map(() => "192.0.2.1")), byTag: true, tags: Int32Array.from(tags, geoTagId) };
}

function choose(selector: GeoSelector, set: GeoSet, client: string): readonly [readonly number[], number] {
  const { octets, octetCount } = network(client);
  const { indexes, count, scope } = selector.select(set, { octets, octetCount, at: 0 });
  return [[...indexes.subarray(0, count)], scope];
}

const country = (code: string, continent?: string): object => ({
  ...(continent === undefined ? {} : { continent: { code: continent } }),
  country: { iso_code: code, geoname_id: 1 },
});
const world: MmdbContent = {
  ipVersion: 6,
  recordBits: 28,
  networks: {
    "1.0.0.0/8": country("US", "NA"),
    "2.0.0.0/8": country("GB", "EU"),
    "2.7.0.0/16": country("DE", "EU"),
    "3.0.0.0/8": country("CA", "NA"),
    "4.0.0.0/9": { country: { iso_code: "DE" }, datacenter: "fra" },
    "2001:db8::/32": country("JP", "AS"),
  },
};
const fields = ["country.iso_code", "continent.code"];

const selectorOf = async (
  content: MmdbContent | undefined,
  more: { readonly fields?: readonly string[]; readonly map?: string } = {},
): Promise<GeoSelector> =>
  new GeoSelector(
    await compileGeo({
      fields: more.fields ?? fields,
      database: content === undefined ? undefined : new MmdbFile(writeMmdb(content)),
      map: more.map === undefined ? undefined : mapOf(more.map),
    }),
  );

const targets = addresses("1.1.1.1", "2.1.1.1", "2.7.1.1", "3.1.1.1", "9.9.9.9");
const kept: readonly (readonly [string, string, readonly string[], readonly number[], number])[] = [
  ["the first field that any target matches decides", "1.2.3.4", fields, [0], 8],
  ["a target in the same country, though in another network", "4.1.1.1", fields, [2], 9],
  ["the second field where the first matches none", "2.6.0.0", ["datacenter", "continent.code"], [1, 2], 8],
  ["the order of fields is their order of use", "1.2.3.4", ["continent.code", "country.iso_code"], [0, 3], 8],
  ["all for an address that nothing is known of", "8.8.8.8", fields, [0, 1, 2, 3, 4], 5],
  ["all where nothing matches", "2001:db8::7", fields, [0, 1, 2, 3, 4], 32],
  ["all for fields that no record has", "1.2.3.4", ["city.names.en"], [0, 1, 2, 3, 4], 0],
  ["an IPv4 address within an IPv6 one is that one", "::ffff:1.2.3.4", fields, [0], 104],
  ["a 6to4 address", "2002:102:304::1", fields, [0], 24],
  ["a NAT64 address", "64:ff9b::1.2.3.4", fields, [0], 104],
];
for (const [name, client, asked, chosen, scope] of kept)
  test(`by address: ${name}`, async () => {
    const selector = await selectorOf(world, { fields: asked });
    assert.deepEqual(choose(selector, targets, client), [chosen, scope]);
  });

test("the databases that writers make are read alike: record sizes, IPv4 alone, shared parts", async () => {
  for (const recordBits of [24, 28, 32] as const) {
    for (const ipVersion of [4, 6] as const) {
      const networks = Object.fromEntries(
        Object.entries(world.networks).filter(([key]) => ipVersion === 6 || !key.includes(":")),
      );
      const octets = writeMmdb({ networks, recordBits, ipVersion, aliases: ipVersion === 6 });
      const selector = new GeoSelector(await compileGeo({ fields, database: new MmdbFile(octets) }));
      const name = `${recordBits} bits, IPv${ipVersion}`;
      assert.deepEqual(choose(selector, targets, "1.2.3.4"), [[0], 8], name);
      assert.deepEqual(choose(selector, targets, "2002:102:304::1"), [[0], 24], name);
    }
  }
});

test("without anything known all are chosen, for everybody", () => {
  assert.deepEqual(choose(new GeoSelector(), targets, "1.2.3.4"), [[0, 1, 2, 3, 4], 0]);
  assert.deepEqual(choose(new GeoSelector(), tagged("eu", "us"), "1.2.3.4"), [[0, 1], 0]);
});

test("G-09: networks of a map win over the database, field by field; the longest of them wins", async () => {
  const selector = await selectorOf(world, {
    map: `
networks:
  1.5.0.0/16: { country: DE }
  1.5.5.0/24: { datacenter: x, country.iso_code: CA }
  10.2.0.0/16: { country.iso_code: US }`,
  });
  assert.deepEqual(choose(selector, targets, "1.5.1.1"), [[2], 22]);
  assert.deepEqual(choose(selector, targets, "1.5.5.1"), [[3], 24]);
  assert.deepEqual(choose(selector, targets, "10.2.3.4"), [[0], 16]);
  // The continent is still the database's.
  const others = addresses("3.1.1.1", "2.1.1.1");
  assert.deepEqual(choose(selector, others, "1.5.1.1"), [[0], 22]);
});

test("without a database, networks say where clients and targets are", async () => {
  const selector = await selectorOf(undefined, {
    map: "networks: { 10.2.0.0/16: us, 10.2.3.0/24: [eu, us], 192.0.2.0/25: eu, 192.0.2.128/25: us, '2001:db8::/32': eu }",
  });
  const both = addresses("192.0.2.1", "192.0.2.129");
  assert.deepEqual(choose(selector, both, "10.2.3.4"), [[0], 24]);
  assert.deepEqual(choose(selector, both, "10.2.9.9"), [[1], 21]);
  assert.deepEqual(choose(selector, both, "203.0.113.7"), [[0, 1], 5]);
  assert.deepEqual(choose(selector, both, "2001:db8::1"), [[0], 32]);
  assert.deepEqual(choose(selector, addresses("192.0.2.129", "198.51.100.1"), "10.2.3.4"), [[0], 24]);
});

test("groups: the first tag of the client's place that has any; countries, regions and continents give tags", async () => {
  const selector = await selectorOf(
    {
      ...world,
      networks: {
        ...world.networks,
        "1.9.0.0/16": { country: { iso_code: "US" }, subdivisions: [{ iso_code: "CA" }] },
      },
    },
    {
      fields: ["datacenter"],
      map: "{ countries: { DE: [fra, eu], US: us, US-CA: [west, us] }, continents: { EU: eu, NA: [us, eu] }, unknown: apac }",
    },
  );
  const set = tagged("eu", "us", "fra", "", "us");
  assert.deepEqual(choose(selector, set, "2.7.1.1")[0], [2]);
  assert.deepEqual(choose(selector, set, "2.1.1.1")[0], [0]);
  assert.deepEqual(choose(selector, set, "1.1.1.1")[0], [1, 4]);
  assert.deepEqual(choose(selector, set, "3.1.1.1")[0], [1, 4]);
  assert.deepEqual(choose(selector, tagged("west", "us"), "1.9.1.1")[0], [0]);
  assert.deepEqual(choose(selector, tagged("eu", "apac"), "9.9.9.9")[0], [1]);
  assert.deepEqual(choose(selector, tagged("eu", "us"), "9.9.9.9")[0], [0, 1]);
});

test("a field's value is a tag, too: a database with geo tags needs no map", async () => {
  const selector = await selectorOf(world, { fields: ["datacenter"] });
  assert.deepEqual(choose(selector, tagged("eu", "fra"), "4.1.1.1"), [[1], 9]);
});

const octet = fc.integer({ min: 0, max: 3 });
const net = fc
  .tuple(fc.array(octet, { minLength: 4, maxLength: 4 }), fc.integer({ min: 1, max: 32 }))
  .map(([octets, prefix]) => {
    const value = octets.reduce((sum, each) => ((sum << 8) | (each * 85)) >>> 0, 0);
    const cut = prefix === 32 ? value : (value & ~(0xffff_ffff >>> prefix)) >>> 0;
    return `${[24, 16, 8, 0].map((shift) => (cut >>> shift) & 255).join(".")}/${prefix}`;
  });
const value = fc.constantFrom("a", "b", "c");

test("scopes never overlap with different answers, whatever the database and the map", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(net, value, { maxKeys: 12 }),
      fc.dictionary(net, value, { maxKeys: 12 }),
      fc.array(net, { minLength: 2, maxLength: 40 }),
      async (known, mapped, clients) => {
        const networks = Object.fromEntries(Object.entries(known).map(([key, code]) => [key, country(code)]));
        const selector = await selectorOf(
          { ipVersion: 6, recordBits: 24, networks },
          { map: JSON.stringify({ networks: mapped }) },
        );
        const set = addresses("0.0.0.0", "85.85.0.0", "170.170.85.85", "255.0.85.255");
        for (const embed of ["", "::ffff:"]) {
          const answers = clients.map((client) => {
            const address = `${embed}${client.split("/")[0]}`;
            const [chosen, scope] = choose(selector, set, address);
            const bits = [...network(address).octets]
              .map((each) => each.toString(2).padStart(8, "0"))
              .join("");
            return { prefix: bits.slice(0, scope), chosen: chosen.join() };
          });
          for (const one of answers)
            for (const other of answers)
              if (other.prefix.startsWith(one.prefix)) assert.equal(other.chosen, one.chosen);
        }
      },
    ),
    { numRuns: 200 },
  );
});
