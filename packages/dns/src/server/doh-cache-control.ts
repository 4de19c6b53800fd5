import { headerOctets, rcode } from "../message/header.ts";
import { typeOpt, typeSoa } from "../message/type-numbers.ts";
import { skipName } from "../message/wire-name.ts";

/**
 * How long HTTP caches may keep one of our answers (RFC 8484 §5.1): the least TTL of its answer section; without one, that
 * of the SOA, which is the negative TTL already. Failures are not kept.
 */
export function cacheControlOf(message: Uint8Array): string {
  const code = message[3]! & 15;
  if (code !== rcode.noError && code !== rcode.nxDomain) return "no-store";
  const answers = readCount(message, 6);
  const authority = readCount(message, 8);
  let at = headerOctets;
  for (let index = readCount(message, 4); index > 0; index--) at = skipName(message, at) + 4;
  let least = Infinity;
  for (let index = 0; index < answers + authority; index++) {
    at = skipName(message, at);
    if (at + 10 > message.length) break;
    const type = (message[at]! << 8) | message[at + 1]!;
    const counts = index < answers ? type !== typeOpt : answers === 0 && type === typeSoa;
    if (counts) least = Math.min(least, readTtl(message, at + 4));
    at += 10 + readCount(message, at + 8);
  }
  return least === Infinity ? "no-store" : `max-age=${least}`;
}

function readCount(message: Uint8Array, at: number): number {
  return (message[at]! << 8) | message[at + 1]!;
}

/** A TTL with its sign bit set is 0 (RFC 2181 §8). */
function readTtl(message: Uint8Array, at: number): number {
  const ttl = (readCount(message, at) * 0x10000 + readCount(message, at + 2)) >>> 0;
  return ttl > 0x7fffffff ? 0 : ttl;
}
