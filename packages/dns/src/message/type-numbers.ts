/**
 * Numbers of the record types that rules are about (IANA, DNS parameters). All types with their names are in `codes.ts`;
 * these are apart from that table, so that answering compares with constants.
 */
export const typeA = 1;
export const typeNs = 2;
export const typeCname = 5;
export const typeSoa = 6;
export const typeMx = 15;
export const typeTxt = 16;
export const typeAaaa = 28;
export const typeSrv = 33;
export const typeDname = 39;
export const typeOpt = 41;
export const typeDs = 43;
export const typeRrsig = 46;
export const typeNsec = 47;
export const typeDnskey = 48;
export const typeNsec3 = 50;
export const typeNsec3Param = 51;
export const typeCds = 59;
export const typeCdnskey = 60;
export const typeSvcb = 64;
export const typeHttps = 65;
/** 128 to 255 are types of questions and messages, never of data (RFC 6895 §3.1). */
export const typeMetaMin = 128;
export const typeNxname = 128;
export const typeTsig = 250;
export const typeIxfr = 251;
export const typeAxfr = 252;
export const typeAny = 255;
