import assert from "node:assert/strict";
import test from "node:test";
import { deferred, ReusedClient } from "@meridian/runtime";
import { parseMessage, type Message } from "../message/message.ts";
import {
  authorityOf,
  caseZoneText,
  describe,
  exchange,
  hex,
  plainEdns,
  question,
  steadyRandom,
  stillClock,
} from "../testdata/case-zone.ts";
import { AnswerCore } from "./answer-core.ts";
import type { Authority } from "./authority.ts";
import { RateLimit } from "./rate-limit.ts";

const nowMs = 1_700_000_000_000;

function at(seconds: { value: number }): { readonly now: () => number } & typeof stillClock {
  return { ...stillClock, now: () => nowMs + 1000 * seconds.value };
}

function withOptions(...options: { code: number; octets: Uint8Array }[]): Uint8Array {
  return question("www.p.test", "A", { edns: { ...plainEdns, options } });
}

function ask(authority: Authority, message: Uint8Array, transport: "udp" | "tcp" = "udp"): Message {
  return parseMessage(exchange(authority, message, { transport })!);
}

function cookieOf(message: Message): Uint8Array {
  return message.edns!.options.find(({ code }) => code === 10)!.octets;
}

const clientCookie = hex("2464c4abcf10c957");

test("a cookie comes back as it is while it is young, then a new one, and none is good for ever", () => {
  const seconds = { value: 0 };
  const authority = authorityOf([caseZoneText], { clock: at(seconds), badCookie: "refuse" });
  const first = cookieOf(ask(authority, withOptions({ code: 10, octets: clientCookie })));
  const repeat = (): Message => ask(authority, withOptions({ code: 10, octets: first }));
  seconds.value = 1_800;
  assert.deepEqual(cookieOf(repeat()), first);
  seconds.value = 1_801;
  assert.notDeepEqual(cookieOf(repeat()), first);
  seconds.value = 3_600;
  assert.equal(repeat().rcode, 0);
  seconds.value = 3_601;
  assert.equal(repeat().rcode, 23);
  seconds.value = -300;
  assert.equal(repeat().rcode, 0);
  seconds.value = -301;
  assert.equal(repeat().rcode, 23);
});

test("a wrong cookie gets BADCOOKIE with a right one where that is wanted, and the answer over TCP", () => {
  const authority = authorityOf([caseZoneText], { badCookie: "refuse" });
  const wrong = withOptions({
    code: 10,
    octets: Uint8Array.from([...clientCookie, ...new Uint8Array(16).fill(1)]),
  });
  const refused = ask(authority, wrong);
  assert.deepEqual([refused.rcode, refused.answers.length], [23, 0]);
  assert.equal(ask(authority, withOptions({ code: 10, octets: cookieOf(refused) })).answers.length, 2);
  assert.equal(ask(authority, wrong, "tcp").answers.length, 2);
  assert.equal(authority.counters.rcodes[23], 1);
});

test("secrets of cookies roll over without a refused client", () => {
  const authority = authorityOf([caseZoneText], { badCookie: "refuse" });
  const secrets = authority.cookieSecrets;
  const [old, next] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)];
  const use = (octets: Uint8Array): Message => ask(authority, withOptions({ code: 10, octets }));
  secrets.set({ active: old, accepted: [next] });
  const before = cookieOf(use(clientCookie));
  secrets.set({ active: next, accepted: [old] });
  const renewed = use(before);
  assert.equal(renewed.rcode, 0);
  assert.notDeepEqual(cookieOf(renewed), before);
  secrets.set({ active: next });
  assert.equal(use(before).rcode, 23);
  assert.equal(use(cookieOf(renewed)).rcode, 0);
  assert.throws(() => secrets.set({ active: new Uint8Array(8) }), { code: "BadRecord" });
});

test("the zone's serial and expiry are told to those who ask for them (RFC 9660, RFC 7314)", () => {
  const authority = authorityOf([caseZoneText]);
  const options = [
    { code: 19, octets: new Uint8Array() },
    { code: 9, octets: new Uint8Array() },
  ];
  const told = (name: string, type: string): Record<number, Uint8Array> =>
    Object.fromEntries(
      ask(authority, question(name, type, { edns: { ...plainEdns, options } })).edns!.options.map(
        ({ code, octets }) => [code, octets],
      ),
    );
  assert.deepEqual(told("p.test", "SOA"), { 9: hex("00015180"), 19: hex("0200 00000007") });
  assert.deepEqual(told("nx.p.test", "A"), { 19: hex("0200 00000007") });
  assert.deepEqual(told("www.example.org", "A"), { 15: hex("0014") });
});

