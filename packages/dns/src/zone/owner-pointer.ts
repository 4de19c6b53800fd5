import { headerOctets } from "../message/header.ts";

/** Offset of the question's name in every message: where the owner pointer of a compiled record points. */
export const questionNameAt: number = headerOctets;

/** That pointer (RFC 1035 §4.1.4). */
export const ownerPointer: number = 0xc000 | questionNameAt;
