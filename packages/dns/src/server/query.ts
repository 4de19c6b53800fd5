import { headerOctets } from "../message/header.ts";
import { typeAny, typeMetaMin, typeOpt, typeTsig } from "../message/type-numbers.ts";
import { LookupName } from "../name/lookup-name.ts";

/** What reading a message came to. */
export type QueryVerdict = "ok" | "malformed";

/** The EDNS options that are known here. */
export const optionCode = {
  nsid: 3,
  clientSubnet: 8,
  expire: 9,
  cookie: 10,
  keepalive: 11,
  padding: 12,
  extendedError: 15,
  zoneVersion: 19,
} as const;

/** An OPT record without options. */
export const optOctets = 11;

/**
 * A received message, read in place. One object is used again for every message: nothing is allocated, and every
 * offset is checked against the message's end before it is read.
 */
export class Query {
  input: Uint8Array = new Uint8Array();
  /** Over `input`, where it is read not for the first time: a buffer that comes once is read sooner than this is made. */
  view: DataView | undefined;
  /** Where the message starts in `input`, and its end. */
  start = 0;
  end = 0;
  /** The first question's name, folded. */
  readonly name: LookupName;
  /** Whether a question was read whole, so that it can be repeated in the answer. */
  hasQuestion = false;
  /** Octets of the question with type and class. */
  questionLength = 0;
  type = 0;
  class = 0;
  /** Where the answer section starts. */
  answersAt = 0;
  answerCount = 0;

  hasOpt = false;
  version = 0;
  payloadSize = 0;
  dnssecOk = false;
  /** The CO flag: NXDOMAIN may be said of a name whose absence is signed (RFC 9824 §5.1). */
  compactOk = false;
  /** Whether OPT has any options. */
  hasOptions = false;
  wantsServerId = false;
  wantsKeepalive = false;
  wantsPadding = false;
  wantsExpire = false;
  wantsZoneVersion = false;
  /** Where the COOKIE option's data starts, or -1. */
  cookieAt = -1;
  cookieLength = 0;
  /** Where the CLIENT-SUBNET option's data starts, or -1. */
  subnetAt = -1;
  subnetLength = 0;
  /** Where the TSIG record starts and where behind its name, or -1. */
  signatureAt = -1;
  signatureFieldsAt = -1;

  readonly #readsSubnet: boolean;

  /** With `ednsSubnet` false a client subnet is an option like those that nobody knows. */
  constructor(seed: number, { ednsSubnet }: { readonly ednsSubnet: boolean } = { ednsSubnet: true }) {
    this.name = new LookupName(seed);
    this.#readsSubnet = ednsSubnet;
  }

  /** Points at a message of at least 12 octets and forgets the one before. */
  open(input: Uint8Array, start: number, length: number): void {
    if (input === this.input) this.view ??= new DataView(input.buffer, input.byteOffset, input.byteLength);
    else this.#change(input);
    this.start = start;
    this.end = start + length;
    this.hasQuestion = false;
    this.questionLength = 0;
    this.hasOpt = false;
    this.version = 0;
    this.payloadSize = 0;
    this.dnssecOk = false;
    this.compactOk = false;
    this.hasOptions = false;
    this.wantsServerId = false;
    this.wantsKeepalive = false;
    this.wantsPadding = false;
    this.wantsExpire = false;
    this.wantsZoneVersion = false;
    this.cookieAt = -1;
    this.subnetAt = -1;
    this.signatureAt = -1;
  }

