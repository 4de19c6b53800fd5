import assert from "node:assert/strict";
import test from "node:test";
import { parseMessage } from "../message/message.ts";
import { assertSound } from "../testdata/assert-sound.ts";
import {
  authorityOf,
  caseZoneText,
  describe,
  exchange,
  hex,
  plainEdns,
  question,
} from "../testdata/case-zone.ts";
import { opt, raw, sixtyCases, tcpCases, withOption, wwwQuestion } from "../testdata/sixty-cases.ts";

for (const [name, message, expected] of sixtyCases) {
  test(`case ${name}`, () => {
    const reply = exchange(authorityOf([caseZoneText]), message);
    assert.equal(describe(reply), expected);
    if (reply !== undefined) assertSound(message, reply);
  });
}

for (const [name, message, expected] of tcpCases) {
  test(`case ${name}`, () => {
    const reply = exchange(authorityOf([caseZoneText]), message, { transport: "tcp" });
    assert.equal(describe(reply, "sorted"), expected);
    assertSound(message, reply!, "tcp");
  });
}

test("case 19: an unsigned NOTIFY for a zone that is served is a hint, and whoever takes hints may refuse it", () => {
  const authority = authorityOf([caseZoneText]);
  const notify = question("P.test", "SOA", { opcode: 4 });
  assert.equal(describe(exchange(authority, notify)), "NOERROR aa");
  authority.onNotify = () => "refuse";
  assert.equal(describe(exchange(authority, notify)), "REFUSED");
});

test("every reply repeats id, question and RD, sets QR and clears RA, Z, AD and CD", () => {
  const asked = raw("0170", "0001000000000000", hex("03775777 0170 0474457374 00 0001 0001"));
  const reply = exchange(authorityOf([caseZoneText]), asked)!;
  assert.deepEqual([...reply.subarray(0, 4)], [0x42, 0x42, 0x85, 0x00]);
  assert.deepEqual(reply.subarray(12, asked.length), asked.subarray(12));
});

test("owner names of the answer point at the question", () => {
  const message = question("www.p.test", "A");
  const reply = exchange(authorityOf([caseZoneText]), message)!;
  assert.deepEqual([...reply.subarray(message.length, message.length + 2)], [0xc0, 0x0c]);
});

test("FORMERR repeats at most the first question, and none that could not be read", () => {
  const authority = authorityOf([caseZoneText]);
  const two = exchange(authority, raw("0000", "0002000000000000", wwwQuestion, wwwQuestion))!;
  assert.equal(two.length, 12 + wwwQuestion.length);
  assert.equal(exchange(authority, raw("0000", "0001000000000000", hex("40")))!.length, 12);
});

test("case 10: a question for a cookie only is answered with one", () => {
  const cookieOnly = raw("0000", "0000000000000001", opt("000c 000a 0008 0102030405060708"));
  const authority = authorityOf([caseZoneText]);
  const reply = parseMessage(exchange(authority, cookieOnly)!);
  assert.equal(reply.rcode, 0);
  assert.equal(reply.edns!.options[0]!.octets.length, 24);
  assert.deepEqual(reply.edns!.options[0]!.octets.slice(0, 12), hex("0102030405060708 01000000"));
  assert.equal(
    describe(exchange(authorityOf([caseZoneText], { clock: undefined! }), cookieOnly)),
    "FORMERR opt",
  );
});

test("cases 55 and 56: a cookie, also with a stale server part, gets a fresh one beside the answer", () => {
  const authority = authorityOf([caseZoneText]);
  for (const sent of ["0102030405060708", `0102030405060708${"ff".repeat(16)}`]) {
    const reply = parseMessage(exchange(authority, withOption(10, sent))!);
    assert.equal(reply.answers.length, 2);
    assert.equal(reply.edns!.options.length, 1);
    assert.equal(reply.edns!.options[0]!.octets.length, 24);
  }
  const ofOther = parseMessage(
    exchange(authority, withOption(10, "0102030405060708"), { address: "192.0.2.201" })!,
  );
  const ofOne = parseMessage(exchange(authority, withOption(10, "0102030405060708"))!);
  assert.notDeepEqual(ofOther.edns, ofOne.edns);
});