test("like answers to one network are limited, but not those to a good cookie, over TCP or to the exempt", () => {
  const rateLimit = RateLimit.create({ perSecond: 5, errorsPerSecond: 2, slip: 2, seed: 1 });
  const authority = authorityOf([caseZoneText], { rateLimit });
  const fates = (message: Uint8Array, count: number): string =>
    Array.from({ length: count }, () => {
      const answer = exchange(authority, message);
      return answer === undefined ? "-" : parseMessage(answer).truncated ? "t" : "a";
    }).join("");
  assert.equal(fates(question("www.p.test", "A"), 9), "aaaaa-t-t");
  assert.equal(fates(question("nx1.p.test", "A"), 3) + fates(question("nx2.p.test", "A"), 4), "aaa" + "aa-t");
  assert.equal(fates(question("www.p.test", "MX"), 6), "aaaaa-");
  assert.equal(
    fates(question("x.sub.p.test", "A"), 3) + fates(question("y.sub.p.test", "A"), 3),
    "aaa" + "aa-",
  );
  assert.equal(
    fates(question("q1.wild.p.test", "A"), 3) + fates(question("q2.wild.p.test", "A"), 3),
    "aaa" + "aa-",
  );
  assert.equal(fates(question("www.example.org", "A"), 3), "aa-");
  const cookie = cookieOf(ask(authority, withOptions({ code: 10, octets: clientCookie }), "tcp"));
  assert.equal(fates(withOptions({ code: 10, octets: cookie }), 9), "aaaaaaaaa");
  assert.equal(ask(authority, question("www.p.test", "A"), "tcp").answers.length, 2);
  const output = new Uint8Array(512);
  const message = question("www.p.test", "A");
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
  assert.ok(authority.answerExempt(message, 0, message.length, client, output) > 12);
});

test("a thread answers questions like the main one, leaves the rest to it, and counts for both", () => {
  const authority = authorityOf([caseZoneText]);
  const core = new AnswerCore(authority.share(), { random: steadyRandom, clock: stillClock, slot: 1 });
  const output = new Uint8Array(4_096);
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
  const run = (message: Uint8Array): number => core.answer(message, 0, message.length, client, output);
  for (const [name, type] of [
    ["alias2.p.test", "A"],
    ["x.sub.p.test", "A"],
    ["nx.p.test", "A"],
    ["A.dn.p.test", "A"],
    ["www.example.org", "A"],
  ] as const) {
    const message = question(name, type, { edns: true });
    assert.equal(describe(output.slice(0, run(message))), describe(exchange(authority, message)));
  }
  assert.equal(run(question("p.test", "SOA", { opcode: 4 })), deferred);
  assert.equal(run(question("p.test", "SOA", { opcode: 5 })), deferred);
  assert.equal(run(question("p.test", "IXFR")), deferred);
  assert.equal(run(question("p.test", "SOA", { opcode: 2 })) > 0, true);
  assert.equal(authority.counters.queries, 11);
});

test("a thread follows changes by itself, and zones that come and go by what it is sent", () => {
  const authority = authorityOf([caseZoneText]);
  let shared = authority.share();
  authority.onShareChanged = () => (shared = authority.share());
  const core = new AnswerCore(shared, { random: steadyRandom, clock: stillClock, slot: 1 });
  const output = new Uint8Array(4_096);
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
  const run = (name: string): string => {
    const message = question(name, "A");
    return describe(output.slice(0, core.answer(message, 0, message.length, client, output)));
  };
  const name = "new.p.test";
  authority.zone("p.test")!.replace(new Map([[name, [{ name, type: "A", ttl: 5, data: ["192.0.2.9"] }]]]));
  assert.equal(run(name), "NOERROR aa an: new.p.test A 192.0.2.9");
  authority.zone("p.test")!.setReady(false);
  assert.equal(run(name), "SERVFAIL");
  authority.removeZone("p.test");
  core.update(shared);
  assert.equal(run(name), "REFUSED");
});
