import assert from "node:assert/strict";
import { compileGeo, DnsError, GeoSelector, MmdbFile, type GeoSet } from "@meridian/dns";

const fields = ["country.iso_code", "subdivisions.0.iso_code", "datacenter"];
const set: GeoSet = {
  ...{ count: 2, byTag: false, tags: new Int32Array(2), tagsAt: 0 },
  ...{ octets: Uint8Array.of(192, 0, 2, 1, 198, 51, 100, 1), addressAt: 0, stride: 4, octetCount: 4 },
};
const clients = [
  { octets: Uint8Array.of(192, 0, 2, 9), at: 0, octetCount: 4 },
  { octets: new Uint8Array(4).fill(255), at: 0, octetCount: 4 },
  { octets: new Uint8Array(16).fill(255), at: 0, octetCount: 16 },
  { octets: new Uint8Array(16), at: 0, octetCount: 16 },
] as const;

/** Any file is a database that answers, or is refused as damaged. */
export async function fuzz(given: Uint8Array): Promise<void> {
  const octets = Uint8Array.from(given);
  let selector: GeoSelector;
  try {
    selector = new GeoSelector(await compileGeo({ fields, database: new MmdbFile(octets) }));
  } catch (error) {
    if (error instanceof DnsError && error.code === "BadGeoData") return;
    throw error;
  }
  for (const client of clients) {
    const { count, scope } = selector.select(set, client);
    assert.ok(count >= 1 && count <= set.count, `${count} records`);
    assert.ok(scope >= 0 && scope <= 8 * client.octetCount, `scope ${scope}`);
  }
}