test("case 51: BADVERS has the question, our version, and nothing else", () => {
  const asked = question("www.p.test", "A", {
    edns: { ...plainEdns, version: 1, options: [{ code: 10, octets: hex("0102030405060708") }] },
  });
  const reply = parseMessage(exchange(authorityOf([caseZoneText]), asked)!);
  assert.deepEqual(
    [reply.rcode, reply.authoritative, reply.questions.length, reply.answers.length],
    [16, false, 1, 0],
  );
  assert.deepEqual(reply.edns, { ...plainEdns, payloadSize: 1232 });
});

test("case 52: DO is repeated, other EDNS flags and unknown options are not", () => {
  const asked = raw("0000", "0001000000000001", wwwQuestion, hex("00 0029 04d0 0000 c0ff 0005 0064 0001 01"));
  const reply = exchange(authorityOf([caseZoneText]), asked)!;
  assert.deepEqual(reply.subarray(-11), hex("00 0029 04d0 0000 8000 0000"));
});

test("case 54: NSID is told when configured and asked for", () => {
  const authority = authorityOf([caseZoneText], { serverId: "eu-1" });
  const reply = parseMessage(exchange(authority, withOption(3, "00"))!);
  assert.deepEqual(reply.edns!.options, [{ code: 3, octets: new TextEncoder().encode("eu-1") }]);
  assert.deepEqual(
    parseMessage(exchange(authority, question("www.p.test", "A", { edns: true }))!).edns!.options,
    [],
  );
});

test("clients that would answer back, or that cannot be answered, get silence", () => {
  const authority = authorityOf([caseZoneText]);
  for (const port of [0, 7, 13, 19, 37])
    assert.equal(exchange(authority, question("www.p.test", "A"), { port }), undefined);
  assert.equal(authority.counters.dropped, 5);
});

test("over TCP a hundred addresses come whole, ANY has every set, and a transfer is refused", () => {
  const authority = authorityOf([caseZoneText]);
  const tcp = { transport: "tcp" } as const;
  assert.equal(parseMessage(exchange(authority, question("many.p.test", "A"), tcp)!).answers.length, 100);
  assert.equal(parseMessage(exchange(authority, question("www.p.test", "ANY"), tcp)!).answers.length, 3);
  assert.equal(describe(exchange(authority, question("p.test", "AXFR"), tcp)), "REFUSED");
});

test("version and id are told in class CH when configured", () => {
  const authority = authorityOf([caseZoneText], { version: "1.0", serverId: "eu-1" });
  assert.equal(
    describe(exchange(authority, question("Version.Bind", "TXT", { class: 3 }))),
    'NOERROR aa an: Version.Bind TXT "1.0"',
  );
  assert.equal(
    describe(exchange(authority, question("id.server", "TXT", { class: 3 }))),
    'NOERROR aa an: id.server TXT "eu-1"',
  );
  assert.equal(describe(exchange(authority, question("id.server", "A", { class: 3 }))), "NOERROR aa");
});

test("extended errors tell why: not authoritative, not ready, invalid type", () => {
  const authority = authorityOf([caseZoneText]);
  const errorOf = (name: string, type: string): unknown =>
    parseMessage(exchange(authority, question(name, type, { edns: true }))!).edns!.options;
  assert.deepEqual(errorOf("example.org", "A"), [{ code: 15, octets: hex("0014") }]);
  assert.deepEqual(errorOf("www.p.test", "TSIG"), [{ code: 15, octets: hex("001e") }]);
  authority.zone("p.test")!.setReady(false);
  assert.deepEqual(errorOf("nx.p.test", "A"), [{ code: 15, octets: hex("000e") }]);
  assert.equal(describe(exchange(authority, question("nx.p.test", "A"))), "SERVFAIL");
});