  /**
   * As `open`, `readQuestion` and `readSections` in one, for the questions that are by far the most: an ordinary type of class
   * IN, and no other record than an OPT record with no option but a cookie. False, and the message is to be opened as any other, where
   * it is none of them.
   */
  openPlain(input: Uint8Array, start: number, length: number): boolean {
    const end = start + length;
    if (
      (input[start + 2]! & 0xf8) !== 0 ||
      input[start + 5] !== 1 ||
      (input[start + 4]! | input[start + 6]! | input[start + 7]! | input[start + 8]! | input[start + 9]!) !==
        0 ||
      input[start + 10] !== 0 ||
      input[start + 11]! > 1
    )
      return false;
    this.open(input, start, length);
    const at = start + headerOctets;
    const behind = this.name.read(input, at, end, this.view);
    if (behind < 0 || behind + 4 > end || input[behind + 2] !== 0 || input[behind + 3] !== 1) return false;
    const type = (input[behind]! << 8) | input[behind + 1]!;
    if ((type >= typeMetaMin && type <= typeAny) || type === typeOpt) return false;
    this.type = type;
    this.class = 1;
    this.questionLength = behind + 4 - at;
    this.answersAt = behind + 4;
    this.answerCount = 0;
    this.hasQuestion = true;
    if (input[start + 11] === 0) return true;
    return this.#readPlainOpt(behind + 4) && this.version === 0;
  }

