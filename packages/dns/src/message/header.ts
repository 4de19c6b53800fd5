/** Octets of the header that every message begins with (RFC 1035 §4.1.1). */
export const headerOctets = 12;
