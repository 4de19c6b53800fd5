import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";
import type { Clock } from "@meridian/runtime";
import { composeMessage, parseMessage } from "../message/message.ts";
import { nameFromText } from "../name/name.ts";
import { stillClock } from "../testdata/case-zone.ts";
import { SignedRequest } from "./signed-request.ts";
import { parseTsigKey, type TsigKey } from "./tsig-key.ts";
import { parseTsigKeyFile } from "./tsig-key-file.ts";
import { TsigKeyring } from "./tsig-keyring.ts";
import { appendTsig, findTsig, stripTsig } from "./tsig-record.ts";
import { TsigSigner } from "./tsig-signer.ts";
import { verifyRequest, type RequestVerdict } from "./verify-request.ts";

const secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const key = parseTsigKey({ name: "Key.Example.", algorithm: "HMAC-SHA256", secret });
const clock = stillClock;
const clockAt = (aheadSeconds: number): Clock => ({
  ...clock,
  now: () => clock.now() + aheadSeconds * 1_000,
});
const keyring = new TsigKeyring([key]);
const question = composeMessage({
  id: 0x1234,
  questions: [{ name: "www.example", type: "A", class: 1 }],
  edns: {
    payloadSize: 1232,
    version: 0,
    dnssecOk: false,
    options: [{ code: 65_001, octets: Uint8Array.of(1, 2) }],
  },
});
const signedBy = (by: TsigKey, at: Clock = clock): Uint8Array =>
  new SignedRequest(question, { key: by, clock: at }).message;
const verify = (message: Uint8Array, keys: TsigKeyring = keyring): RequestVerdict =>
  verifyRequest(message, { keyring: keys, clock });

/** A change of the TSIG record, the MAC left as it is. */
function changed(message: Uint8Array, change: Partial<Parameters<typeof appendTsig>[1]>): Uint8Array {
  const search = findTsig(message);
  assert.ok(search.kind === "found");
  return appendTsig(stripTsig(message, search.record), { ...search.record, ...change });
}

function failureOf(verdict: RequestVerdict): string {
  return verdict.kind === "failed" ? verdict.error : verdict.kind;
}

/** What the TSIG record behind a refusal says. */
function sealOf(verdict: RequestVerdict): {
  readonly macOctets: number;
  readonly error: number;
  readonly other: number;
  readonly timeSigned: number;
} {
  assert.ok(verdict.kind === "failed");
  const search = findTsig(verdict.seal(composeMessage({ id: 0x1234, response: true, rcode: 9 })));
  assert.ok(search.kind === "found");
  const { mac, error, otherData, timeSigned } = search.record;
  return { macOctets: mac.length, error, other: otherData.length, timeSigned };
}

test("a key is read with its name folded; what cannot be used is refused without telling the secret", () => {
  assert.deepEqual([key.name, key.algorithm, key.secret.length], ["key.example", "hmac-sha256", 32]);
  assert.equal(parseTsigKey({ name: "k", algorithm: "hmac-sha512-256.", secret }).macOctetsMin, 32);
  const refused = [
    { name: "k", algorithm: "hmac-md5.sig-alg.reg.int", secret },
    { name: "k", algorithm: "hmac-sha1", secret },
    { name: "k", algorithm: "hmac-sha256-72", secret },
    { name: "k", algorithm: "hmac-sha256-512", secret },
    { name: "k", algorithm: "hmac-sha256", secret: "not base64!" },
    { name: "k", algorithm: "hmac-sha256", secret: "" },
    { name: "a..b", algorithm: "hmac-sha256", secret },
  ];
  for (const text of refused) {
    assert.throws(
      () => parseTsigKey(text),
      (error: Error & { code?: string }) =>
        error.code === "BadKey" && (text.secret === "" || !error.message.includes(text.secret)),
      JSON.stringify(text),
    );
  }
});

