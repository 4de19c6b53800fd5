import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogFields, Logger } from "@meridian/runtime";
import type { HostPlan } from "../decide/host-plan.ts";
import type { GslbPlan } from "../decide/plan-gslb.ts";
import { GslbLog } from "./gslb-log.ts";

function logged(): { readonly log: Logger; readonly lines: [string, string, LogFields][] } {
  const lines: [string, string, LogFields][] = [];
  const take =
    (level: string) =>
    (message: string, fields: LogFields = {}): void =>
      void lines.push([level, message, fields]);
  const log: Logger = {
    ...{ error: take("error"), warn: take("warn"), info: take("info"), debug: take("debug") },
    child: () => log,
  };
  return { log, lines };
}

const addresses: Readonly<Record<string, string>> = { eu: "192.0.2.1", us: "198.51.100.1" };

function plan(tags: readonly string[] | undefined, reason = "Accepted"): GslbPlan {
  const targets = new Map((tags ?? []).map((tag) => [tag, { A: [addresses[tag]!], AAAA: [] }]));
  const host = { host: "a.z", health: "Unhealthy", held: false, decision: { targets, reasons: [] } };
  return {
    hosts: tags === undefined ? [] : [host as unknown as HostPlan],
    policy: { policy: { strategy: { type: "failover", primaryGeoTag: "eu" }, strategyName: "failover" } },
    status: {
      conditions: [{ type: "Accepted", status: "True", reason, message: "", lastTransitionTime: "" }],
    },
  } as unknown as GslbPlan;
}

const about = { gslb: "demo/a", host: "a.z" };

test("a Gslb that is new is told with its strategy and targets, and nothing while nothing changes", () => {
  const { log, lines } = logged();
  const gslbs = new GslbLog(log, "eu");
  gslbs.onPass("demo/a", undefined, plan(["eu"]));
  gslbs.onPass("demo/a", plan(["eu"]), plan(["eu"]));
  assert.deepEqual(lines, [
    ["debug", "Resolved strategy", { gslb: "demo/a", strategy: "failover" }],
    ["info", "Final target list", { ...about, targets: ["192.0.2.1"] }],
  ]);
});

for (const [geoTag, role] of [
  ["eu", "primary"],
  ["us", "secondary"],
] as const)
  test(`a failover is told in k8gb's words where this cluster is the ${role}`, () => {
    const { log, lines } = logged();
    new GslbLog(log, geoTag).onPass("demo/a", plan(["eu"]), plan(["us"]));
    const targets = ["198.51.100.1"];
    assert.deepEqual(lines, [
      [
        "info",
        `Executing failover strategy for ${role} cluster`,
        { ...about, targets, workload: "Unhealthy", cluster: geoTag, role },
      ],
      ["info", "Final target list", { ...about, targets, cause: "failover", from: ["eu"], to: ["us"] }],
    ]);
  });

test("a Gslb that has no host in any zone is told once", () => {
  const { log, lines } = logged();
  const gslbs = new GslbLog(log, "eu");
  const homeless = plan(undefined, "HostOutsideZones");
  gslbs.onPass("demo/a", plan(["eu"]), homeless);
  gslbs.onPass("demo/a", homeless, homeless);
  assert.deepEqual(
    lines.map(([, message]) => message),
    ["Skipping reconciliation: ZoneDelegation is not present or Status is empty"],
  );
});

test("a Gslb that has no host for another reason is not said to lack a zone", () => {
  const { log, lines } = logged();
  new GslbLog(log, "eu").onPass("demo/a", plan(["eu"]), plan(undefined, "HostConflict"));
  assert.deepEqual(lines, []);
});
