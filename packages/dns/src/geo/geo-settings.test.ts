import assert from "node:assert/strict";
import { test } from "node:test";
import { readGeoSettings } from "./geo-settings.ts";
import type { WatchedFile } from "./geo-source.ts";

const open = (path: string): WatchedFile => ({
  path,
  stamp: () => Promise.resolve(undefined),
  read: () => Promise.resolve(new Uint8Array()),
});

test("settings name files, fields and resolvers", () => {
  const { options } = readGeoSettings(
    {
      database: "/geo.mmdb",
      map: "/geo.yaml",
      fields: ["country.iso_code"],
      resolvers: ["192.0.2.0/24"],
      pollSeconds: 2,
    },
    open,
  );
  assert.deepEqual(
    [options?.database?.path, options?.map?.path, options?.fields, options?.trusted?.length, options?.pollMs],
    ["/geo.mmdb", "/geo.yaml", ["country.iso_code"], 1, 2000],
  );
  assert.deepEqual(readGeoSettings({}, open).options, { fields: ["datacenter"] });
});

test("every mistake is told at once", () => {
  const { problems } = readGeoSettings({ fields: ["a..b"], resolvers: ["here"], pollSeconds: 0 }, open);
  assert.equal(problems?.length, 3);
});
