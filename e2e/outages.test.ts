import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deploy, exposedAddress, setReady } from "./harness/application.ts";
import { eventually, throughout } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";
import { cut, enterNamespace, heal, silence } from "./harness/namespace.ts";

// Clusters that die, come back and cannot see each other. A network namespace of its own, so that pairs can be cut.

const eu = exposedAddress["eu"]!;
const us = exposedAddress["us"]!;
const za = exposedAddress["za"]!;
const periodSeconds = 2;

/** Longer than noticing an unreachable peer takes: one period, the query's deadline, and the reconcile. */
const noticedMs = (periodSeconds + 2 + 6) * 1000;

const withoutThreshold = { name: "nothreshold", strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }" };
const withThreshold = {
  name: "threshold",
  strategy: "{ type: roundRobin, dnsTtlSeconds: 5, splitBrainThresholdSeconds: 120 }",
};
const dropHost = "nothreshold.cloud.example.com";
const keepHost = "threshold.cloud.example.com";

if (await enterNamespace()) {
  let fleet: Fleet;

  const kill = async (name: string): Promise<void> => {
    const { pid } = await fleet.cluster(name);
    process.kill(pid, "SIGKILL");
    await eventually(`${name} is gone`, () => assert.throws(() => process.kill(pid, 0)));
  };
  const restart = async (name: string): Promise<void> => {
    const before = (await fleet.cluster(name)).pid;
    fleet.startStopped();
    await eventually(`${name} is back`, async () => {
      assert.notEqual((await fleet.cluster(name)).pid, before);
      await fleet.dig(name, keepHost);
    });
  };
  const answersNow = async (
    at: readonly string[],
    host: string,
    addresses: readonly string[],
  ): Promise<void> => {
    for (const cluster of at) {
      const answer = await fleet.dig(cluster, host);
      assert.deepEqual(answer.addresses, addresses.toSorted(), `${host} at ${cluster}`);
    }
  };

  before(async () => {
    fleet = await Fleet.start({
      args: ["--no-examples", "--no-restart"],
      env: { RECONCILE_REQUEUE_SECONDS: String(periodSeconds) },
    });
    await deploy(fleet, withoutThreshold);
    await deploy(fleet, withThreshold);
    await fleet.answers(dropHost, [eu, us, za]);
    await fleet.answers(keepHost, [eu, us, za]);
  });
  after(async () => {
    await fleet.stop();
  });

  test("D56: a killed cluster leaves the answers without a threshold, stays with one, and loses no acknowledged object", async () => {
    let acknowledged = 0;
    let writing = true;
    const writer = (async () => {
      while (writing) {
        const name = `written-${acknowledged}`;
        const result = await fleet.tryKubectl("za", [
          "create",
          "configmap",
          name,
          `--from-literal=n=${acknowledged}`,
        ]);
        if (result.code !== 0) return;
        acknowledged += 1;
      }
    })();
    await eventually("some writes are acknowledged", () => assert.ok(acknowledged > 5), { withinMs: 60_000 });
    await kill("za");
    writing = false;
    await writer;

    await fleet.answers(dropHost, [eu, us], { at: ["eu", "us"], withinMs: noticedMs });
    await throughout("the threshold keeps za", () => answersNow(["eu", "us"], keepHost, [eu, us, za]), {
      forMs: noticedMs,
    });

    await restart("za");
    await answersNow(["za", "eu", "us"], keepHost, [eu, us, za]);
    await fleet.answers(dropHost, [eu, us, za], { withinMs: noticedMs });

    const names = (await fleet.kubectl("za", ["get", "configmap", "-o", "name"])).split("\n");
    for (let n = 0; n < acknowledged; n++)
      assert.ok(names.includes(`configmap/written-${n}`), `written-${n} is lost`);
  });

  test("H-07: only the killed cluster's own targets leave and return; the restarted one withdraws no peer", async () => {
    await fleet.answers(dropHost, [eu, us, za]);
    let watching = true;
    const seen = new Map<string, Set<string>>(["eu", "us", "za"].map((name) => [name, new Set<string>()]));
    const watcher = (async () => {
      while (watching) {
        for (const [cluster, answers] of seen) {
          const answer = await fleet.dig(cluster, dropHost).catch(() => undefined);
          if (answer?.status === "NOERROR") answers.add(answer.addresses.join(" "));
        }
      }
    })();
    await kill("us");
    await fleet.answers(dropHost, [eu, za], { at: ["eu", "za"], withinMs: noticedMs });
    await restart("us");
    await fleet.answers(dropHost, [eu, us, za], { withinMs: noticedMs });
    watching = false;
    await watcher;
    const full = [eu, us, za].toSorted().join(" ");
    const without = [eu, za].toSorted().join(" ");
    assert.deepEqual(seen.get("eu"), new Set([full, without]));
    assert.deepEqual(seen.get("za"), new Set([full, without]));
    assert.deepEqual(seen.get("us"), new Set([full]), "a restart is never a failover");
  });

  test("two clusters cut from each other while a third sees both", async () => {
    const a = (await fleet.cluster("eu")).dns.address;
    const b = (await fleet.cluster("us")).dns.address;
    await cut([[a, b]]);
    await Promise.all([
      fleet.answers(dropHost, [eu, za], { at: ["eu"], withinMs: noticedMs }),
      fleet.answers(dropHost, [us, za], { at: ["us"], withinMs: noticedMs }),
    ]);
    await answersNow(["za"], dropHost, [eu, us, za]);
    await answersNow(["eu", "us", "za"], keepHost, [eu, us, za]);
    await heal();
    await fleet.answers(dropHost, [eu, us, za], { withinMs: noticedMs });
  });

  test("a restart neither ends nor renews the time that an unreachable peer is believed", async () => {
    const a = (await fleet.cluster("eu")).dns.address;
    const b = (await fleet.cluster("za")).dns.address;
    await cut([[a, b]]);
    await fleet.answers(dropHost, [us, za], { at: ["za"], withinMs: noticedMs });
    const explained = async (): Promise<unknown> => {
      const result = await fleet.meridian(["explain", keepHost, "--output", "json"]);
      return JSON.parse(result.stdout);
    };
    await explained();
    await kill("za");
    await restart("za");
    await throughout("za still believes eu", () => answersNow(["za"], keepHost, [eu, us, za]), {
      forMs: noticedMs,
    });
    await heal();
    await fleet.answers(dropHost, [eu, us, za], { withinMs: noticedMs });
  });

  test("D20: a silent peer delays no failover of the others", async () => {
    const { dns } = await fleet.cluster("za");
    await silence(dns.address, dns.port);
    await setReady(fleet, "eu", { ...withThreshold, ready: false });
    await fleet.answers(keepHost, [us, za], { at: ["eu", "us"] });
    await setReady(fleet, "eu", { ...withThreshold, ready: true });
    await fleet.answers(keepHost, [eu, us, za], { at: ["eu", "us"] });
    await heal();
    await fleet.answers(dropHost, [eu, us, za], { withinMs: noticedMs });
  });
}
