import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGeoMap } from "./geo-map.ts";

test("a map in YAML, and the same in JSON", () => {
  const yaml = parseGeoMap(`
networks:
  10.2.0.0/16: us
  10.2.3.0/24: { datacenter: eu-1, asn: 64500, tags: [eu, us] }
  2001:db8::/32: [eu, us]
  192.0.2.1: eu
countries:
  NO: [eu]   # a country, no boolean
  US-CA: us
continents:
  EU: eu
unknown: us
`);
  const json = parseGeoMap(
    JSON.stringify({
      networks: {
        "10.2.0.0/16": "us",
        "10.2.3.0/24": { datacenter: "eu-1", asn: 64_500, tags: ["eu", "us"] },
        "2001:db8::/32": ["eu", "us"],
        "192.0.2.1": "eu",
      },
      countries: { NO: ["eu"], "US-CA": "us" },
      continents: { EU: "eu" },
      unknown: "us",
    }),
  );
  assert.deepEqual(yaml.problems, undefined);
  assert.deepEqual(yaml, json);
  assert.deepEqual(
    yaml.map?.networks.map(({ prefix, octetCount, tags }) => [octetCount, prefix, tags.join()]),
    [
      [4, 16, "us"],
      [4, 24, "eu,us"],
      [16, 32, "eu,us"],
      [4, 32, "eu"],
    ],
  );
  assert.deepEqual(
    [...yaml.map.networks[1]!.values],
    [
      ["datacenter", "eu-1"],
      ["asn", "64500"],
    ],
  );
  assert.deepEqual([yaml.map?.countries.get("NO"), yaml.map?.unknown], [["eu"], ["us"]]);
});

const broken: readonly (readonly [string, number, RegExp])[] = [
  ["- a\n", 1, /must have the keys networks/],
  ["networks:\n  10.2.0.0/33: us\n", 2, /10\.2\.0\.0\/33 has no prefix length from 0 to 32/],
  ["networks:\n  10.2.3.4/16: us\n", 2, /bits set beyond its prefix/],
  ["networks:\n  site: us\n", 2, /site is no network/],
  ["networks:\n  10.0.0.0/8: us\n  10.0.0.0/8: eu\n", 3, /there twice/],
  ["networks:\n  10.0.0.0/8:\n    datacenter: [a]\n", 3, /datacenter must be a text/],
  ["networks:\n  10.0.0.0/8:\n", 2, /must be a geo tag or a list/],
  ["networks: 5\n", 1, /networks must be a list/],
  ["countries:\n  de: eu\n", 2, /de is no ISO 3166 code in capitals/],
  ["countries:\n  DE: eu\n  DE: us\n", 3, /DE is there twice/],
  ["continents:\n  XX: eu\n", 2, /none of the continents/],
  ["unknown: { a: b }\n", 1, /unknown must be a geo tag/],
  ["\nregions: {}\n", 2, /regions is none of networks/],
  ["networks: {\n", 2, /not YAML/],
];
for (const [text, line, message] of broken)
  test(`a mistake is told with its line: ${JSON.stringify(text)}`, () => {
    const { problems = [] } = parseGeoMap(text);
    assert.equal(problems[0]?.line, line, JSON.stringify(problems));
    assert.match(problems[0].message, message);
  });

test("an empty text is an empty map", () => {
  assert.deepEqual(parseGeoMap("").problems, undefined);
  assert.deepEqual(parseGeoMap("networks:\n").problems, undefined);
});
