import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { authorityOf } from "../testdata/case-zone.ts";
import { askSigned, SetClock, testKey, testKeys } from "../testdata/signed-zone.ts";
import { AnswerSigner } from "./answer-signer.ts";
import { OnlineSigner, type ZoneSigning } from "./online-signer.ts";
import { introduceKey, scheduleTakeover } from "./key-rollover.ts";
import { dnskeyOf, keyTagOf, type SigningKey } from "./signing-key.ts";
import { ZoneKeys } from "./zone-keys.ts";

const zoneText = "$ORIGIN p.test.\n$TTL 60\n@ SOA ns h 1 2 3 4 5\n@ NS ns\nns A 192.0.2.53\n";
const tag = (key: SigningKey): number => keyTagOf(dnskeyOf(key));
const delays = { dnskeyTtl: 60, recordTtlMax: 60, dsTtl: 60, propagation: 10 };

function signedWorld(label?: string) {
  const clock = new SetClock();
  const authority = authorityOf([zoneText], { clock });
  const answers = new AnswerSigner({ clock });
  const told: ZoneSigning[] = [];
  const options = { keys: testKeys, ...(label === undefined ? {} : { ownKeysLabel: label }) };
  const context = {
    clock,
    log: silentLogger,
    answers,
    onSigning: (signing: ZoneSigning) => void told.push(signing),
  };
  const zone = authority.zone("p.test")!;
  const zoneKeys = new ZoneKeys(zone, options, context);
  const ask = (name: string, type: string) => askSigned(authority, [name, type]);
  const tagOf = (name: string, type: string): number =>
    Number(
      ask(name, type)
        .answers.find((record) => record.type === "RRSIG")!
        .data.split(" ")[6],
    );
  const count = (type: string, name = "p.test"): number =>
    ask(name, type).answers.filter((record) => record.type === type).length;
  return { clock, authority, zone, zoneKeys, ask, tagOf, count, told };
}

test("a roll-over goes through its steps by the clock alone, each with one serial step", () => {
  const { clock, zone, zoneKeys, tagOf, count } = signedWorld();
  const seconds = (): number => clock.now() / 1000;
  const [ksk, zsk] = testKeys.own as [SigningKey, SigningKey];
  const fresh = testKey(3, false);
  assert.deepEqual(
    [tagOf("p.test", "DNSKEY"), tagOf("ns.p.test", "A"), count("DNSKEY")],
    [tag(ksk), tag(zsk), 2],
  );
  let { serial } = zone;
  zoneKeys.set(introduceKey(zoneKeys.keys, fresh, seconds()));
  assert.deepEqual([zone.serial, count("DNSKEY"), tagOf("ns.p.test", "A")], [serial + 1, 3, tag(zsk)]);
  const sightings = { publishedEverywhereAt: seconds() };
  zoneKeys.set(scheduleTakeover(zoneKeys.keys, tag(fresh), { now: seconds(), sightings, delays }));
  ({ serial } = zone);
  clock.advance(69);
  assert.equal(tagOf("ns.p.test", "A"), tag(zsk));
  clock.advance(1);
  assert.deepEqual([tagOf("ns.p.test", "A"), count("DNSKEY"), zone.serial], [tag(fresh), 3, serial]);
  clock.advance(70);
  assert.deepEqual([tagOf("ns.p.test", "A"), count("DNSKEY"), zone.serial], [tag(fresh), 2, serial + 1]);
});

test("other threads are told what to sign with, can be sent it, and sign the same", () => {
  const { told, clock } = signedWorld();
  assert.equal(told.length, 1);
  const copy = structuredClone(told[0]!);
  const authority = authorityOf([zoneText], { clock });
  authority.zone("p.test")!.signing = new OnlineSigner(copy, new AnswerSigner({ clock }));
  const { answers } = askSigned(authority, ["ns.p.test", "A"]);
  assert.equal(Number(answers[1]!.data.split(" ")[6]), tag(testKeys.own[1]!));
});

test("the keys of this cluster alone are found below the apex, without those of others", () => {
  const { zoneKeys, count, ask } = signedWorld("_own-dnskey");
  const other = testKey(9, true);
  zoneKeys.set({ ...zoneKeys.keys, foreign: [{ dnskey: dnskeyOf(other), wantsDs: true }] });
  assert.deepEqual([count("DNSKEY"), count("CDNSKEY"), count("CDS")], [3, 2, 2]);
  const own = "_own-dnskey.p.test";
  assert.deepEqual([count("DNSKEY", own), count("CDNSKEY", own), count("CDS", own)], [2, 1, 0]);
  assert.equal(ask(own, "DNSKEY").answers.filter(({ type }) => type === "RRSIG").length, 1);
});

test("closing takes out what was put in, and ends signing", () => {
  const { zone, zoneKeys, ask } = signedWorld("_own-dnskey");
  zoneKeys[Symbol.dispose]();
  assert.equal(ask("p.test", "DNSKEY").answers.length, 0);
  assert.equal(ask("_own-dnskey.p.test", "DNSKEY").rcode, 3);
  assert.equal(zone.signing, undefined);
});
