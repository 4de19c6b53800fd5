import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsQuestion } from "../client/question-asking.ts";
import type { Verdict } from "../client/verdict.ts";
import { rdataToText } from "../message/rdata.ts";
import { typeDnskey } from "../message/type-numbers.ts";
import { testKey } from "../testdata/signed-zone.ts";
import { fetchPeerKeys, hasDs, isKeyPublished } from "./peer-keys.ts";
import { dnskeyOf, dsToText } from "./signing-key.ts";

const server = { address: "192.0.2.1", port: 53 };
const question = { servers: [server], deadlineMs: 1_000 };
const subject = { zone: "p.test", ownKeysLabel: "_own-dnskey" };
const [ksk, zsk] = [testKey(1, true), testKey(2, false)];
const text = (key: typeof ksk): string => rdataToText(typeDnskey, dnskeyOf(key));

/** A peer with these sets, by `name type`; what it does not have is NODATA. */
function peer(sets: Readonly<Record<string, readonly string[]>>, otherwise?: Verdict) {
  return {
    query: ({ name, type }: DnsQuestion): Promise<Verdict> => {
      const data = sets[`${name} ${type}`];
      if (data === undefined && otherwise !== undefined) return Promise.resolve(otherwise);
      return Promise.resolve({
        state: "answered",
        outcome: data === undefined ? "nodata" : "data",
        authoritative: true,
        records: (data ?? []).map((one) => ({ name, type, ttl: 60, data: one })),
        authority: [],
        additional: [],
        server,
      });
    },
  };
}

test("a peer's keys are its own, with what it wants a DS for", async () => {
  const found = await fetchPeerKeys(
    peer({ "_own-dnskey.p.test DNSKEY": [text(ksk), text(zsk)], "_own-dnskey.p.test CDNSKEY": [text(ksk)] }),
    subject,
    question,
  );
  assert.deepEqual(found, {
    state: "known",
    keys: [
      { dnskey: dnskeyOf(ksk), wantsDs: true },
      { dnskey: dnskeyOf(zsk), wantsDs: false },
    ],
  });
});

const rsa = "257 3 8 AwEAAag=";
for (const [what, sets, otherwise, reason] of [
  ["that is silent", {}, { state: "unreachable", reason: "no reply in time" }, /no reply in time/],
  ["that refuses", {}, { state: "refused", rcode: "REFUSED", server }, /REFUSED/],
  ["that does not sign", {}, undefined, /does not sign/],
  [
    "that tells half of it",
    { "_own-dnskey.p.test DNSKEY": [text(ksk)] },
    { state: "unreachable", reason: "gone" },
    /gone/,
  ],
  ["with another algorithm", { "_own-dnskey.p.test DNSKEY": [rsa] }, undefined, /algorithm 8/],
  [
    "with a key of no zone",
    { "_own-dnskey.p.test DNSKEY": [text(zsk).replace("256", "0")] },
    undefined,
    /flags 0/,
  ],
  ["with a short key", { "_own-dnskey.p.test DNSKEY": ["257 3 13 AAAA"] }, undefined, /wrong length/],
  [
    "with many keys",
    { "_own-dnskey.p.test DNSKEY": Array.from({ length: 7 }, (_, index) => text(testKey(10 + index, true))) },
    undefined,
    /more than 6/,
  ],
] as const) {
  test(`the keys of a peer ${what} are unknown, which is not none`, async () => {
    const found = await fetchPeerKeys(peer(sets, otherwise), subject, question);
    assert.ok(found.state === "unknown");
    assert.match(found.reason, reason);
  });
}

test("whether a key is published, and has its DS, is yes, no or unknown", async () => {
  const asked = { zone: "p.test", key: ksk };
  const silent = peer({}, { state: "unreachable", reason: "no reply in time" });
  assert.equal(
    await isKeyPublished(peer({ "p.test DNSKEY": [text(zsk), text(ksk)] }), asked, question),
    true,
  );
  assert.equal(await isKeyPublished(peer({ "p.test DNSKEY": [text(zsk)] }), asked, question), false);
  assert.equal(await isKeyPublished(silent, asked, question), undefined);
  assert.equal(await hasDs(peer({ "p.test DS": [dsToText("p.test", ksk)] }), asked, question), true);
  assert.equal(await hasDs(peer({}), asked, question), false);
  assert.equal(await hasDs(silent, asked, question), undefined);
});
