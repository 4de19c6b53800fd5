import { hash } from "node:crypto";
import { octetsToBase32Hex } from "../message/nsec3-fields.ts";
import type { Name } from "../name/name.ts";

/** How the names of one NSEC3 chain are hashed. */
export interface Nsec3Parameters {
  /** How often again, after the first time. */
  readonly iterations: number;
  readonly salt: Uint8Array;
}

const algorithmSha1 = 1;

/** Reads NSEC3PARAM, or the start of NSEC3, which is the same; `undefined` for a hash that nobody defined. */
export function readNsec3Parameters(rdata: Uint8Array): Nsec3Parameters | undefined {
  if (rdata[0] !== algorithmSha1) return undefined;
  return { iterations: (rdata[2]! << 8) | rdata[3]!, salt: rdata.subarray(5, 5 + rdata[4]!) };
}

/** Whether NSEC3 rdata is of the chain with these parameters. */
export function isOfChain(rdata: Uint8Array, { iterations, salt }: Nsec3Parameters): boolean {
  const found = readNsec3Parameters(rdata);
  return (
    found?.iterations === iterations &&
    found.salt.length === salt.length &&
    found.salt.every((octet, index) => octet === salt[index])
  );
}

/** The name that owns the NSEC3 of a name, in lower case as that must be (RFC 5155 §5). */
export function nsec3Owner(name: Name, origin: Name, { iterations, salt }: Nsec3Parameters): Name {
  const input = new Uint8Array(name.length + salt.length);
  input.set(name);
  input.set(salt, name.length);
  let digest: Uint8Array = hash("sha1", input, "buffer");
  const again = new Uint8Array(digest.length + salt.length);
  again.set(salt, digest.length);
  for (let count = 0; count < iterations; count++) {
    again.set(digest);
    digest = hash("sha1", again, "buffer");
  }
  const label = octetsToBase32Hex(digest);
  const owner = new Uint8Array(1 + label.length + origin.length);
  owner[0] = label.length;
  for (let index = 0; index < label.length; index++) owner[index + 1] = label.charCodeAt(index);
  owner.set(origin, 1 + label.length);
  return owner;
}
