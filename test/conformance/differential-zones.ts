import type { Random } from "@meridian/runtime";

/** A zone both servers load. */
export interface DifferentialZone {
  readonly origin: string;
  readonly text: string;
  /** Names worth asking for, absolute. */
  readonly names: readonly string[];
}

const apex = `$TTL 60
@ SOA ns1 hostmaster 7 7200 1800 86400 30
@ NS ns1
@ NS ns2.example.
ns1 A 192.0.2.53
`;

/** Every form of owner and of answer that the standards tell apart, by hand. */
export const handWritten: DifferentialZone = zoneOf(
  "p.test",
  `www A 192.0.2.1
www A 192.0.2.2
www AAAA 2001:db8::1
WwW TXT "case"
*.wild A 192.0.2.10
*.wild TXT "wild"
host.wild A 192.0.2.11
a.ent.wild A 192.0.2.12
b.c.d A 192.0.2.13
alias CNAME www
alias2 CNAME alias
dangling CNAME nope
nodata CNAME ns1
ext CNAME www.example.org.
deepcn CNAME x.sub
tocut CNAME sub
towild CNAME x.y.wild
toent CNAME c.d
loop1 CNAME loop2
loop2 CNAME loop1
self CNAME self
*.wcn CNAME www
*.wloop CNAME bar.wloop
f.*.wc2 A 192.0.2.14
sub NS ns.sub
sub NS ns.other.example.
ns.sub A 192.0.2.54
ns.sub AAAA 2001:db8::54
a.sub NS ns.example.
hidden.sub A 192.0.2.99
sub2 NS ns.other.example.
deep.under.sub3 NS ns.sub
big TXT "${"x".repeat(250)}" "${"y".repeat(250)}"
t666 TYPE666 \\# 4 01020304
mail MX 10 www
mail MX 20 sub
srv SRV 1 2 443 www
ptr PTR www
caa CAA 0 issue "ca.example"
dn DNAME target
dn TXT "beside the DNAME"
a.target A 192.0.2.20
*.target TXT "wild"
dnx DNAME www.example.org.
dntosub DNAME sub
viadn CNAME a.dn
svc HTTPS 1 . alpn="h2,h3" port=8443
gone.www A 192.0.2.30
under\\.dot A 192.0.2.31
\\042.star A 192.0.2.32
`,
);

/** What stands below a DNAME is hidden. NSD and Knot do not load such a zone. */
export const occluded: DifferentialZone = zoneOf(
  "occluded.test",
  `dn DNAME target
hidden.dn A 192.0.2.98
b.hidden.dn TXT "hidden"
a.target A 192.0.2.20
hidden.target TXT "seen"
`,
);

const labels = ["a", "b", "*", "ab"];
const types = ["A", "A", "A", "TXT", "CNAME", "CNAME", "NS", "MX", "DNAME"];

/** A small zone of random records over few labels, so that they meet: wildcards, cuts, aliases and holes. */
export function randomZone(origin: string, random: Random): DifferentialZone {
  const below = (limit: number): number => random.uint32() % limit;
  const owner = (): string =>
    Array.from({ length: 1 + below(3) }, () => labels[below(labels.length)]!).join(".");
  const owned = new Map<string, Set<string>>();
  const lines: string[] = [];
  for (let count = 4 + below(10); count > 0; count--) {
    const name = owner();
    const type = types[below(types.length)]!;
    const beside = owned.get(name) ?? new Set();
    // What no zone may hold: an alias beside other data or twice, and cuts or DNAMEs at wildcards.
    if (beside.has("CNAME") || beside.has("DNAME") || (type === "CNAME" && beside.size > 0)) continue;
    if ((type === "NS" || type === "DNAME") && (name.startsWith("*") || beside.size > 0)) continue;
    if (beside.has("NS") && type !== "NS") continue;
    if (type === "DNAME" ? isAbove(name, owned) : isBelowDname(name, owned)) continue;
    beside.add(type);
    owned.set(name, beside);
    lines.push(`${name} ${type} ${dataOf(type, { target: owner(), number: below(200) + 1 })}`);
  }
  return zoneOf(origin, `${lines.join("\n")}\n`);
}

/** Whether a name has others below it: data below a DNAME keeps some servers from loading the zone. */
function isAbove(name: string, owned: ReadonlyMap<string, unknown>): boolean {
  return [...owned.keys()].some((other) => other.endsWith(`.${name}`));
}

function isBelowDname(name: string, owned: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return [...owned].some(([other, types]) => types.has("DNAME") && name.endsWith(`.${other}`));
}

function dataOf(type: string, { target, number }: { target: string; number: number }): string {
  switch (type) {
    case "A":
      return `198.51.100.${number}`;
    case "TXT":
      return `"t${number}"`;
    case "MX":
      return `${number} ${target}`;
    default:
      return target;
  }
}

function zoneOf(origin: string, records: string): DifferentialZone {
  return { origin, text: `$ORIGIN ${origin}.\n${apex}${records}`, names: namesToAsk(origin, records) };
}

/** Each owner, what stands above it, below it and beside it, in several spellings. */
function namesToAsk(origin: string, records: string): string[] {
  const names = new Set([origin, `nx.${origin}`, `x.nx.${origin}`, `x.ns1.${origin}`, "other.example", "."]);
  for (const line of records.split("\n")) {
    const owner = line.split(" ")[0]!;
    if (owner === "") continue;
    const parts = owner.split(".");
    for (let drop = 0; drop < parts.length; drop++) {
      const name = `${parts.slice(drop).join(".")}.${origin}`;
      if (name.startsWith(".")) continue;
      for (const prefix of ["", "x.", "x.y.", "*.", "a.", "a.x."]) names.add(prefix + name);
    }
    names.add(
      `${owner.replace(/[a-z]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter))}.${origin}`,
    );
  }
  return [...names];
}
