import assert from "node:assert/strict";
import { test } from "node:test";
import { expired } from "@meridian/kube";
import { Registry } from "prom-client";
import { registerInformerMetrics } from "../metrics/informer-metrics.ts";
import { freshness } from "../program/health.ts";
import { fleet } from "../testdata/fleet.ts";

/** What people who run controllers ask for again and again, in the threads about watches that hang above all (js#596). */

test("js#596: a health check fails when no word of the server came in time, although the watch looks well", async () => {
  const { truth, informer, start, stop, pass } = await fleet();
  truth.put("a", {});
  assert.match(String(freshness([informer])), /configmaps were not read whole yet/);
  start();
  await pass(1000);
  const bounds = { silentMsMax: 150_000 };
  for (let minute = 0; minute < 5; minute++) {
    await pass(60_000);
    truth.bookmark();
    await pass(1000);
    assert.equal(freshness([informer], bounds), true);
  }
  await pass(160_000);
  assert.equal(informer.connected, true);
  assert.match(String(freshness([informer], bounds)), /^configmaps are \d+ s old$/);
  truth.bookmark();
  await pass(1000);
  assert.equal(freshness([informer], bounds), true);
  await stop();
});

test("each copy tells its version, the age of the last word, and how often it was watched, read again and too late", async () => {
  const { truth, informer, start, stop, pass } = await fleet();
  const registry = new Registry();
  registerInformerMetrics(registry, [informer]);
  truth.put("a", {});
  start();
  await pass(1000);
  truth.endWatches();
  await pass(5000);
  truth.failWatches(expired("the history is gone"));
  await pass(60_000);
  truth.put("c", {});
  await pass(30_000);
  const text = await registry.metrics();
  const value = (name: string): number =>
    Number(new RegExp(`^${name}\\{name="configmaps"\\} (.*)$`, "m").exec(text)?.[1]);
  const { status } = informer;
  assert.equal(value("reflector_last_resource_version"), Number(informer.version));
  assert.ok(value("informer_lag_seconds") > 25 && value("informer_lag_seconds") < 35);
  assert.equal(value("informer_connected"), 1);
  assert.ok(value("reflector_watches_total") >= 2);
  assert.equal(value("reflector_watches_total"), status.watches);
  assert.equal(value("reflector_lists_total"), status.replaces);
  assert.equal(value("reflector_lists_total"), 1 + status.resyncs);
  assert.equal(value("reflector_expired_total"), status.expired);
  assert.ok(status.expired >= 1 && status.resyncs >= 1, JSON.stringify(status));
  await stop();
});
