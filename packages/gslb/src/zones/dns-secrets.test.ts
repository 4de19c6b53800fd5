import assert from "node:assert/strict";
import { test } from "node:test";
import { generateKey, keyToFiles } from "@meridian/dns";
import type { Secret } from "@meridian/kube";
import { Simulation } from "@meridian/runtime/sim";
import { dnsKeysLabel, joinDnsKeys, readDnsSecret } from "./dns-secrets.ts";

function secret(kind: string, data: Readonly<Record<string, string>>): Secret {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "k8gb", name: kind, labels: { [dnsKeysLabel]: kind } },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}

const { random } = new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] }).runtime;
const digits = "00112233445566778899aabbccddeeff";
const tsig =
  'key "transfer" { algorithm hmac-sha256; secret "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="; };';

test("each kind of Secret is read by its label", () => {
  const keys = readDnsSecret(secret("tsig", { "any.key": tsig }));
  assert.ok(typeof keys !== "string");
  assert.deepEqual(
    keys.tsig.map(({ name, algorithm }) => [name, algorithm]),
    [["transfer", "hmac-sha256"]],
  );
  const parent = readDnsSecret(secret("parent", { "any.key": tsig }));
  assert.ok(typeof parent !== "string");
  // A key that may change the parent zone must not open the own server to whoever has it there.
  assert.deepEqual([parent.parent.map(({ name }) => name), parent.tsig], [["transfer"], []]);
  const cookies = readDnsSecret(
    secret("cookies", { active: `${digits}\n`, accepted: `${digits}\n${digits}` }),
  );
  assert.ok(typeof cookies !== "string");
  assert.deepEqual([cookies.cookies?.active.length, cookies.cookies?.accepted?.length], [16, 2]);
  const pair = keyToFiles(
    "cloud.example.com",
    generateKey(random, { secureEntryPoint: true, times: { publish: 0, activate: 0 } }),
  );
  const signing = readDnsSecret(
    secret("dnssec", { "a.key": pair.publicText, "a.private": pair.privateText }),
  );
  assert.ok(typeof signing !== "string");
  assert.deepEqual([...signing.signing.keys()], ["cloud.example.com"]);
});

test("what cannot be used is told without its content", () => {
  const bad: readonly (readonly [Secret, RegExp])[] = [
    [secret("other", {}), /must be tsig, parent, dnssec, unsigned or cookies/],
    [secret("cookies", {}), /active must be 32/],
    [secret("cookies", { active: "s3cret" }), /32 hexadecimal digits/],
    [
      secret("cookies", { active: digits, accepted: [digits, digits, digits].join(" ") }),
      /accepted may hold 2/,
    ],
    [secret("tsig", { key: "s3cret" }), /key holds no keys/],
    [secret("dnssec", { "a.private": "s3cret" }), /a\.private has no a\.key/],
    [secret("dnssec", { "a.private": "s3cret", "a.key": "s3cret" }), /a\.key has no DNSKEY/],
  ];
  for (const [given, message] of bad) {
    const problem = readDnsSecret(given);
    assert.ok(typeof problem === "string");
    assert.match(problem, message);
    assert.doesNotMatch(problem, /s3cret/);
  }
});

test("several Secrets join", () => {
  const parts = [secret("tsig", { a: tsig }), secret("cookies", { active: digits })].map(readDnsSecret);
  const joined = joinDnsKeys(parts.filter((part) => typeof part !== "string"));
  assert.deepEqual([joined.tsig.length, joined.cookies?.active[15]], [1, 0xff]);
});
