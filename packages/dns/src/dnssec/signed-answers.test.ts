import assert from "node:assert/strict";
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { parseMessage, type Message, type MessageRecord } from "../message/message.ts";
import { rdataFromText } from "../message/rdata.ts";
import { typeFromText } from "../message/codes.ts";
import { foldName, foldNameText, nameFromText } from "../name/name.ts";
import { authorityOf, caseZoneText, exchange, question } from "../testdata/case-zone.ts";
import { mutate, seededIntegers } from "../testdata/mutator.ts";
import { askSigned, SetClock, signZones, testKeys } from "../testdata/signed-zone.ts";
import { CanonicalSet } from "./canonical-set.ts";
import { dnskeyOf, keyTagOf, type SigningKey } from "./signing-key.ts";

// Random questions to a signed zone: whatever the answer, each set in it that the zone answers for has a signature that
// holds, found by reading the message anew; so names, pointers, counts and limits are right.

const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const count = Number(process.env["FUZZ_QUESTIONS"] ?? 1_000);

const owners =
  "@ www ns1 host.wild a.ent.wild ent.wild alias alias2 dangling ext deepcn loop1 self x.sub sub ns.sub sub2 sib big many " +
  "t666 mail srv dn dnself dnx svc caa d c.d b.c.d target a.target nx localtargets-a.wild signed x.signed far";
const types =
  "A AAAA NS SOA CNAME MX TXT SRV DS DNSKEY CDS NSEC RRSIG ANY HTTPS CAA DNAME TYPE666 NSEC3PARAM PTR";
const zoneText = `${caseZoneText}
signed NS ns.signed
signed DS 12345 13 2 ${"00".repeat(32)}
ns.signed A 192.0.2.55
far MX 10 a.very.long.name.that.is.not.in.the.message.yet.MAIL
far MX 10 MAIL
*.wild SRV 1 2 3 WWW
`;

function publicKeyOf({ publicKey }: SigningKey): KeyObject {
  const text = (octets: Uint8Array): string => Buffer.from(octets).toString("base64url");
  const [x, y] = [text(publicKey.subarray(0, 32)), text(publicKey.subarray(32))];
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
}
const publicKeys = new Map(testKeys.own.map((key) => [keyTagOf(dnskeyOf(key)), publicKeyOf(key)]));

/** Whether one of the signatures holds for the set. */
function isSigned(set: readonly MessageRecord[], signatures: readonly MessageRecord[]): boolean {
  const { name, type: typeText, ttl } = set[0]!;
  const type = typeFromText(typeText);
  const canonical = new CanonicalSet();
  canonical.begin(foldName(nameFromText(name)), { type, ttl });
  for (const { data } of set) {
    const rdata = rdataFromText(type, data);
    canonical.add(rdata, 0, rdata.length);
  }
  canonical.finish();
  return signatures.some((record) => {
    if (record.ttl !== ttl) return false;
    const rdata = rdataFromText(typeFromText("RRSIG"), record.data);
    const key = publicKeys.get((rdata[16]! << 8) | rdata[17]!);
    if (key === undefined) return false;
    const signed = canonical.toSigned(rdata.subarray(0, -64));
    return verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, rdata.subarray(-64));
  });
}

/** The sets of a section that must be signed and are not. */
function unsignedSets(section: readonly MessageRecord[], isReferral: boolean): string[] {
  const sets = new Map<string, MessageRecord[]>();
  for (const record of section) {
    const key = `${foldNameText(record.name)} ${record.type}`;
    sets.set(key, [...(sets.get(key) ?? []), record]);
  }
  const dnames = section.filter(({ type }) => type === "DNAME").map(({ name }) => `.${foldNameText(name)}`);
  return [...sets].flatMap(([key, set]) => {
    const { name, type } = set[0]!;
    if (type === "RRSIG" || (isReferral && type === "NS")) return [];
    if (type === "CNAME" && dnames.some((dname) => foldNameText(name).endsWith(dname))) return [];
    const signatures = (sets.get(`${foldNameText(name)} RRSIG`) ?? []).filter(
      ({ data }) => data.split(" ")[0] === type,
    );
    return isSigned(set, signatures) ? [] : [key];
  });
}

function checkAnswer(message: Message): void {
  const isReferral = message.authority.some(({ type }) => type === "NS");
  assert.deepEqual(unsignedSets(message.answers, false), []);
  assert.deepEqual(unsignedSets(message.authority, isReferral), []);
  if (!isReferral) assert.deepEqual(unsignedSets(message.additional, false), []);
}

test(`every signed answer of ${count} random questions holds (FUZZ_SEED=${seed})`, () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  signZones(authority, ["p.test"], { clock, signaturesPerSecond: 1e9, cacheOctetsMax: 20_000 });
  const draw = seededIntegers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[draw(items.length)]!;
  const mixCase = (text: string): string =>
    text.replaceAll(/[a-z]/g, (letter) => (draw(2) === 0 ? letter : letter.toUpperCase()));
  let signed = 0;
  for (let index = 0; index < count; index++) {
    const owner = pick(owners.split(" "));
    const below = draw(4) === 0 ? `${pick(["x", "*", "a.b", "\\000", "q".repeat(63)])}.` : "";
    const name = mixCase(`${below}${owner === "@" ? "" : `${owner}.`}p.test`);
    const type = pick(types.split(" "));
    const payloadSize = pick([512, 600, 900, 1232]);
    const overTcp = draw(4) === 0;
    const client = overTcp ? ({ transport: "tcp" } as const) : {};
    const { octets, ...message } = askSigned(authority, [name, type], { payloadSize, client });
    const title = `${name} ${type} ${payloadSize}${overTcp ? " tcp" : ""}`;
    try {
      assert.ok(overTcp || octets.length <= payloadSize, `${octets.length} octets`);
      assert.deepEqual(parseMessage(octets).questions[0]!.name, name);
      checkAnswer(message);
    } catch (error) {
      throw new Error(`${title}: FUZZ_SEED=${seed}`, { cause: error });
    }
    if (message.answers.length + message.authority.length > 0) signed++;
  }
  assert.ok(signed > count / 2, `${signed} answers with records`);
});

test("mutated questions with DO are answered without a fault of ours, within their limit", () => {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  signZones(authority, ["p.test"], { clock, signaturesPerSecond: 1e9, cacheOctetsMax: 20_000 });
  const edns = { payloadSize: 1232, version: 0, dnssecOk: true, options: [] };
  const corpus = owners.split(" ").map((owner, index) => {
    const all = types.split(" ");
    return question(owner === "@" ? "p.test" : `${owner}.p.test`, all[index % all.length]!, { edns });
  });
  const integer = seededIntegers(seed);
  for (let index = 0; index < 2 * count; index++) {
    const packet = mutate(corpus, integer);
    const octets = exchange(authority, packet);
    if (octets === undefined) continue;
    assert.ok(octets.length <= 1232);
    parseMessage(octets);
  }
  assert.equal(authority.counters.faults, 0, `FUZZ_SEED=${seed}`);
});
