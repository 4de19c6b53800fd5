import type { Random } from "@meridian/runtime";
import { DnsError } from "../dns-error.ts";
import { keyFromScalar, type SigningKey } from "./signing-key.ts";

const triesMax = 4;

/** Makes a new key pair. The random numbers must be cryptographic, as the real runtime's are. */
export function generateKey(
  random: Random,
  fields: Pick<SigningKey, "secureEntryPoint" | "times">,
): SigningKey {
  for (let left = triesMax; ; left--) {
    try {
      // 32 octets are a scalar but for one in 2^32, since the order of P-256 is that close to 2^256.
      return keyFromScalar(random.bytes(32), fields);
    } catch (error) {
      if (left === 1 || !(error instanceof DnsError) || error.cause === undefined) throw error;
    }
  }
}
