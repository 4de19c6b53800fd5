import assert from "node:assert/strict";
import test from "node:test";
import { typeFromText } from "../message/codes.ts";
import { rdataFromText } from "../message/rdata.ts";
import { nameFromText } from "../name/name.ts";
import type { WireRecord } from "../zone/wire-record.ts";
import { soaSerial } from "./soa-record.ts";
import { TransferReader, type TransferLimits } from "./transfer-reader.ts";

const origin = nameFromText("p.test");

/** `SOA5` is the apex SOA with serial 5, `a` is `a.p.test A`, `@` the apex NS; a name with a dot is whole. */
function record(word: string): WireRecord {
  const serial = /^SOA(\d+)(?:@(.+))?$/.exec(word);
  const make = (owner: string, type: string, data: string): WireRecord => {
    const number = typeFromText(type);
    return { owner: nameFromText(owner), type: number, ttl: 60, rdata: rdataFromText(number, data) };
  };
  if (serial !== null) return make(serial[2] ?? "P.test", "SOA", `a. b. ${serial[1]} 1 1 1 1`);
  if (word === "@") return make("p.test", "NS", "ns.p.test.");
  return make(word.includes(".") ? word : `${word}.p.test`, "A", "192.0.2.1");
}

const word = (record_: WireRecord): string =>
  record_.type === 6
    ? `SOA${soaSerial(record_)}`
    : record_.type === 2
      ? "@"
      : String.fromCharCode(record_.owner[1]!);

/** What the messages, each a text of words, come to. */
function read(messages: readonly string[], haveSerial?: number, limits?: Partial<TransferLimits>): string {
  const reader = new TransferReader({
    origin,
    haveSerial,
    limits: { recordsMax: 100, octetsMax: 10_000, ...limits },
  });
  for (const message of messages) {
    const records = message === "" ? [] : message.split(" ").map(record);
    const content = reader.read(records, 100);
    if (content === undefined) continue;
    const foreign = reader.foreignRecords === 0 ? "" : ` foreign ${reader.foreignRecords}`;
    switch (content.kind) {
      case "current":
        return `current ${word(content.soa)}`;
      case "whole":
        return `whole ${content.records.map(word).join(" ")}${foreign}`;
      case "deltas":
        return content.deltas
          .map(({ removed, added }) => `-${removed.map(word).join(" ")} +${added.map(word).join(" ")}`)
          .join(" ");
    }
  }
  return "unfinished";
}

const good: readonly [string, readonly string[], number | undefined, string][] = [
  ["a whole zone", ["SOA5 @ a b SOA5"], undefined, "whole SOA5 @ a b"],
  ["a zone cut anywhere", ["SOA5", "@", "a b", "SOA5"], undefined, "whole SOA5 @ a b"],
  ["a whole zone instead of differences", ["SOA5 @ a SOA5"], 3, "whole SOA5 @ a"],
  ["nothing newer", ["SOA5"], 5, "current SOA5"],
  ["a primary behind us", ["SOA4"], 5, "current SOA4"],
  ["one step", ["SOA5 SOA4 a SOA5 b SOA5"], 4, "-SOA4 a +SOA5 b"],
  ["only removed", ["SOA5 SOA4 a SOA5 SOA5"], 4, "-SOA4 a +SOA5"],
  ["only the serial", ["SOA5 SOA4 SOA5 SOA5"], 4, "-SOA4 +SOA5"],
  [
    "two steps, cut in the middle",
    ["SOA5", "SOA3 a SOA4", "b SOA4 c SOA5 d", "SOA5"],
    3,
    "-SOA3 a +SOA4 b -SOA4 c +SOA5 d",
  ],
  [
    "around the end of the serials",
    ["SOA1 SOA4294967295 a SOA0 b SOA0 SOA1 c SOA1"],
    4_294_967_295,
    "-SOA4294967295 a +SOA0 b -SOA0 +SOA1 c",
  ],
  [
    "records outside the zone left out",
    ["SOA5 @ x.other.test a y.test SOA5"],
    undefined,
    "whole SOA5 @ a foreign 2",
  ],
  ["not the end yet", ["SOA5 @ a"], undefined, "unfinished"],
  ["newer, but no second record yet", ["SOA5"], 4, "unfinished"],
];
for (const [name, messages, have, expected] of good) {
  test(`a transfer of ${name}`, () => assert.equal(read(messages, have), expected));
}

const bad: readonly [string, readonly string[], number | undefined, RegExp][] = [
  ["no SOA first", ["@ a SOA5"], undefined, /does not begin/],
  ["a foreign record first", ["x.other.test SOA5"], undefined, /does not begin/],
  ["an SOA with another serial in it", ["SOA5 @ a SOA6 b SOA5"], undefined, /another SOA with 6/],
  ["a second copy of the SOA in the middle", ["SOA5 @ SOA5 a SOA5"], undefined, /goes on behind/],
  ["an SOA below the apex", ["SOA5 @ SOA5@a.p.test SOA5"], undefined, /below the zone's apex/],
  ["records behind its end", ["SOA5 @ a SOA5 b"], undefined, /goes on behind/],
  ["nothing in it", ["SOA5 SOA5"], undefined, /nothing between/],
  ["differences from another serial", ["SOA5 SOA3 a SOA5 b SOA5"], 4, /from serial 3/],
  ["differences that were not asked for", ["SOA5 SOA4 a SOA5 b SOA5"], undefined, /from serial 4/],
  ["a step that goes back", ["SOA5 SOA4 a SOA3 b SOA5"], 4, /back to 3/],
  ["a step that stays", ["SOA5 SOA4 a SOA4 b SOA5"], 4, /back to 4/],
  ["steps with a gap", ["SOA9 SOA4 a SOA5 b SOA6 c SOA9 SOA9"], 4, /next begins at 6/],
  ["an empty message", ["SOA5 @", ""], undefined, /no records/],
];
for (const [name, messages, have, expected] of bad) {
  test(`no transfer: ${name}`, () => {
    assert.throws(() => read(messages, have), { code: "BadTransfer", message: expected });
  });
}

test("a transfer over the limits is given up where it exceeds them", () => {
  const endless = Array.from({ length: 60 }, (_, index) => (index === 0 ? "SOA5 @" : "a b"));
  assert.throws(() => read(endless), { code: "BadTransfer", message: /over 100 records/ });
  assert.throws(() => read(endless, undefined, { octetsMax: 500 }), {
    code: "BadTransfer",
    message: /500 octets/,
  });
});
