import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseMessage } from "../message/message.ts";
import { nameFromText, nameToText } from "../name/name.ts";
import { rdataFromText } from "../message/rdata.ts";
import { typeFromText } from "../message/codes.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import { OctetPool } from "./octet-pool.ts";
import { readTransferMessage } from "./record-reader.ts";
import { TransferWriter, type TransferHead } from "./transfer-writer.ts";

const question = Uint8Array.from([...nameFromText("p.test"), 0, 252, 0, 1]);
const head: TransferHead = { id: 77, question, octetsMax: 65_535 };

function record(line: string): WireRecord {
  const [owner, ttl, type, ...data] = line.split(" ");
  const number = typeFromText(type!);
  return {
    owner: nameFromText(owner!),
    type: number,
    ttl: Number(ttl),
    rdata: rdataFromText(number, data.join(" ")),
  };
}

function pack(records: Iterable<WireRecord>, more: Partial<TransferHead> = {}): Uint8Array[] {
  const writer = new TransferWriter({ ...head, ...more });
  const messages: Uint8Array[] = [];
  for (const each of records) {
    const message = writer.add(each);
    if (message !== undefined) messages.push(message);
  }
  return [...messages, writer.finish()];
}

const unpack = (messages: readonly Uint8Array[]): WireRecord[] => {
  const pool = new OctetPool();
  return messages.flatMap((message) => [...readTransferMessage(message, pool).records]);
};
const plain = (records: readonly WireRecord[]): unknown[] =>
  records.map(({ owner, type, ttl, rdata }) => [
    Buffer.from(owner).toString("hex"),
    type,
    ttl,
    Buffer.from(rdata).toString("hex"),
  ]);

test("the question is in the first message only, the flags and id in all", () => {
  const messages = pack(
    Array.from({ length: 3_000 }, (_, index) => record(`n${index}.p.test 60 A 192.0.2.1`)),
  );
  assert.ok(messages.length > 2);
  const parsed = messages.map((message) => parseMessage(message));
  assert.deepEqual(
    parsed.map((message) => message.questions.length),
    [1, ...Array.from({ length: messages.length - 1 }, () => 0)],
  );
  for (const message of parsed) {
    assert.ok(message.response && message.authoritative && message.id === 77 && message.rcode === 0);
  }
});

test("an OPT record is in the first message only, and has its room", () => {
  const opt = Uint8Array.of(0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0);
  const records = Array.from({ length: 3_000 }, (_, index) => record(`n${index}.p.test 60 A 192.0.2.1`));
  const messages = pack(records, { opt });
  assert.ok(messages.every((message) => message.length <= 0x4000));
  assert.deepEqual(
    messages.slice(0, 2).map((message) => parseMessage(message).edns?.payloadSize),
    [1232, undefined],
  );
  assert.deepEqual(plain(unpack(messages)), plain(records));
});

test("E8: a long record gets a message of its own, in which no pointer goes beyond 16383", () => {
  const long = {
    ...record("big.p.test 60 TXT x"),
    rdata: Uint8Array.from({ length: 60_000 }, (_, i) => (i % 256 === 0 ? 255 : 120)),
  };
  long.rdata[59_904] = 95;
  const records = [
    record("a.p.test 60 A 192.0.2.1"),
    long,
    record("late.name.p.test 60 CNAME late.name2.p.test."),
    record("x.late.name2.p.test 60 NS late.name2.p.test."),
  ];
  const messages = pack(records);
  assert.deepEqual(plain(unpack(messages)), plain(records));
  assert.equal(messages.length, 3);
});

test("a record that fits into no message is an error and no loop", () => {
  const long = { ...record("big.p.test 60 TXT x"), rdata: new Uint8Array(65_535) };
  const writer = new TransferWriter(head);
  writer.add(record("a.p.test 60 A 192.0.2.1"));
  assert.throws(() => writer.add(long), { code: "TooLarge" });
});

test("only the types of RFC 1035 have their names compressed", () => {
  const compressed = ["NS x.p.test.", "MX 5 x.p.test.", "PTR x.p.test.", "CNAME x.p.test."];
  const plainTypes = ["SRV 1 2 3 x.p.test.", "DNAME x.p.test.", "SVCB 1 x.p.test."];
  const sizes = (types: readonly string[]): number[] =>
    types.map((type) => pack([record("x.p.test 1 A 192.0.2.1"), record(`x.p.test 60 ${type}`)])[0]!.length);
  const base = pack([record("x.p.test 1 A 192.0.2.1")])[0]!.length;
  assert.deepEqual(
    sizes(compressed).map((size) => size - base),
    [14, 16, 14, 14],
  );
  assert.deepEqual(
    sizes(plainTypes).map((size) => size - base),
    [12 + 16, 12 + 10, 12 + 12],
  );
});

test("random records come out as they were put in, case and all, however deep their names", () => {
  const label = fc.stringMatching(/^[abA*]{1,3}$/);
  const name = fc.array(label, { maxLength: 100 }).map((labels) => [...labels, "p", "test"].join("."));
  const records = fc.array(
    fc.oneof(
      fc.tuple(name, name).map(([owner, target]) => record(`${owner} 60 NS ${target}.`)),
      fc.tuple(name, name).map(([owner, target]) => record(`${owner} 60 SRV 1 2 3 ${target}.`)),
      name.map((owner) => record(`${owner} 60 AAAA 2001:db8::1`)),
    ),
    { minLength: 1, maxLength: 200 },
  );
  fc.assert(
    fc.property(records, (list) => {
      assert.deepEqual(plain(unpack(pack(list))), plain(list));
      for (const message of pack(list)) assert.ok(message.length <= 0x4000);
    }),
    { numRuns: 60 },
  );
});

test("more suffixes than are remembered still come out right", () => {
  const labels = Array.from({ length: 110 }, (_, index) => String.fromCharCode(97 + (index % 26))).join(".");
  const records = Array.from({ length: 70 }, (_, index) => {
    const rotated = labels.split(".").map((_label, at, all) => all[(at * (index + 1) + index) % all.length]);
    return record(`${rotated.join(".")}.p.test 60 A 192.0.2.1`);
  });
  assert.deepEqual(plain(unpack(pack(records))), plain(records));
});

test("records that no zone can have are refused", () => {
  const [message] = pack([record("a.p.test 60 A 192.0.2.1")]);
  const typeAt = message!.length - 14;
  for (const type of [0, 41, 250, 252, 255]) {
    const changed = message!.slice();
    changed[typeAt] = 0;
    changed[typeAt + 1] = type;
    assert.throws(() => readTransferMessage(changed, new OctetPool()), { code: "BadMessage" }, String(type));
  }
  const chaos = message!.slice();
  chaos[typeAt + 3] = 3;
  assert.throws(() => readTransferMessage(chaos, new OctetPool()), { code: "BadMessage" });
  const short = message!.slice();
  short[typeAt + 9] = 3;
  assert.throws(() => readTransferMessage(short.subarray(0, short.length - 1), new OctetPool()), {
    code: "BadMessage",
  });
  assert.equal(nameToText(readTransferMessage(message!, new OctetPool()).records[0]!.owner), "a.p.test");
});
