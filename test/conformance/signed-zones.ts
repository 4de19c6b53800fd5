import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "../../e2e/harness/command.ts";
import { handWritten, type DifferentialZone } from "./differential-zones.ts";

/** How a zone is signed by the tools of others. */
export interface Signing {
  readonly tool: "dnssec-signzone" | "ldns-signzone";
  /** Options beside those for keys, names and files. */
  readonly options: readonly string[];
  /** Algorithms of ZSKs beside the first; for each other than ECDSA P-256 there is a KSK, too. Default: none. */
  readonly moreKeys?: readonly string[];
}

/** A zone that was signed, and what to trust. */
export interface SignedZone extends DifferentialZone {
  /** Fields of the DS record of its key. */
  readonly ds: string;
}

/** Delegations with and without DS, and names that are there only since others are below them. */
const delegations = `
secure NS ns.secure
ns.secure A 192.0.2.60
secure DS 12345 13 2 ${"ab".repeat(32)}
secure2 NS ns.other.example.
secure2 DS 12346 13 2 ${"cd".repeat(32)}
insecure.ent2 NS ns.other.example.
insecure2.ent2 NS ns.insecure2.ent2
ns.insecure2.ent2 A 192.0.2.61
mixed.ent3 NS ns.other.example.
a.mixed2.ent3 A 192.0.2.62
x.y.deep TXT "deep"
*.y.deep MX 5 www
*.deep2 CNAME nothing.deep3
`;

/** The zone of every form by hand, under another name, with delegations of all kinds. */
export function zoneToSign(origin: string): DifferentialZone {
  const added = delegations.trim().split("\n");
  const owners = [...new Set(added.map((line) => `${line.split(" ")[0]!}.${origin}`))];
  const names = handWritten.names.map((name) =>
    name.toLowerCase().endsWith(handWritten.origin)
      ? `${name.slice(0, -handWritten.origin.length)}${origin}`
      : name,
  );
  const text = handWritten.text.replace(`$ORIGIN ${handWritten.origin}.`, `$ORIGIN ${origin}.`) + delegations;
  return {
    origin,
    text,
    names: [...names, ...owners.flatMap((owner) => [owner, `x.${owner}`, `x.y.${owner}`, `*.${owner}`])],
  };
}

/** Signs a zone with fresh keys, in a folder of its own. */
export async function signZone(
  zone: DifferentialZone,
  { tool, options, moreKeys = [] }: Signing,
  folder: string,
): Promise<SignedZone> {
  const own = path.join(folder, `${zone.origin}-keys`);
  await mkdir(own);
  const generate = ["-q", "-K", own, "-a", "ECDSAP256SHA256"];
  const ksk = (await output("dnssec-keygen", [...generate, "-f", "KSK", zone.origin])).trim();
  const zsk = (await output("dnssec-keygen", [...generate, zone.origin])).trim();
  for (const algorithm of moreKeys) {
    const other = ["-q", "-K", own, "-a", algorithm, ...(algorithm.startsWith("RSA") ? ["-b", "2048"] : [])];
    await output("dnssec-keygen", [...other, zone.origin]);
    if (algorithm !== "ECDSAP256SHA256") await output("dnssec-keygen", [...other, "-f", "KSK", zone.origin]);
  }
  const [plain, signed] = [path.join(own, "zone"), path.join(own, "zone.signed")];
  await writeFile(plain, zone.text);
  const names = ["-o", zone.origin, "-f", signed];
  if (tool === "dnssec-signzone")
    await output(tool, [...options, "-S", "-K", own, "-d", own, ...names, plain]);
  else await output(tool, [...options, ...names, plain, path.join(own, ksk), path.join(own, zsk)]);
  const text = await readFile(signed, "utf8");
  const ds = await output("dnssec-dsfromkey", ["-2", path.join(own, `${ksk}.key`)]);
  return { ...zone, text, ds: ds.trim().replace(/^.*\sDS\s+/, "") };
}

/** What is not installed of the tools that sign, as a sentence; undefined when all are there. */
export function missingSigners(): string | undefined {
  const missing = Object.entries({ "dnssec-signzone": "bind9-utils", "ldns-signzone": "ldnsutils" }).filter(
    ([tool]) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0,
  );
  if (missing.length === 0) return undefined;
  assert.notEqual(process.env["CI"], "true", `not installed: ${missing.map(([tool]) => tool).join(", ")}`);
  return `not installed: ${missing.map(([tool, debian]) => `${tool} (Debian: ${debian})`).join(", ")}`;
}
