import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabEvent } from "../../lab-state.ts";
import { copyOutlook } from "./copy-outlook.ts";

const copy = { name: "copy-1", stale: true, behind: 2, wire: "cut", version: 4, heldBack: 0 } as const;
const taken = {
  code: "eventLostSilently",
  copy: "copy-1",
  name: "web-1",
  change: "changed",
  version: 5,
  ms: 0,
} as const;
const reread = { code: "everythingRead", copy: "copy-1", why: "tooOld", version: 6, pods: 1 } as const;

interface Case {
  readonly name: string;
  readonly copy?: Partial<Parameters<typeof copyOutlook>[0]>;
  readonly oldest?: number;
  readonly log?: readonly LabEvent[];
  readonly outlook: string;
}

const cases: readonly Case[] = [
  { name: "nothing has changed since it was cut", copy: { stale: false, behind: 0 }, outlook: "fresh" },
  { name: "the history reaches back further", oldest: 2, outlook: "differences" },
  { name: "the history begins just after it", oldest: 4, outlook: "differences" },
  { name: "one record after it is forgotten", oldest: 5, outlook: "everything" },
  { name: "it has never read anything", copy: { version: null }, outlook: "everything" },
  { name: "its wire is silent", copy: { wire: "silent", heldBack: 2 }, oldest: 9, outlook: "heldBack" },
  { name: "it has given up a silent watch", copy: { wire: "silent" }, oldest: 9, outlook: "everything" },
  { name: "an event is delayed", copy: { wire: "open", heldBack: 1 }, outlook: "heldBack" },
  { name: "the differences are on their way", copy: { wire: "open" }, outlook: "catchingUp" },
  { name: "an event was taken out", copy: { wire: "open" }, log: [reread, taken], outlook: "differs" },
  {
    name: "one was taken out of another copy",
    copy: { wire: "open" },
    log: [{ ...taken, copy: "copy-2" }],
    outlook: "catchingUp",
  },
  { name: "all was read after that", copy: { wire: "open" }, log: [taken, reread], outlook: "catchingUp" },
  {
    name: "one was taken out, and others came",
    copy: { wire: "open", behind: 0 },
    log: [taken],
    outlook: "differs",
  },
];
for (const { copy: change, log = [], name, oldest = 0, outlook } of cases) {
  test(`${name}: ${outlook}`, () => {
    const entries = log.map((event, number) => ({ number, atMs: 0, event }));
    assert.equal(
      copyOutlook({ ...copy, ...change }, { truth: { oldestResumable: oldest }, log: entries }),
      outlook,
    );
  });
}
