import { nameToText, foldName, type Name } from "../name/name.ts";
import type { TsigKey } from "./tsig-key.ts";

/** The keys of a server, by name. Replaced as a whole while it serves: the next message is checked with the new ones. */
export class TsigKeyring {
  #keys: ReadonlyMap<string, TsigKey> = new Map();

  constructor(keys: Iterable<TsigKey> = []) {
    this.replace(keys);
  }

  /** Of several keys with one name the last counts. */
  replace(keys: Iterable<TsigKey>): void {
    this.#keys = new Map([...keys].map((key) => [key.name, key]));
  }

  /** By name, folded as `TsigKey.name` is. */
  get(name: string): TsigKey | undefined {
    return this.#keys.get(name);
  }

  /** By the name in a message. */
  find(name: Name): TsigKey | undefined {
    return this.#keys.get(nameToText(foldName(name)));
  }

  get names(): readonly string[] {
    return [...this.#keys.keys()];
  }
}
