import assert from "node:assert/strict";
import { formatMicroTime, type Lease } from "@meridian/kube";
import type { ConformanceGroup } from "./conformance-group.ts";
import { lease, leaseType } from "./objects.ts";
import { refusal } from "./refusal.ts";

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
  },
};