test("key files are read in BIND's form, with comments", () => {
  const text = `# one
key "a.example" {
	algorithm hmac-sha256; // its algorithm
	secret "${secret}";
};
/* another */ key b { secret "${secret}"; algorithm "hmac-sha384"; };`;
  assert.deepEqual(
    parseTsigKeyFile(text).map(({ name, algorithm }) => [name, algorithm]),
    [
      ["a.example", "hmac-sha256"],
      ["b", "hmac-sha384"],
    ],
  );
  assert.deepEqual(parseTsigKeyFile(""), []);
  for (const broken of [
    'key "a" {',
    "key a { algorithm hmac-sha256; };",
    "zone x { };",
    'key a { secret "x" }',
    "key a { file x; };",
  ])
    assert.throws(() => parseTsigKeyFile(broken), { code: "BadKey" }, broken);
});

test("the MAC is made over what RFC 8945 §4.3 names", () => {
  const message = signedBy(key);
  const search = findTsig(message);
  assert.ok(search.kind === "found");
  const seconds = Math.floor(clock.now() / 1000);
  const variables = Buffer.concat([
    nameFromText("key.example"),
    Buffer.from("00ff00000000", "hex"),
    nameFromText("hmac-sha256"),
    Buffer.from(`0000${seconds.toString(16).padStart(8, "0")}012c00000000`, "hex"),
  ]);
  const mac = createHmac("sha256", key.secret).update(question).update(variables).digest("hex");
  assert.equal(Buffer.from(search.record.mac).toString("hex"), mac);
});

test("F4, F5: what was signed verifies for each algorithm, is handed on as it was, and its answer verifies in turn", () => {
  for (const algorithm of ["hmac-sha224", "hmac-sha256", "hmac-sha384", "hmac-sha512"]) {
    const own = parseTsigKey({ name: "k", algorithm, secret });
    const request = new SignedRequest(question, { key: own, clock });
    const verdict = verify(request.message, new TsigKeyring([own]));
    assert.ok(verdict.kind === "verified");
    assert.deepEqual([verdict.key, verdict.message], ["k", question]);
    const answer = composeMessage({ id: 0x1234, response: true });
    const signed = verdict.signer.sign(answer);
    assert.equal(signed.length - answer.length, verdict.signer.octets);
    assert.deepEqual(request.verify(signed), { kind: "verified", message: answer });
  }
});

test("a message whose id was changed on the way verifies by its original id", () => {
  const message = signedBy(key);
  message[0] = 0xff;
  const verdict = verify(message);
  assert.ok(verdict.kind === "verified");
  assert.equal(parseMessage(verdict.message).id, 0xff34);
});

test("a key in another case is the same key; an unsigned message is none's", () => {
  assert.equal(verify(changed(signedBy(key), { keyName: nameFromText("KEY.example") })).kind, "verified");
  assert.equal(verify(question).kind, "unsigned");
});

const late = signedBy(key, clockAt(-301));
const failures: readonly {
  readonly name: string;
  readonly message: Uint8Array;
  readonly keys?: TsigKeyring;
  readonly is: string;
}[] = [
  { name: "an unknown key", message: signedBy({ ...key, name: "other" }), is: "BADKEY" },
  {
    name: "the key with another algorithm",
    message: signedBy({ ...key, algorithm: "hmac-sha512" }),
    is: "BADKEY",
  },
  {
    name: "an algorithm that is not taken",
    message: changed(signedBy(key), { algorithm: nameFromText("hmac-sha1") }),
    is: "BADKEY",
  },
  { name: "another secret", message: signedBy({ ...key, secret: new Uint8Array(32) }), is: "BADSIG" },
  { name: "no MAC", message: changed(signedBy(key), { mac: new Uint8Array() }), is: "BADSIG" },
  {
    name: "a wrong MAC and a wrong time: the MAC is looked at first",
    message: changed(late, { mac: new Uint8Array(32) }),
    is: "BADSIG",
  },
  {
    name: "an unknown key and a wrong MAC: the key is looked at first",
    message: changed(signedBy({ ...key, name: "o" }), { mac: new Uint8Array(32) }),
    is: "BADKEY",
  },
  { name: "a time before the fudge", message: late, is: "BADTIME" },
  { name: "a time behind the fudge", message: signedBy(key, clockAt(301)), is: "BADTIME" },
  { name: "a MAC cut to half", message: cutMac(16), is: "BADTRUNC" },
  { name: "a MAC cut below half", message: cutMac(15), is: "malformed" },
  {
    name: "a MAC longer than the hash",
    message: changed(signedBy(key), { mac: new Uint8Array(33) }),
    is: "malformed",
  },
  { name: "octets behind the record", message: Uint8Array.of(...signedBy(key), 0), is: "malformed" },
  { name: "two records", message: appendTwice(), is: "malformed" },
];
for (const { name, message, is } of failures) {
  test(`${name} is ${is}`, () => assert.equal(failureOf(verify(message)), is));
}

