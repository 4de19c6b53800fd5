import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { CaseWorld } from "./case-world.ts";
import type { ServerUnderTest } from "./server-under-test.ts";

/** One thing that must hold at every server; it throws where it does not. */
export type ConformanceCase = (world: CaseWorld) => Promise<void>;

/** The cases of one subject, each named by a sentence about what holds. */
export interface ConformanceGroup {
  readonly subject: string;
  readonly cases: Readonly<Record<string, ConformanceCase>>;
}

/** Where a run of the suite happens. */
export interface ConformanceRun {
  readonly name: string;
  readonly open: () => Promise<ServerUnderTest>;
  /** Cases that this server cannot pass yet, `subject: case` with the reason. One that passes is a failure. */
  readonly skips: Readonly<Record<string, string>>;
  /** Why it cannot run on this machine. */
  readonly absence?: string | undefined;
}

const caseMsMax = 180_000;

/** Registers all cases of all groups as tests against one server. */
export function describeConformance(run: ConformanceRun, groups: readonly ConformanceGroup[]): void {
  const unused = new Set(Object.keys(run.skips));
  let server: ServerUnderTest;
  const skip = run.absence ?? false;

  describe(`the controller library on ${run.name}`, { skip }, () => {
    before(async () => {
      server = await run.open();
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
    });
    for (const { subject, cases } of groups) {
      for (const [sentence, body] of Object.entries(cases)) {
        const name = `${subject}: ${sentence}`;
        unused.delete(name);
        const reason = run.skips[name];
        if (reason === undefined) it(name, () => play(server, body));
        else it(`${name} (not yet: ${reason})`, () => mustFail(server, { name, body }));
      }
    }
    it("every skipped case exists", () => assert.deepEqual([...unused], []));
  });
}

/** A case that passes has no place in the list of skips. */
async function mustFail(
  server: ServerUnderTest,
  { name, body }: { readonly name: string; readonly body: ConformanceCase },
): Promise<void> {
  const passed = await play(server, body).then(
    () => true,
    () => false,
  );
  assert.ok(!passed, `${name}: it passes; remove it from the list of skips`);
}

async function play(server: ServerUnderTest, body: ConformanceCase): Promise<void> {
  await using world = await CaseWorld.open(server);
  const { clock } = world.runtime;
  let cancel = (): void => {};
  const deadline = new Promise<never>((_, reject) => {
    cancel = clock.after(caseMsMax, () => reject(new Error(`the case did not end within ${caseMsMax} ms`)));
  });
  try {
    await Promise.race([body(world), deadline]);
  } finally {
    cancel();
  }
}
