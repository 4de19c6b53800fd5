import assert from "node:assert/strict";
import { test } from "node:test";
import { leaseType, objectKey } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import { checkCopies } from "./check-copies.ts";
import { playProgram } from "./play-program.ts";
import type { ModelOptions } from "./play-program.ts";
import type { Act } from "./program.ts";

const runs = Number(process.env["MERIDIAN_RUNS"] ?? 150);
const seed = Number(process.env["MERIDIAN_SEED"] ?? 20_261_130);

test(`whatever is written, cut, refused and compacted, copies and handlers end with the truth (${runs} programs, seed ${seed})`, () =>
  checkCopies({ runs, seed }));

interface Held extends KubeObject {
  readonly spec: { readonly holderIdentity: string };
}

test("a handler of a user's is checked with objects of its kind, and fails now and then without harm", async () => {
  let added = 0;
  await checkCopies<Held>({
    runs: Math.ceil(runs / 10),
    seed,
    type: leaseType,
    object: ({ value, ...metadata }) => ({
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata,
      spec: { holderIdentity: `holder-${value}` },
    }),
    subject({ runtime }) {
      const book = new Map<string, string>();
      let calls = 0;
      return {
        handler: {
          async onAdd(object) {
            await runtime.clock.sleep(5);
            if (++calls % 7 === 0) throw new Error("not today");
            added++;
            book.set(objectKey(object.metadata), object.spec.holderIdentity);
          },
          onUpdate: (_old, object) => void book.set(objectKey(object.metadata), object.spec.holderIdentity),
          onDelete: (object) => void book.delete(objectKey(object.metadata)),
        },
        check(objects) {
          const holders = objects.map(({ metadata, spec }) => [objectKey(metadata), spec.holderIdentity]);
          assert.deepEqual([...book].sort(), holders.sort());
        },
      };
    },
  });
  assert.ok(added > runs / 5);
});

/** A checker that never fails proves nothing. */
const planted: readonly {
  readonly name: string;
  readonly acts: readonly Act[];
  readonly options?: ModelOptions;
  readonly message: RegExp;
}[] = [
  {
    name: "an event that is lost between two others",
    acts: [
      { do: "pass", ms: 5_000 },
      { do: "befall event", fault: { do: "drop" } },
      { do: "put", name: "a", shown: true },
      { do: "put", name: "b", shown: true },
      { do: "pass", ms: 1_000 },
    ],
    message: /is not the truth at that version/,
  },
  {
    name: "a transform that changes what is kept",
    acts: [{ do: "pass", ms: 5_000 }],
    options: { informer: { transform: (object) => ({ ...object, data: {} }) } },
    message: /is not the truth at that version/,
  },
  {
    name: "a handler that forgets deletions",
    acts: [
      { do: "pass", ms: 5_000 },
      { do: "remove", name: "a" },
    ],
    options: {
      subject() {
        let count = 0;
        return {
          handler: { onAdd: () => void count++ },
          check: (objects) => assert.equal(count, objects.length, "it counts what is gone"),
        };
      },
    },
    message: /it counts what is gone/,
  },
];

for (const { name, acts, options = {}, message } of planted) {
  test(`the model notices ${name}`, async () => {
    await assert.rejects(playProgram({ seed: 1, watchList: false, pageSize: 500, acts }, options), {
      message,
    });
  });
}

test("what fails is told as a short program that fails again", async () => {
  const options: ModelOptions = {
    atRest({ truth, type }) {
      if (truth.get(type, { namespace: "other", name: "d" }) !== undefined) throw new Error("no d, please");
    },
  };
  const failure: Error = await checkCopies({ ...options, runs: 20, seed: 3 }).then(
    () => assert.fail("it passed"),
    (error: unknown) => error as Error,
  );
  assert.match(failure.message, /^program \d+ of seed 3 fails: no d, please\nplayProgram\(/);
  const text = /playProgram\((.*)\)$/.exec(failure.message)?.[1] ?? "";
  const program = JSON.parse(text) as Parameters<typeof playProgram>[0];
  assert.deepEqual(
    program.acts.map(({ do: what }) => what),
    ["put"],
  );
  await assert.rejects(playProgram(program, options), /no d, please/);
});
