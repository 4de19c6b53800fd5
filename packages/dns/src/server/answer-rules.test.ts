import assert from "node:assert/strict";
import test from "node:test";
import { assertSound } from "../testdata/assert-sound.ts";
import { authorityOf, caseZoneText, describe, exchange } from "../testdata/case-zone.ts";
import { ruleCases } from "../testdata/rule-cases.ts";

for (const [name, message, expected] of ruleCases) {
  test(`an answer: ${name}`, () => {
    const reply = exchange(authorityOf([caseZoneText]), message);
    assert.equal(describe(reply), expected);
    if (reply !== undefined) assertSound(message, reply);
  });
}
