import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sample } from "./sample.ts";
import { reportedCases } from "./section-report.ts";

const sample = (server: string, round: number, queriesPerSecond: number): Sample => ({
  section: "dns-udp",
  case: "10 hosts, hit",
  server,
  round,
  values: { queriesPerSecond },
});

const part = {
  section: "dns-udp",
  figures: [{ key: "queriesPerSecond", title: "q/s", digits: 0, compared: true }],
  references: [
    { server: "gdnsd", sign: "/g" },
    { server: "BIND", sign: "/B" },
  ],
};

test("a figure is the median of its rounds, in ratio to those of the references", () => {
  const samples = [
    ...[100, 300, 200].map((rate, round) => sample("Meridian", round, rate)),
    ...[90, 110, 100].map((rate, round) => sample("gdnsd", round, rate)),
    ...[40, 60, 50].map((rate, round) => sample("BIND", round, rate)),
  ];
  const [only, ...others] = reportedCases(samples, part);
  assert.equal(others.length, 0);
  assert.deepEqual(only?.servers["Meridian"], {
    queriesPerSecond: { median: 200, min: 100, max: 300, rounds: 3, to: { gdnsd: 2, BIND: 4 } },
  });
});

test("where a peer was not measured there is no ratio to it", () => {
  const [only] = reportedCases([sample("NSD", 0, 5)], part);
  assert.deepEqual(only?.servers["NSD"], {
    queriesPerSecond: { median: 5, min: 5, max: 5, rounds: 1 },
  });
});
