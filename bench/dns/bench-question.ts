import { aliasesOf, origin } from "./bench-zone.ts";

/** What a question of the bench asks for. */
export type QuestionKind = "hit" | "nxdomain" | "nodata" | "cname" | "wildcard" | "referral";

export interface BenchQuestion {
  readonly kind: QuestionKind;
  readonly name: string;
  readonly type: "A" | "AAAA";
}

/** A question of this kind; `draw` chooses the name. */
export function benchQuestion(
  kind: QuestionKind,
  hosts: number,
  draw: (below: number) => number,
): BenchQuestion {
  switch (kind) {
    case "hit":
      return { kind, name: `host${draw(hosts)}.${origin}`, type: "A" };
    case "nxdomain":
      return { kind, name: `nx${draw(2 ** 31)}.${origin}`, type: "A" };
    case "nodata":
      return { kind, name: `host${draw(hosts)}.${origin}`, type: "AAAA" };
    case "cname":
      return { kind, name: `alias${draw(aliasesOf(hosts))}.${origin}`, type: "A" };
    case "wildcard":
      return { kind, name: `w${draw(2 ** 31)}.wild.${origin}`, type: "A" };
    case "referral":
      return { kind, name: `r${draw(2 ** 31)}.child.${origin}`, type: "A" };
  }
}

/** How an answer's header must look; `answers` lists the counts allowed. */
export interface ExpectedHeader {
  readonly rcode: number;
  readonly answers: readonly number[];
  readonly authoritative: boolean;
  readonly authorities: "some" | "any";
}

/** What every right server answers. One CNAME without its target is right, too: gdnsd leaves the rest to the resolver. */
export const expectedHeaders: Readonly<Record<QuestionKind, ExpectedHeader>> = {
  hit: { rcode: 0, answers: [2], authoritative: true, authorities: "any" },
  nxdomain: { rcode: 3, answers: [0], authoritative: true, authorities: "some" },
  nodata: { rcode: 0, answers: [0], authoritative: true, authorities: "some" },
  cname: { rcode: 0, answers: [1, 3], authoritative: true, authorities: "any" },
  wildcard: { rcode: 0, answers: [1], authoritative: true, authorities: "any" },
  referral: { rcode: 0, answers: [0], authoritative: false, authorities: "some" },
};
