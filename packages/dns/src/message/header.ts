/** Octets of the header that every message begins with (RFC 1035 §4.1.1). */
export const headerOctets = 12;

/** What a message asks to be done (IANA, DNS parameters); those that this package knows. */
export const opcode = { query: 0, notify: 4, update: 5 } as const;

/** Response codes that rules are about (IANA, DNS parameters). All with their names are in `codes.ts`. */
export const rcode = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  yxDomain: 6,
  yxRRset: 7,
  nxRRset: 8,
  notAuth: 9,
  notZone: 10,
  badVers: 16,
  badCookie: 23,
} as const;
