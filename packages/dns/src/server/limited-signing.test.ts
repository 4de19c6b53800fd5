import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { signZones } from "../testdata/signed-zone.ts";
import { Authority } from "./authority.ts";
import { RateLimit } from "./rate-limit.ts";

test("answers that the rate limit keeps back use up no signatures: others get theirs", () => {
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "dns", addresses: ["192.0.2.53"] });
  const rateLimit = RateLimit.create({ seed: 1, perSecond: 100 });
  const authority = new Authority({ ...runtime, rateLimit });
  authority.setZone(loadZone(caseZoneText));
  const { answers } = signZones(authority, ["p.test"], { clock: runtime.clock, signaturesPerSecond: 1_000 });
  const output = new Uint8Array(65_535);
  const edns = { payloadSize: 1232, version: 0, dnssecOk: true, options: [] };
  const ask = (name: string, address: string): boolean => {
    const message = question(name, "A", { edns });
    const client = new ReusedClient("udp", { address, port: 4_000 });
    const length = authority.answer(message, 0, message.length, client, output);
    return length > 0 && (output[2]! & 2) === 0;
  };

  let answered = 0;
  for (let index = 0; index < 5_000; index++) if (ask(`r${index}.p.test`, "192.0.2.1")) answered++;
  assert.equal(answered, 100);
  assert.equal(answers.counters.refused, 0);
  assert.ok(answers.counters.made <= 101, `${answers.counters.made} signatures for ${answered} answers`);
  assert.ok(ask("nobody.p.test", "198.51.100.1"), "a client elsewhere finds the budget used up");
});
