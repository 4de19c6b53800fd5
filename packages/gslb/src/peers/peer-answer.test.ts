import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answered, Verdict } from "@meridian/dns";
import { peerAnswer } from "./peer-answer.ts";

const server = { address: "10.0.0.1", port: 53 };
const record = (type: string, data: string): Answered["records"][number] => ({
  name: "localtargets-app.x",
  type,
  ttl: 5,
  data,
});
const answered = (outcome: Answered["outcome"], ...records: Answered["records"]): Answered => ({
  ...{ state: "answered", outcome, authoritative: false, records, authority: [], additional: [], server },
});

const cases: readonly {
  readonly name: string;
  readonly verdict: Verdict;
  readonly kind: "answered" | "failed";
  readonly targets?: readonly string[];
}[] = [
  {
    name: "targets, without AA",
    verdict: answered("data", record("A", "192.0.2.1"), record("A", "192.0.2.2")),
    kind: "answered",
    targets: ["192.0.2.1", "192.0.2.2"],
  },
  {
    name: "only the asked family counts",
    verdict: answered("data", record("CNAME", "x."), record("AAAA", "2001:db8::1"), record("A", "192.0.2.1")),
    kind: "answered",
    targets: ["192.0.2.1"],
  },
  { name: "NODATA is none", verdict: answered("nodata"), kind: "answered", targets: [] },
  { name: "NXDOMAIN is none", verdict: answered("nxdomain"), kind: "answered", targets: [] },
  { name: "a referral says nothing", verdict: answered("referral"), kind: "failed" },
  { name: "SERVFAIL says nothing", verdict: { state: "refused", rcode: "SERVFAIL", server }, kind: "failed" },
  { name: "REFUSED says nothing", verdict: { state: "refused", rcode: "REFUSED", server }, kind: "failed" },
  {
    name: "silence says nothing",
    verdict: { state: "unreachable", reason: "no reply in 2000 ms" },
    kind: "failed",
  },
];

for (const { name, verdict, kind, targets } of cases) {
  test(name, () => {
    const answer = peerAnswer(verdict, "A");
    assert.equal(answer.kind, kind);
    if (answer.kind === "answered") assert.deepEqual(answer.targets, targets);
    assert.notEqual(answer.verdict, "");
  });
}
