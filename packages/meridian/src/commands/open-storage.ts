import { join } from "node:path";
import { openLmdbStorage, openMemoryStorage, type Storage } from "@meridian/apiserver";
import type { Runtime } from "@meridian/runtime";
import type { StorageKind } from "../fleet/child-protocol.ts";

/** Opens the store of a data folder. */
export async function openStorage(
  runtime: Runtime,
  wanted: { readonly kind: StorageKind; readonly folder: string },
): Promise<Storage> {
  switch (wanted.kind) {
    case "lmdb":
      return openLmdbStorage(runtime, { path: join(wanted.folder, "lmdb") });
    case "memory":
      return openMemoryStorage(runtime, { persistent: true });
    case "ephemeral":
      return openMemoryStorage(runtime, { persistent: false });
  }
}
