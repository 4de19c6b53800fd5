import assert from "node:assert/strict";
import { test } from "node:test";
import { Reader } from "mmdb-lib";
import { DnsError } from "../dns-error.ts";
import { writeMmdb, type MmdbContent } from "../testdata/mmdb-writer.ts";
import { compileGeo } from "./compile-geo.ts";
import { MmdbFile } from "./mmdb-file.ts";

const content: MmdbContent = {
  ipVersion: 6,
  recordBits: 28,
  networks: {
    "192.0.2.0/24": {
      names: { de: "x".repeat(300), en: "Vienna" },
      list: [{ code: "a" }, { code: "b" }],
      number: 64_500,
      isTrue: true,
      datacenter: "eu",
    },
    "198.51.100.0/24": { names: { en: "Vienna" }, empty: {}, none: [], datacenter: "us" },
    "2001:db8::/32": { datacenter: "us" },
  },
};

function recordOf(file: MmdbFile, bits: string): number {
  let node = 0;
  for (const bit of bits) {
    node = file.child(node, bit === "1" ? 1 : 0);
    if (node >= file.nodeCount) break;
  }
  return file.recordAt(node);
}

const bitsOf = (...octets: readonly number[]): string =>
  octets.map((octet) => octet.toString(2).padStart(8, "0")).join("");

test("fields are read by dotted paths, behind pointers, long texts and other entries", () => {
  const file = new MmdbFile(writeMmdb(content));
  const first = recordOf(file, "0".repeat(96) + bitsOf(192, 0, 2));
  const read = (path: string, at = first): string | undefined => file.field(at, path.split("."));
  assert.equal(read("names.en"), "Vienna");
  assert.equal(read("names.de")?.length, 300);
  assert.equal(read("list.1.code"), "b");
  assert.equal(read("list.2.code"), undefined);
  assert.equal(read("number"), "64500");
  assert.equal(read("datacenter"), "eu");
  assert.equal(read("isTrue"), undefined);
  assert.equal(read("names"), undefined);
  assert.equal(read("names.en.more"), undefined);
  const second = recordOf(file, "0".repeat(96) + bitsOf(198, 51, 100));
  assert.deepEqual([read("names.en", second), read("datacenter", second)], ["Vienna", "us"]);
  assert.deepEqual([file.databaseType, file.buildEpochSeconds, file.ipVersion], ["Test", 1_700_000_000, 6]);
});

test("an independent reader finds the same in what the tests write", () => {
  for (const recordBits of [24, 28, 32] as const) {
    const reader = new Reader<never>(Buffer.from(writeMmdb({ ...content, recordBits })));
    assert.deepEqual(reader.getWithPrefixLength("192.0.2.77"), [content.networks["192.0.2.0/24"], 24]);
    assert.deepEqual(reader.get("2001:db8::1"), { datacenter: "us" });
    assert.equal(reader.get("203.0.113.1"), null);
  }
});

test("a damaged or half-written file is refused or read, never a crash or a loop", async () => {
  const octets = writeMmdb(content);
  const attempt = async (damaged: Uint8Array): Promise<boolean> => {
    try {
      await compileGeo({
        fields: ["names.en", "list.1.code", "datacenter"],
        database: new MmdbFile(damaged),
      });
      return true;
    } catch (error) {
      assert.ok(error instanceof DnsError && error.code === "BadGeoData", String(error));
      return false;
    }
  };
  assert.equal(await attempt(octets), true);
  for (let length = 0; length < octets.length; length += 7)
    assert.equal(await attempt(octets.slice(0, length)), false, `cut at ${length}`);
  let refused = 0;
  for (let index = 0; index < octets.length; index++) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const damaged = octets.slice();
      damaged[index]! ^= flip;
      if (!(await attempt(damaged))) refused++;
    }
  }
  assert.ok(refused > 100, `only ${refused} refused`);
});
