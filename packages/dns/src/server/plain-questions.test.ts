import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient } from "@meridian/runtime";
import { authorityOf, caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { mutate, seededIntegers } from "../testdata/mutator.ts";
import type { Authority } from "./authority.ts";

const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const questions = 20_000;

const labels =
  "www WWW ns1 alias Alias2 wild host ent sub ns a x loop1 dn dnx mail srv svc many big p test q d c b *".split(
    " ",
  );
const types =
  "A A A AAAA NS CNAME SOA MX TXT SRV DS HTTPS ANY OPT AXFR RRSIG NSEC TYPE128 TYPE666 TYPE0".split(" ");

/** Zones within each other, records that turn, that are drawn by weight, and that are in an order drawn by weight. */
function authority(): Authority {
  const made = authorityOf([
    caseZoneText,
    "$ORIGIN d.p.test.\n@ 30 SOA ns h 1 2 3 4 5\n@ 30 NS ns\nx 30 A 192.0.2.77\n",
  ]);
  const zone = loadZone("$ORIGIN q.test.\n@ 30 SOA ns h 1 2 3 4 5\n@ 30 NS ns\nns 30 A 192.0.2.77\n");
  const addresses = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
  const groups = addresses.map((address, index) => ({ weight: index + 1, data: [address] }));
  const policies = [
    { kind: "rotate" },
    { kind: "weighted", groups },
    { kind: "weightedOrder", groups },
    { kind: "fixed" },
  ] as const;
  zone.replace(
    new Map(
      ["www", "*.wild", "host", "a"].map((label, index) => {
        const name = `${label}.q.test`;
        return [name, [{ name, type: "A", ttl: 30, data: addresses, policy: policies[index]! }]] as const;
      }),
    ),
  );
  made.setZone(zone);
  return made;
}

test(`plain questions are answered octet for octet as by the way that all others take (seed ${seed})`, () => {
  const integer = seededIntegers(seed);
  const [plain, general] = [authority(), authority()];
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 40_000 });
  const outputs = [new Uint8Array(65_535), new Uint8Array(65_535)] as const;
  let answered = 0;
  for (let index = 0; index < questions; index++) {
    const message = randomQuestion(integer);
    const [length, expected] = [
      plain.answer(message, 0, message.length, client, outputs[0]),
      general.answerExempt(message, 0, message.length, client, outputs[1]),
    ];
    const told = `question ${index}: ${Buffer.from(message).toString("hex")}`;
    assert.deepEqual(outputs[0].subarray(0, length), outputs[1].subarray(0, expected), told);
    if (length > message.length) answered++;
  }
  assert.ok(answered > questions / 4);
  assert.deepEqual({ ...plain.counters, dropped: 0 }, general.counters);
});

function randomQuestion(integer: (below: number) => number): Uint8Array {
  const pick = (texts: readonly string[]): string => texts[integer(texts.length)]!;
  const origin = pick(["p.test", "P.Test", "q.test", "d.p.test", "test", "other"]);
  const name = [...Array.from({ length: integer(4) }, () => pick(labels)), origin].join(".");
  const payloadSize = [0, 100, 512, 900, 1_232, 4_096][integer(6)]!;
  const edns = { payloadSize, version: integer(20) === 0 ? 1 : 0, dnssecOk: integer(4) === 0, options: [] };
  const message = question(name, pick(types), integer(3) === 0 ? {} : { edns });
  const flags = integer(4);
  if (flags === 0) message[2]! ^= 1 << integer(7);
  if (flags === 1) message[3] = integer(256);
  return integer(4) === 0 ? mutate([message], integer) : message;
}