  #change(input: Uint8Array): void {
    this.input = input;
    this.view = undefined;
  }

  /** Reads an OPT record without options or with a cookie only; false, and nothing is read, where something else follows. */
  #readPlainOpt(at: number): boolean {
    const { input, end } = this;
    const dataAt = at + optOctets;
    if (dataAt > end || input[at] !== 0 || input[at + 1] !== 0 || input[at + 2] !== typeOpt) return false;
    const length = (input[at + 9]! << 8) | input[at + 10]!;
    if (dataAt + length !== end || (length > 0 && !this.#readLoneCookie(dataAt, length))) return false;
    this.#readOptFields(at + 1);
    return true;
  }

  #readLoneCookie(at: number, length: number): boolean {
    const { input } = this;
    const cookieLength = length - 4;
    if (length < 4 || input[at] !== 0 || input[at + 1] !== optionCode.cookie) return false;
    if (((input[at + 2]! << 8) | input[at + 3]!) !== cookieLength || !isCookieLength(cookieLength))
      return false;
    this.cookieAt = at + 4;
    this.cookieLength = cookieLength;
    this.hasOptions = true;
    return true;
  }

  count(field: 4 | 6 | 8 | 10): number {
    const at = this.start + field;
    return (this.input[at]! << 8) | this.input[at + 1]!;
  }

  /** Reads the first question, if there is one. */
  readQuestion(): QueryVerdict {
    const { input, end } = this;
    const at = this.start + headerOctets;
    this.answersAt = at;
    if (this.count(4) === 0) return "ok";
    const behind = this.name.read(input, at, end, this.view);
    if (behind < 0 || behind + 4 > end) return "malformed";
    this.type = (input[behind]! << 8) | input[behind + 1]!;
    this.class = (input[behind + 2]! << 8) | input[behind + 3]!;
    this.questionLength = behind + 4 - at;
    this.answersAt = behind + 4;
    this.hasQuestion = true;
    return "ok";
  }

  /** Reads all other sections, and with them OPT and TSIG. */
  readSections(): QueryVerdict {
    this.answerCount = this.count(6);
    const others = this.answerCount + this.count(8);
    const additional = this.count(10);
    const total = others + additional;
    let at = this.answersAt;
    // By far the most queries end here or with one OPT record.
    if (total === 0) return "ok";
    const { input, end } = this;
    if (total === 1 && additional === 1 && this.#readPlainOpt(at)) return "ok";
    for (let index = 0; index < total; index++) {
      const recordAt = at;
      at = this.#skipName(at);
      if (at < 0 || at + 10 > end) return "malformed";
      const type = (input[at]! << 8) | input[at + 1]!;
      const dataAt = at + 10;
      const dataEnd = dataAt + ((input[at + 8]! << 8) | input[at + 9]!);
      if (dataEnd > end) return "malformed";
      if (type === typeOpt) {
        // RFC 6891 §6.1.1: one OPT, in the additional section, owned by the root.
        if (index < others || this.hasOpt || input[recordAt] !== 0) return "malformed";
        if (!this.#readOpt(at, dataEnd)) return "malformed";
      } else if (type === typeTsig) {
        // RFC 8945 §5.1: the last record of the additional section.
        if (index < others || index !== total - 1 || dataEnd !== end) return "malformed";
        this.signatureAt = recordAt;
        this.signatureFieldsAt = at;
      }
      at = dataEnd;
    }
    return "ok";
  }

  /** The offset behind a name that may be compressed, or -1. A pointer ends it, so nothing is followed. */
  #skipName(from: number): number {
    const { input, end, start } = this;
    for (let at = from; at < end;) {
      const octet = input[at]!;
      if (octet === 0) return at - from < 255 ? at + 1 : -1;
      if (octet >= 0xc0) {
        if (at + 1 >= end) return -1;
        const target = ((octet & 0x3f) << 8) | input[at + 1]!;
        return target >= headerOctets && target < from - start ? at + 2 : -1;
      }
      if (octet > 63) return -1;
      at += octet + 1;
    }
    return -1;
  }

  #readOpt(fieldsAt: number, dataEnd: number): boolean {
    const { input } = this;
    for (let at = fieldsAt + 10; at < dataEnd;) {
      if (at + 4 > dataEnd) return false;
      const code = (input[at]! << 8) | input[at + 1]!;
      const length = (input[at + 2]! << 8) | input[at + 3]!;
      at += 4;
      if (at + length > dataEnd) return false;
      if (!this.#readOption(code, at, length)) return false;
      at += length;
    }
    this.hasOptions = dataEnd > fieldsAt + 10;
    this.#readOptFields(fieldsAt);
    return true;
  }

  /** What stands where class and TTL stand in other records (RFC 6891 §6.1.3). */
  #readOptFields(at: number): void {
    const { input } = this;
    this.hasOpt = true;
    this.payloadSize = (input[at + 2]! << 8) | input[at + 3]!;
    this.version = input[at + 5]!;
    const flags = input[at + 6]!;
    this.dnssecOk = (flags & 0x80) !== 0;
    this.compactOk = (flags & 0x40) !== 0;
  }

  #readOption(code: number, at: number, length: number): boolean {
    switch (code) {
      case optionCode.nsid:
        this.wantsServerId = true;
        return true;
      case optionCode.cookie:
        // RFC 7873 §5.3: only the first counts.
        if (this.cookieAt >= 0) return true;
        this.cookieAt = at;
        this.cookieLength = length;
        return isCookieLength(length);
      case optionCode.clientSubnet:
        if (!this.#readsSubnet) return true;
        if (this.subnetAt >= 0) return false;
        this.subnetAt = at;
        this.subnetLength = length;
        return this.#isSubnet(at, length);
      case optionCode.keepalive:
        this.wantsKeepalive = true;
        return true;
      case optionCode.expire:
        this.wantsExpire = true;
        return true;
      case optionCode.zoneVersion:
        this.wantsZoneVersion = true;
        return true;
      case optionCode.padding:
        this.wantsPadding = true;
        return true;
      default:
        return true;
    }
  }

  /** RFC 7871 §6: family, prefix, scope 0, and exactly as many octets as the prefix needs, the rest of the last one zero. */
  #isSubnet(at: number, length: number): boolean {
    const { input } = this;
    if (length < 4) return false;
    const family = (input[at]! << 8) | input[at + 1]!;
    const prefix = input[at + 2]!;
    if (input[at + 3] !== 0) return false;
    if (family === 0) return prefix === 0 && length === 4;
    if (family > 2 || prefix > (family === 1 ? 32 : 128)) return false;
    if (length !== 4 + ((prefix + 7) >>> 3)) return false;
    const spare = (8 - (prefix & 7)) & 7;
    return spare === 0 || (input[at + length - 1]! & ((1 << spare) - 1)) === 0;
  }
}

/** RFC 7873 §4: 8 octets of the client, and 8 to 32 of the server if it has any. */
function isCookieLength(octets: number): boolean {
  return octets === 8 || (octets >= 16 && octets <= 40);
}
