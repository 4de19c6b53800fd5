import type { DatagramClient } from "@meridian/runtime";
import { set as setWord, header } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import { typeOpt, typeSoa } from "../message/type-numbers.ts";
import { optionCode, optOctets, type Query } from "./query.ts";
import type { Response } from "./response.ts";
import { cookieOctets, type ServerCookie } from "./server-cookie.ts";

/** RFC 8467 §4.1: padded answers are multiples of this. */
const paddingBlock = 468;

/** What we say about ourselves in OPT records. */
export interface OptSettings {
  readonly payloadSize: number;
  readonly serverId: Uint8Array | undefined;
  readonly cookie: ServerCookie | undefined;
}

/** Extended DNS errors that we send (RFC 8914 §4). */
export const extendedError = {
  none: -1,
  notReady: 14,
  prohibited: 18,
  notAuthoritative: 20,
  notSupported: 21,
  invalidQueryType: 30,
} as const;

/**
 * Writes the OPT record of answers (RFC 6891): there if and only if the question had one, with our version and none of
 * the options that we do not know. Its size is known beforehand, so that no answer grows over its limit.
 */
export class OptRecord {
  extendedError = -1;
  /** Said to stream clients that ask for keepalive (RFC 7828). */
  tcpIdleMs = 30_000;
  readonly #settings: OptSettings;

  constructor(settings: OptSettings) {
    this.#settings = settings;
  }

  get hasCookies(): boolean {
    return this.#settings.cookie !== undefined;
  }

  get cookie(): ServerCookie | undefined {
    return this.#settings.cookie;
  }

  /** How many octets `write` will take at most; extended errors come only with empty answers and are left out. */
  sizeFor(query: Query, overTcp: boolean): number {
    if (!query.hasOpt) return 0;
    const { serverId, cookie } = this.#settings;
    let size = optOctets;
    if (!query.hasOptions) return size;
    if (query.cookieAt >= 0 && cookie !== undefined) size += 4 + cookieOctets;
    if (query.subnetAt >= 0) size += 4 + query.subnetLength;
    if (query.wantsServerId && serverId !== undefined) size += 4 + serverId.length;
    if (query.wantsKeepalive && overTcp) size += 6;
    if (query.wantsExpire) size += 8;
    if (query.wantsZoneVersion) size += 10;
    return size;
  }

  /** Appends the record; a cookie in it is bound to the client's address. */
  write(query: Query, response: Response, context: OptContext): void {
    const { output, at } = response;
    const { payloadSize } = this.#settings;
    output[at] = 0;
    output[at + 1] = 0;
    output[at + 2] = typeOpt;
    output[at + 3] = payloadSize >>> 8;
    output[at + 4] = payloadSize;
    output[at + 5] = context.extendedRcode;
    output[at + 6] = 0;
    output[at + 7] = (query.dnssecOk ? 0x80 : 0) | (query.compactOk && response.signed ? 0x40 : 0);
    output[at + 8] = 0;
    output[at + 9] = 0;
    output[at + 10] = 0;
    response.at = at + optOctets;
    response.additional++;
    // RFC 6891 §6.1.3: a BADVERS answer speaks of the version only.
    if (context.isBadVersion) return;
    // By far the most questions have no options, and so no answers.
    if (query.hasOptions || this.extendedError >= 0) this.#writeOptions(query, response, context);
    const length = response.at - at - optOctets;
    output[at + 9] = length >>> 8;
    output[at + 10] = length;
  }

  #writeOptions(query: Query, response: Response, context: OptContext): void {
    const { output } = response;
    const { serverId, cookie } = this.#settings;
    let { at } = response;
    if (query.cookieAt >= 0 && cookie !== undefined) {
      at = writeOptionHead(output, at, { code: optionCode.cookie, length: cookieOctets });
      at = cookie.write(output, at, {
        input: query.input,
        at: query.cookieAt,
        length: query.cookieLength,
        client: context.client,
      });
    }
    if (query.subnetAt >= 0) {
      at = writeOptionHead(output, at, { code: optionCode.clientSubnet, length: query.subnetLength });
      for (let index = 0; index < query.subnetLength; index++)
        output[at + index] = query.input[query.subnetAt + index]!;
      // 0 where the answer does not depend on the subnet, so that it holds for all (RFC 7871 §7.2.1).
      output[at + 3] = context.scope;
      at += query.subnetLength;
    }
    if (query.wantsServerId && serverId !== undefined) {
      at = writeOptionHead(output, at, { code: optionCode.nsid, length: serverId.length });
      output.set(serverId, at);
      at += serverId.length;
    }
    if (query.wantsKeepalive && context.overTcp) {
      at = writeOptionHead(output, at, { code: optionCode.keepalive, length: 2 });
      const tenths = Math.min(0xffff, Math.round(this.tcpIdleMs / 100));
      output[at++] = tenths >>> 8;
      output[at++] = tenths;
    }
    if (context.zone !== undefined) at = writeZoneOptions(query, output, { at, zone: context.zone });
    if (this.extendedError >= 0) {
      at = writeOptionHead(output, at, { code: optionCode.extendedError, length: 2 });
      output[at++] = this.extendedError >>> 8;
      output[at++] = this.extendedError;
    }
    const { transport } = context.client;
    // RFC 7830 §3: only where nobody on the way can read the answer, so that its size may be hidden, too.
    if (query.wantsPadding && (transport === "tls" || transport === "https")) {
      const length = paddingBlock - ((at + 4) % paddingBlock || paddingBlock);
      if (at + 4 + length <= output.length) {
        at = writeOptionHead(output, at, { code: optionCode.padding, length });
        output.fill(0, at, at + length);
        at += length;
      }
    }
    response.at = at;
  }
}

/** What the record depends on besides the question. One object is used for all answers. */
export interface OptContext {
  /** The upper 8 bits of the response code. */
  extendedRcode: number;
  isBadVersion: boolean;
  /** Prefix length around the client subnet that the answer holds for. */
  scope: number;
  /** The zone that the question is of, where the answer is from it. */
  zone: ZoneView | undefined;
  overTcp: boolean;
  client: DatagramClient;
}

/** When secondaries should give the zone up (RFC 7314), and its serial (RFC 9660): both stand at the end of the SOA. */
function writeZoneOptions(
  query: Query,
  output: Uint8Array,
  options: { readonly at: number; readonly zone: ZoneView },
): number {
  const { zone } = options;
  const { words, octets } = zone;
  let { at } = options;
  const soa = words[header.negativeSoa]!;
  const end = (soa + setWord.body) * 4 + (words[soa + setWord.extent]! & 0xffff);
  if (query.wantsExpire && query.type === typeSoa && query.name.labels === zone.originLabels) {
    at = writeOptionHead(output, at, { code: optionCode.expire, length: 4 });
    for (let index = 0; index < 4; index++) output[at++] = octets[end - 8 + index]!;
  }
  if (query.wantsZoneVersion) {
    at = writeOptionHead(output, at, { code: optionCode.zoneVersion, length: 6 });
    output[at++] = zone.originLabels;
    output[at++] = 0;
    for (let index = 0; index < 4; index++) output[at++] = octets[end - 20 + index]!;
  }
  return at;
}

function writeOptionHead(
  output: Uint8Array,
  at: number,
  { code, length }: { readonly code: number; readonly length: number },
): number {
  output[at] = code >>> 8;
  output[at + 1] = code;
  output[at + 2] = length >>> 8;
  output[at + 3] = length;
  return at + 4;
}
