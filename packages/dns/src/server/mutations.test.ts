import assert from "node:assert/strict";
import test from "node:test";
import { DnsError } from "../dns-error.ts";
import { parseMessage } from "../message/message.ts";
import {
  authorityOf,
  caseZoneText,
  describe,
  exchange,
  hex,
  plainEdns,
  question,
} from "../testdata/case-zone.ts";
import { mutate, seededIntegers } from "../testdata/mutator.ts";

const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const packets = Number(process.env["FUZZ_PACKETS"] ?? 20_000);

const corpus: readonly Uint8Array[] = [
  question("www.p.test", "A"),
  question("www.p.test", "A", { edns: true }),
  question("many.p.test", "A", { edns: { ...plainEdns, payloadSize: 4096 } }),
  question("x.sub.p.test", "AAAA", { edns: true }),
  question("a.b.dn.p.test", "A"),
  question("alias2.p.test", "MX", { recursionDesired: true }),
  question("loop1.p.test", "ANY"),
  question("q.wild.p.test", "TXT"),
  question("p.test", "SOA", {
    opcode: 4,
    answers: [{ name: "p.test", type: "SOA", class: 1, ttl: 1, data: "ns. h. 1 2 3 4 5" }],
  }),
  question("p.test", "SOA", {
    opcode: 5,
    authority: [{ name: "www.p.test", type: "A", class: 255, ttl: 0, data: "" }],
  }),
  question("version.bind", "TXT", { class: 3 }),
  question("www.p.test", "A", {
    edns: {
      ...plainEdns,
      options: [
        { code: 10, octets: new Uint8Array(24) },
        { code: 8, octets: hex("0001 18 00 c00002") },
        { code: 3, octets: new Uint8Array() },
      ],
    },
  }),
  hex(`4242 0000 0001 0000 0000 0001 03777777 0170 0474657374 00 0001 0001
       036b6579 00 00fa 00ff 00000000 0021 0b686d61632d736861323536 00 000065000000 012c 0004 01020304 4242 0000 0000`),
  hex("4242 0000 0001 0000 0000 0001 03777777 0170 0474657374 00 0001 0001 c00c 0029 04d0 00000000 0000"),
];

test(`${packets} mutated packets (seed ${seed}): every answer is well-formed, bounded and ours, and the server lives`, () => {
  const authority = authorityOf([caseZoneText], { version: "1", serverId: "id" });
  const integer = seededIntegers(seed);
  const before = describe(exchange(authority, question("www.p.test", "AAAA")));
  for (let index = 0; index < packets; index++) {
    const packet = mutate(corpus, integer);
    const transport = integer(4) === 0 ? "tcp" : "udp";
    const octets = exchange(authority, packet, { transport });
    const told = (): string => `packet ${index}: ${Buffer.from(packet).toString("hex")}`;
    if (octets === undefined) {
      assert.ok(packet.length < 12 || (packet[2]! & 0x80) !== 0, `silence for ${told()}`);
      continue;
    }
    assert.ok(transport === "tcp" || octets.length <= 1232, told());
    const reply = parse(octets, told);
    assert.ok(reply.response && !reply.recursionAvailable && !reply.authenticData, told());
    assert.equal(reply.id, (packet[0]! << 8) | packet[1]!, told());
    if (reply.questions.length > 0) {
      const length = octets.indexOf(0, 12) + 5 - 12;
      assert.ok(
        octets.subarray(12, 12 + length).every((octet, at) => octet === packet[12 + at]),
        told(),
      );
    }
    assert.notEqual(reply.rcode, 2, told());
  }
  assert.equal(authority.counters.faults, 0);
  assert.equal(describe(exchange(authority, question("www.p.test", "AAAA"))), before);
});

test("the parser meets the same packets, and turned into answers, with a message or its own error", () => {
  const integer = seededIntegers(seed + 1);
  for (let index = 0; index < packets; index++) {
    const packet = mutate(corpus, integer);
    if (packet.length > 2) packet[2]! |= 0x80;
    try {
      parseMessage(packet);
    } catch (error) {
      if (!(error instanceof DnsError)) throw error;
    }
  }
});

function parse(octets: Uint8Array, told: () => string): ReturnType<typeof parseMessage> {
  try {
    return parseMessage(octets);
  } catch (error) {
    throw new Error(`malformed answer ${Buffer.from(octets).toString("hex")} to ${told()}`, { cause: error });
  }
}
