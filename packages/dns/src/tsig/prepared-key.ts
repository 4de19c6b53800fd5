import { createSecretKey, type KeyObject } from "node:crypto";
import { nameFromText, type Name } from "../name/name.ts";
import type { TsigKey } from "./tsig-key.ts";

/** A key as messages and HMACs need it. */
export interface PreparedKey {
  /** Of `node:crypto`. */
  readonly hash: string;
  readonly secret: KeyObject;
  /** Folded. */
  readonly name: Name;
  readonly algorithm: Name;
}

const preparedKeys = new WeakMap<TsigKey, PreparedKey>();

/** Made once for each key, and kept as long as the key: signing a small message would take twice as long otherwise. */
export function preparedKey(key: TsigKey): PreparedKey {
  const known = preparedKeys.get(key);
  if (known !== undefined) return known;
  const prepared = {
    hash: key.algorithm.slice("hmac-".length),
    secret: createSecretKey(key.secret),
    name: nameFromText(key.name),
    algorithm: nameFromText(key.algorithm),
  };
  preparedKeys.set(key, prepared);
  return prepared;
}
