import assert from "node:assert/strict";
import { LeaderElector, type LeaderTerm } from "@meridian/controller";
import { formatMicroTime, leaseType, type Lease } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { lease } from "./objects.ts";
import { refusal } from "./refusal.ts";

/** Times that let an election be over before a reader is tired. */
const quick = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 300 };

/** Work that a leader does until it has to end. */
function untilAborted({ signal }: LeaderTerm): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** What leader election needs of a server. */
export const leases: ConformanceGroup = {
  subject: "leases",
  cases: {
    "times of a lease keep their microseconds": async ({ client, namespace }) => {
      const spec = {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
        acquireTime: "2026-11-30T12:00:00.000001Z",
        renewTime: "2026-11-30T12:00:01.987654Z",
        leaseTransitions: 3,
      };
      const created = await client.create(leaseType, lease({ namespace, name: "one" }, spec));
      assert.deepEqual(created.spec, spec);
      assert.deepEqual((await client.get<Lease>(leaseType, { namespace, name: "one" })).spec, spec);
    },

    "a time as this library writes it is taken": async ({ client, namespace, runtime }) => {
      const renewTime = formatMicroTime(runtime.clock.now());
      assert.match(renewTime, /\.\d{6}Z$/);
      const created = await client.create(
        leaseType,
        lease({ namespace, name: "one" }, { holderIdentity: "a", renewTime }),
      );
      assert.equal(created.spec?.renewTime, renewTime);
    },

    "of two that take a free lease at once one gets it": async ({ client, namespace }) => {
      const ref = { namespace, name: "one" };
      const free = await client.create(
        leaseType,
        lease(ref, { holderIdentity: "", leaseDurationSeconds: 1 }),
      );
      const take = (holderIdentity: string): Promise<Lease> =>
        client.update<Lease>(leaseType, {
          ...free,
          spec: { holderIdentity, leaseDurationSeconds: 15, leaseTransitions: 1 },
        });
      const outcomes = await Promise.allSettled([take("a"), take("b")]);
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      const lost = outcomes.find((outcome) => outcome.status === "rejected");
      await refusal(Promise.reject(lost?.reason as Error), { code: 409, reason: "Conflict" });
    },

    "of three candidates one leads, and when it stops another does at once": async (world) => {
      const { client, namespace, runtime } = world;
      const options = { client, namespace, name: "role", ...quick };
      const electors = ["a", "b", "c"].map(
        (candidate) => new LeaderElector(runtime, { ...options, candidate }),
      );
      const stops = new Map(electors.map((elector) => [elector, new AbortController()]));
      for (const elector of electors) {
        world.run((ending) =>
          elector.run(AbortSignal.any([ending, stops.get(elector)?.signal ?? ending]), untilAborted),
        );
      }
      const leader = (): Promise<LeaderElector> =>
        world.eventually("one leads", () => {
          const leading = electors.filter(({ status }) => status.leading);
          assert.ok(leading.length <= 1);
          return leading[0] ?? assert.fail("nobody leads");
        });
      const first = await leader();
      const read = (): Promise<Lease> => client.get<Lease>(leaseType, { namespace, name: "role" });
      const taken = (await read()).spec;
      await world.eventually("it is renewed", async () => {
        const { holderIdentity, acquireTime, renewTime } = (await read()).spec ?? {};
        assert.deepEqual([holderIdentity, acquireTime], [first.identity, taken?.acquireTime]);
        assert.notEqual(renewTime, taken?.renewTime);
      });
      stops.get(first)?.abort(new Error("stopped"));
      const second = await world.eventually("another leads", async () => {
        const next = await leader();
        assert.notEqual(next, first);
        return next;
      });
      const { holderIdentity, leaseTransitions } = (await read()).spec ?? {};
      assert.deepEqual([holderIdentity, leaseTransitions], [second.identity, 1]);
      assert.equal(second.status.slowPaths, 0, "the newest version was known each time");
    },

    "a lease that its holder does not renew is taken, and its last holder stays away": async (world) => {
      const { client, namespace, runtime } = world;
      const renewTime = formatMicroTime(runtime.clock.now() + 3_600_000);
      const spec = { holderIdentity: "gone", leaseDurationSeconds: 2, renewTime, leaseTransitions: 4 };
      const held = await client.create(leaseType, lease({ namespace, name: "role" }, spec));
      const elector = new LeaderElector(runtime, {
        client,
        namespace,
        name: "role",
        candidate: "next",
        ...quick,
      });
      world.run((signal) => elector.run(signal, untilAborted));
      await world.eventually("it leads, although the lease promises an hour", () =>
        assert.ok(elector.status.leading),
      );
      assert.equal(elector.status.transitions, 5);
      await refusal(client.update<Lease>(leaseType, { ...held, spec }), { code: 409, reason: "Conflict" });
    },
  },
};
