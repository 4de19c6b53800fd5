import assert from "node:assert/strict";
import { test } from "node:test";
import type { LabEvent, LabEventCode, Writer } from "../../lab-state.ts";
import { english } from "./english.ts";
import { japanese } from "./japanese.ts";

const page: Writer = { who: "page", user: "lab-page", manager: "lab-page" };
const lab: Writer = { who: "lab", user: "lab-page", manager: "lab-beginning" };
const controller: Writer = { who: "controller", user: "small-controller", manager: "small-controller" };
const other: Writer = { who: "other", user: "kubectl-user", manager: "kubectl" };
const counted = { fullReads: 1, watches: 2, watchesOpen: 1 };
const copy = "copy-1";
const name = "web-3";
const refused = { status: 409, reason: "Conflict" };
const eventOf = { copy, name, change: "created", version: 5, ms: 5_000 } as const;
const act = { copy, name, seen: 2, desired: 3, behind: 1 };

/** At least one of each code, so that a code that is added is a failure to compile here. */
const events: Readonly<Record<LabEventCode, readonly LabEvent[]>> = {
  started: [{ code: "started", historyMax: 4 }],
  podCreated: [page, lab, controller, other].map((by) => ({ code: "podCreated", name, version: 5, by })),
  podChanged: [{ code: "podChanged", name, version: 5, by: page }],
  podDeleted: [{ code: "podDeleted", name, version: 5, by: page }],
  pageRefused: (["create", "change", "delete"] as const).map((action) => ({
    ...{ code: "pageRefused", action, name, ...refused },
  })),
  copyAdded: [{ code: "copyAdded", copy }],
  copyRemoved: [{ code: "copyRemoved", copy }],
  everythingRead: (["first", "tooOld", "other"] as const).map((why) => ({
    ...{ code: "everythingRead", copy, why, version: 5, pods: 3 },
  })),
  wireCut: [5, null].map((version) => ({ code: "wireCut", copy, version })),
  wireSilent: [5, null].map((version) => ({ code: "wireSilent", copy, version })),
  wireConnected: [0, 1, 2].map((behind) => ({ code: "wireConnected", copy, behind })),
  caughtUp: [0, 1, 3].map((changes) => ({ code: "caughtUp", copy, fromVersion: 2, toVersion: 5, changes })),
  tooOld: [{ code: "tooOld", copy, version: 2, oldestResumable: 5 }],
  compacted: [{ code: "compacted", keep: 0, oldestResumable: 5 }],
  historyMaxSet: [1, 9].map((historyMax) => ({ code: "historyMaxSet", historyMax })),
  copyRead: [counted, { ...counted, watches: 3 }].map((after) => ({
    ...{ code: "copyRead", copy, times: 100, pods: 3, before: counted, after },
  })),
  staleWriteRefused: [7, null].map((currentVersion) => ({
    ...{ code: "staleWriteRefused", copy, name, ...refused, sentVersion: 2, currentVersion },
  })),
  staleWriteAccepted: [{ code: "staleWriteAccepted", copy, name, sentVersion: 2, version: 5 }],
  faultArmed: (["lose", "loseSilently", "double", "delay"] as const).map((fault) => ({
    ...{ code: "faultArmed", copy, fault, ms: 5_000 },
  })),
  eventLost: [{ code: "eventLost", ...eventOf }],
  eventLostSilently: [{ code: "eventLostSilently", ...eventOf }],
  eventDoubled: [{ code: "eventDoubled", ...eventOf }],
  eventDelayed: [{ code: "eventDelayed", ...eventOf }],
  eventDelivered: [{ code: "eventDelivered", ...eventOf }],
  controllerStarted: [{ code: "controllerStarted", copy, desired: 3 }],
  controllerStopped: [{ code: "controllerStopped" }],
  controllerActed: (["create", "delete"] as const).map((action) => ({
    ...{ code: "controllerActed", action, ...act },
  })),
  controllerRefused: (["create", "delete"] as const).map((action) => ({
    ...{ code: "controllerRefused", action, ...act, ...refused },
  })),
};

for (const [code, cases] of Object.entries(events)) {
  test(`each ${code} is a sentence of its own in both languages, with its names and numbers`, () => {
    for (const { sentence, language } of [english, japanese]) {
      const sentences = cases.map((event) => sentence(event));
      assert.equal(new Set(sentences).size, cases.length, `${language}: two events read alike`);
      cases.forEach((event, index) => {
        const text = sentences[index]!;
        assert.match(text, language === "en" ? /^\S.*[.]$/s : /^\S.*。$/s);
        assert.doesNotMatch(text, /undefined|null|NaN|\[object/);
        for (const field of ["copy", "name", "version", "status", "reason"] as const) {
          const value = (event as Readonly<Record<string, unknown>>)[field];
          // A full read for the first time names what the copy came to; all else names what it is about.
          if (typeof value === "string" || typeof value === "number")
            assert.ok(text.includes(String(value)), `${language}: ${text} does not name ${value}`);
        }
      });
    }
  });
}

test("one is not many", () => {
  assert.match(english.sentence({ code: "wireConnected", copy, behind: 1 }), /1 version behind/);
  assert.match(english.sentence({ code: "wireConnected", copy, behind: 2 }), /2 versions behind/);
});

test("the Japanese texts have no half-width brackets around Japanese words", () => {
  const texts = Object.values(events).flatMap((cases) => cases.map((event) => japanese.sentence(event)));
  assert.deepEqual(
    texts.filter((text) => /[\u3040-\u30ff\u4e00-\u9fff]\(|\([\u3040-\u30ff\u4e00-\u9fff]/.test(text)),
    [],
  );
});
