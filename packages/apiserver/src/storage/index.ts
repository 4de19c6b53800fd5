export { StorageError } from "./storage.ts";
export type {
  ListOptions,
  ListResult,
  Revision,
  Storage,
  StorageErrorCode,
  StorageEvent,
  StoredRecord,
  WatchBatch,
  WriteResult,
} from "./storage.ts";
export { openMemoryStorage } from "./memory/open-memory-storage.ts";
export type { MemoryStorageOptions } from "./memory/open-memory-storage.ts";
export { defaultRetention } from "./retention.ts";
export type { RetentionPolicy } from "./retention.ts";
export { openLmdbStorage } from "./lmdb/open-lmdb-storage.ts";
export type { LmdbStorageOptions } from "./lmdb/open-lmdb-storage.ts";
