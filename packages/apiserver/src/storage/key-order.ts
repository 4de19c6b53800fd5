import { StorageError } from "./storage.ts";

/** Longest key in UTF-8 octets. The longest of Kubernetes (group, resource, namespace, name) is under 700. */
const keyBytesMax = 1_024;

/**
 * Compares two keys by their UTF-8 bytes: negative, 0 or positive.
 *
 * JavaScript compares UTF-16 units. The two orders differ only where a surrogate (U+D800 to U+DFFF, one half of a
 * character above U+FFFF) meets a unit from U+E000 on; there the surrogate is the larger character.
 */
export function compareKeys(a: string, b: string): number {
  const shorter = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < shorter; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) return weight(x) - weight(y);
    return x - y;
  }
  return a.length - b.length;
}

/** Moves the surrogates above the rest of the units from U+D800 on. */
function weight(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}

const loneSurrogate = /\p{Surrogate}/u;

/** @throws StorageError `InvalidKey` for a key that cannot be told apart from others once it is written as UTF-8. */
export function checkKey(key: string): void {
  if (key.length === 0)
    throw new StorageError("InvalidKey", "cannot use the empty key: a record needs a name");
  // A unit takes at most three octets, so that most keys need no count.
  if (key.length * 3 > keyBytesMax && Buffer.byteLength(key) > keyBytesMax) {
    throw new StorageError(
      "InvalidKey",
      `cannot use a key of ${Buffer.byteLength(key)} octets ("${key.slice(0, 60)}..."): the limit is ${keyBytesMax}`,
    );
  }
  if (loneSurrogate.test(key)) {
    throw new StorageError(
      "InvalidKey",
      `cannot use the key ${JSON.stringify(key)}: it is no well-formed Unicode text`,
    );
  }
}