function cutMac(octets: number): Uint8Array {
  const search = findTsig(signedBy(key));
  assert.ok(search.kind === "found");
  return changed(signedBy(key), { mac: search.record.mac.slice(0, octets) });
}

function appendTwice(): Uint8Array {
  const search = findTsig(signedBy(key));
  assert.ok(search.kind === "found");
  return appendTsig(signedBy(key), search.record);
}

test("a cut MAC is believed down to what its key allows", () => {
  const lenient = new TsigKeyring([{ ...key, macOctetsMin: 20 }]);
  assert.equal(failureOf(verify(cutMac(20), lenient)), "verified");
  assert.equal(failureOf(verify(cutMac(19), lenient)), "BADTRUNC");
});

test("BADKEY and BADSIG are told without a MAC; BADTIME with one, our clock and the client's time; BADTRUNC with one", () => {
  const now = Math.floor(clock.now() / 1000);
  assert.deepEqual(sealOf(verify(signedBy({ ...key, name: "other" }))), {
    macOctets: 0,
    error: 17,
    other: 0,
    timeSigned: now,
  });
  assert.deepEqual(sealOf(verify(signedBy({ ...key, secret: new Uint8Array(32) }))), {
    macOctets: 0,
    error: 16,
    other: 0,
    timeSigned: now,
  });
  assert.deepEqual(sealOf(verify(late)), { macOctets: 32, error: 18, other: 6, timeSigned: now - 301 });
  assert.deepEqual(sealOf(verify(cutMac(16))), { macOctets: 32, error: 22, other: 0, timeSigned: now });
});

test("a client whose clock is off learns the server's time from a reply that is proved", () => {
  const request = new SignedRequest(question, { key, clock: clockAt(-900) });
  const verdict = verify(request.message);
  assert.ok(verdict.kind === "failed");
  const reply = verdict.seal(composeMessage({ id: 0x1234, response: true, rcode: 9 }));
  assert.deepEqual(request.verify(reply), { kind: "badTime", serverSeconds: Math.floor(clock.now() / 1000) });
  const again = new SignedRequest(question, { key, clock: clockAt(-900), offsetSeconds: 900 });
  assert.equal(verify(again.message).kind, "verified");
});

test("keys are replaced while the ring is used", () => {
  const ring = new TsigKeyring([key]);
  ring.replace([{ ...key, name: "next" }]);
  assert.equal(failureOf(verify(signedBy(key), ring)), "BADKEY");
  assert.equal(failureOf(verify(signedBy({ ...key, name: "next" }), ring)), "verified");
  assert.deepEqual(ring.names, ["next"]);
});

const answers = Array.from({ length: 5 }, (_, id) =>
  composeMessage({ id: 0x1234, response: true, rcode: id }),
);

function signerFor(request: SignedRequest): TsigSigner {
  const verdict = verify(request.message);
  assert.ok(verdict.kind === "verified");
  return verdict.signer;
}

