import { DnsError } from "../dns-error.ts";

const typeNumbers: ReadonlyMap<string, number> = new Map(
  Object.entries({
    A: 1,
    NS: 2,
    MD: 3,
    MF: 4,
    CNAME: 5,
    SOA: 6,
    MB: 7,
    MG: 8,
    MR: 9,
    PTR: 12,
    HINFO: 13,
    MINFO: 14,
    MX: 15,
    TXT: 16,
    RP: 17,
    AFSDB: 18,
    SIG: 24,
    KEY: 25,
    AAAA: 28,
    LOC: 29,
    NXT: 30,
    SRV: 33,
    NAPTR: 35,
    KX: 36,
    CERT: 37,
    DNAME: 39,
    OPT: 41,
    APL: 42,
    DS: 43,
    SSHFP: 44,
    IPSECKEY: 45,
    RRSIG: 46,
    NSEC: 47,
    DNSKEY: 48,
    DHCID: 49,
    NSEC3: 50,
    NSEC3PARAM: 51,
    TLSA: 52,
    SMIMEA: 53,
    HIP: 55,
    CDS: 59,
    CDNSKEY: 60,
    OPENPGPKEY: 61,
    CSYNC: 62,
    ZONEMD: 63,
    SVCB: 64,
    HTTPS: 65,
    SPF: 99,
    NXNAME: 128,
    TKEY: 249,
    TSIG: 250,
    IXFR: 251,
    AXFR: 252,
    MAILB: 253,
    MAILA: 254,
    ANY: 255,
    URI: 256,
    CAA: 257,
  }),
);
const typeNames: ReadonlyMap<number, string> = new Map(
  [...typeNumbers].map(([name, number]) => [number, name]),
);

const classNumbers: ReadonlyMap<string, number> = new Map(
  Object.entries({ IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 }),
);

const rcodeNames: readonly string[] = [
  "NOERROR",
  "FORMERR",
  "SERVFAIL",
  "NXDOMAIN",
  "NOTIMP",
  "REFUSED",
  "YXDOMAIN",
  "YXRRSET",
  "NXRRSET",
  "NOTAUTH",
  "NOTZONE",
  "DSOTYPENI",
  "RCODE12",
  "RCODE13",
  "RCODE14",
  "RCODE15",
  "BADVERS",
  "BADKEY",
  "BADTIME",
  "BADMODE",
  "BADNAME",
  "BADALG",
  "BADTRUNC",
  "BADCOOKIE",
];

/** The number of a record type given as mnemonic or `TYPE666`. @throws DnsError `BadRecord` */
export function typeFromText(text: string): number {
  const number = findNumber(text, { known: typeNumbers, prefix: "TYPE" });
  if (number !== undefined) return number;
  throw new DnsError(
    "BadRecord",
    `record type ${JSON.stringify(text)} is not known; write its number as TYPEnnn`,
  );
}

/** Whether a text names a record type. */
export function isTypeText(text: string): boolean {
  return findNumber(text, { known: typeNumbers, prefix: "TYPE" }) !== undefined;
}

/** The mnemonic of a record type, or `TYPE666` where it has none (RFC 3597 §5). */
export function typeToText(type: number): string {
  return typeNames.get(type) ?? `TYPE${type}`;
}

/** The form in which types are compared: the mnemonic also of what is given as `TYPE1`. @throws DnsError `BadRecord` */
export function foldTypeText(text: string): string {
  return typeToText(typeFromText(text));
}

/** The number of a class given as mnemonic or `CLASS1`, or `undefined`. */
export function classFromText(text: string): number | undefined {
  return findNumber(text, { known: classNumbers, prefix: "CLASS" });
}

/** The name of a 12-bit response code: `NXDOMAIN`, or `RCODE99` where it has none. */
export function rcodeToText(rcode: number): string {
  return rcodeNames[rcode] ?? `RCODE${rcode}`;
}

function findNumber(
  text: string,
  { known, prefix }: { readonly known: ReadonlyMap<string, number>; readonly prefix: string },
): number | undefined {
  const upper = text.toUpperCase();
  const number = known.get(upper);
  if (number !== undefined) return number;
  if (!upper.startsWith(prefix) || !/^[0-9]{1,5}$/.test(upper.slice(prefix.length))) return undefined;
  const value = Number(upper.slice(prefix.length));
  return value <= 0xffff ? value : undefined;
}
