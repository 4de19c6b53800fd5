import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, silentLogger, type LogFields, type Logger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { TransferPolicy } from "../transfer/transfer-policy.ts";
import { TransferServer } from "../transfer/transfer-server.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { composeUpdate } from "../update/compose-update.ts";
import { UpdateServer } from "../update/update-server.ts";
import { Authority } from "./authority.ts";
import { RefusalLog, type Refusal } from "./refusal-log.ts";
import { createRequestPipeline } from "./request-pipeline.ts";

const secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const key = parseTsigKey({ name: "k", algorithm: "hmac-sha256", secret });
const updateOf = (name: string): Uint8Array =>
  composeUpdate({
    zone: "p.test",
    prerequisites: [],
    changes: [{ kind: "add", name, type: "A", ttl: 60, data: "192.0.2.1" }],
  });

/** A logger that keeps its warnings. */
function keeping(): { readonly log: Logger; readonly lines: LogFields[] } {
  const lines: LogFields[] = [];
  const warn = (message: string, fields: LogFields = {}): void => {
    assert.equal(message, "a DNS request was refused");
    lines.push(fields);
  };
  return { log: { ...silentLogger, warn }, lines };
}

test("wrong signatures, refused transfers and refused updates are told with client, key and reason", async () => {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const { clock } = runtime;
  const { log, lines } = keeping();
  const zone = loadZone(caseZoneText);
  const authority = new Authority(runtime);
  authority.setZone(zone);
  const rules = [{ key: "k", match: "exact", name: "allowed.p.test" }] as const;
  const updates = await sim.complete(
    UpdateServer.open(runtime, { authority, zones: [{ zone, journal: "j", rules }] }),
  );
  const transfers = new TransferServer({ clock, zones: authority, policy: new TransferPolicy([]) });
  const pipeline = createRequestPipeline({
    ...{ clock, log, authority, keyring: new TsigKeyring([key]) },
    ...{ update: updates.handle, transfer: transfers.answer },
  });
  const send = async (message: Uint8Array): Promise<number> => {
    const client = new ReusedClient("tcp", { address: "192.0.2.200", port: 4_000 });
    for await (const answer of pipeline.handle({ message, client, signal: new AbortController().signal }))
      return answer[3]! & 15;
    throw new Error("there is no answer");
  };
  const signed = (message: Uint8Array, name = "k", offsetSeconds = 0): Uint8Array =>
    new SignedRequest(message, { key: { ...key, name }, clock, offsetSeconds }).message;
  const forged = signed(question("p.test", "SOA"));
  forged[forged.length - 10]! ^= 1;
  const cases: readonly (readonly [message: Uint8Array, rcode: number, told: LogFields | undefined])[] = [
    [forged, 9, { what: "signature", reason: "BADSIG", key: "k", zone: "p.test" }],
    [
      signed(question("P.test", "SOA"), "Strange"),
      9,
      { what: "signature", reason: "BADKEY", key: "strange" },
    ],
    [signed(question("p.test", "SOA"), "k", 400), 9, { what: "signature", reason: "BADTIME", key: "k" }],
    [
      question("p.test", "AXFR"),
      5,
      { what: "transfer", reason: "no rule gives the zone to this client or key" },
    ],
    [signed(question("p.test", "AXFR")), 5, { what: "transfer", key: "k" }],
    [updateOf("allowed.p.test"), 5, { what: "update", reason: "it is not signed", key: undefined }],
    [
      signed(updateOf("other.p.test")),
      5,
      { what: "update", key: "k", reason: "the rules do not give its key all of these names and types" },
    ],
    [signed(updateOf("allowed.p.test")), 0, undefined],
    [signed(question("p.test", "SOA")), 0, undefined],
  ];
  for (const [message, rcode, told] of cases) {
    lines.length = 0;
    assert.equal(await sim.complete(send(message)), rcode);
    assert.equal(lines.length, told === undefined ? 0 : 1, JSON.stringify(lines));
    if (told === undefined) continue;
    const [line = {}] = lines;
    assert.equal(line["client"], "192.0.2.200");
    assert.deepEqual({ ...line, ...told }, line);
    assert.ok(!JSON.stringify(line).includes(secret));
  }
});

const refusal = (more: Partial<Refusal> = {}): Refusal => ({
  what: "signature",
  reason: "BADSIG",
  client: "192.0.2.1",
  key: "k",
  zone: "p.test",
  ...more,
});

test("the same is told once a minute, with how often it came", async () => {
  const sim = new Simulation({ seed: 1 });
  const { clock } = sim.node({ name: "server", addresses: ["10.0.0.1"] }).runtime;
  const { log, lines } = keeping();
  const refusals = new RefusalLog({ clock, log });
  const note = (times: number, of: Refusal, knownKey = true): void => {
    for (let time = 0; time < times; time++) refusals.note(of, knownKey);
  };
  note(1_000, refusal());
  for (let index = 0; index < 50; index++) note(1, refusal({ zone: `n${index}.test` }));
  note(10, refusal({ reason: "BADTIME" }));
  for (let index = 0; index < 50; index++)
    note(1, refusal({ reason: "BADKEY", key: `invented${index}` }), false);
  assert.deepEqual(
    lines.map(({ reason }) => reason),
    ["BADSIG", "BADTIME", "BADKEY"],
  );
  await sim.run({ untilMs: sim.nowMs + 60_001 });
  note(3, refusal());
  assert.equal(lines.length, 4);
  assert.equal(lines[3]!["more"], 1_049);
});

test("a flood from everywhere makes a hundred lines in a minute, and the rest is counted", async () => {
  const sim = new Simulation({ seed: 1 });
  const { clock } = sim.node({ name: "server", addresses: ["10.0.0.1"] }).runtime;
  const { log, lines } = keeping();
  const refusals = new RefusalLog({ clock, log });
  for (let index = 0; index < 100_000; index++)
    refusals.note(refusal({ client: `10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}` }), true);
  assert.equal(lines.length, 100);
  await sim.run({ untilMs: sim.nowMs + 60_001 });
  refusals.note(refusal({ client: "192.0.2.7" }), true);
  assert.equal(lines.length, 101);
  assert.equal(lines[100]!["others"], 99_900);
});