test("each message of a transfer is signed over the one before, and verified in order", () => {
  const request = new SignedRequest(question, { key, clock });
  const signer = signerFor(request);
  const signed = answers.map((answer) => signer.sign(answer));
  for (const [index, message] of signed.entries())
    assert.deepEqual(request.verifyNext(message), { kind: "verified", message: answers[index] });
  assert.ok(request.complete);
  const other = new SignedRequest(question, { key, clock });
  assert.equal(other.verifyNext(signed[1]!).kind, "unproved");
});

test("unsigned messages within a transfer are proved by the next signed one, and by no other", () => {
  for (const tampered of [false, true]) {
    const request = new SignedRequest(question, { key, clock });
    const [first, second, third] = answers as [Uint8Array, Uint8Array, Uint8Array];
    const search = findTsig(request.message);
    assert.ok(search.kind === "found");
    const firstSigned = signerFor(request).sign(first);
    const signedFirst = findTsig(firstSigned);
    assert.ok(signedFirst.kind === "found");
    const { record } = signedFirst;
    const prior = Buffer.concat([Buffer.from([0, record.mac.length]), record.mac]);
    const timers = Buffer.from(`0000${record.timeSigned.toString(16).padStart(8, "0")}012c`, "hex");
    const mac = new Uint8Array(
      createHmac("sha256", key.secret).update(prior).update(second).update(third).update(timers).digest(),
    );
    const thirdSigned = appendTsig(third, { ...record, mac });
    assert.equal(request.verifyNext(firstSigned).kind, "verified");
    assert.equal(request.verifyNext(tampered ? answers[4]! : second).kind, "pending");
    assert.equal(request.complete, false);
    assert.equal(request.verifyNext(thirdSigned).kind, tampered ? "unproved" : "verified");
    assert.equal(request.complete, !tampered);
  }
});

test("the first message must be signed, and each hundredth", () => {
  const request = new SignedRequest(question, { key, clock });
  assert.equal(request.verifyNext(answers[0]!).kind, "unproved");
  assert.equal(request.verifyNext(signerFor(request).sign(answers[0]!)).kind, "verified");
  const kinds = Array.from({ length: 100 }, () => request.verifyNext(answers[1]!).kind);
  assert.equal(kinds.indexOf("unproved"), 99);
});

test("a reply is not believed unsigned, with another key, without a MAC, cut, or out of time", () => {
  const request = new SignedRequest(question, { key, clock });
  const reply = signerFor(request).sign(answers[0]!);
  const cases: readonly (readonly [Uint8Array, RegExp])[] = [
    [answers[0]!, /unsigned/],
    [changed(reply, { keyName: nameFromText("other") }), /another key/],
    [changed(reply, { algorithm: nameFromText("hmac-sha512") }), /another key/],
    [changed(reply, { mac: new Uint8Array(), error: 16 }), /without a MAC/],
    [changed(reply, { mac: new Uint8Array(32) }), /MAC is wrong/],
    [changed(reply, { timeSigned: 1 }), /MAC is wrong/],
    [Uint8Array.of(...reply, 1), /malformed/],
  ];
  for (const [message, reason] of cases) {
    const verdict = request.verify(message);
    assert.ok(verdict.kind === "unproved");
    assert.match(verdict.reason, reason);
  }
  const search = findTsig(request.message);
  assert.ok(search.kind === "found");
  const slow = new TsigSigner({ key, clock: clockAt(1_000), request: search.record });
  const verdict = request.verify(slow.sign(answers[0]!));
  assert.ok(verdict.kind === "unproved" && /time is off/.test(verdict.reason));
});

test("no octets make the search throw", () => {
  const message = signedBy(key);
  for (let length = 0; length < message.length; length++)
    assert.notEqual(verify(message.slice(0, length)).kind, "verified");
  for (let at = 0; at < message.length; at++) {
    const broken = message.slice();
    broken[at]! ^= 0xff;
    assert.ok(failureOf(verify(broken)) !== "verified" || at < 2, `octet ${at}`);
  }
});
