import type { RetentionPolicy } from "../retention.ts";
import type { Storage } from "../storage.ts";

/** A backend under test. */
export interface StorageSubject {
  readonly name: string;
  /** Whether data outlives `close` and a new `open`. */
  readonly persistent: boolean;
  /** Runs a test with an empty place; closes what the test left open. */
  run(body: (place: StoragePlace) => Promise<void>): Promise<void>;
}

/** Where one test keeps its store. */
export interface StoragePlace {
  open(retention?: Partial<RetentionPolicy>): Promise<Storage>;
  /** Lets time go on by the store's clock. */
  advance(ms: number): Promise<void>;
}

/** Tests by name. */
export type ContractTests = Readonly<Record<string, (place: StoragePlace) => Promise<void>>>;
