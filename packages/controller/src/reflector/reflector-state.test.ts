import assert from "node:assert/strict";
import { test } from "node:test";
import { backoffMs } from "./backoff.ts";
import { compareVersions } from "./compare-versions.ts";
import { initialReflectorState, isPaged, reflectorStep } from "./reflector-state.ts";
import type { ReflectorInput, ReflectorState } from "./reflector-state.ts";

/** Inputs as short words, so that a table of them can be read. */
function inputOf(words: string, atMs: number): ReflectorInput {
  const [what = "", ...rest] = words.split(" ");
  const [first = "", second = ""] = rest;
  switch (what) {
    case "page":
      return { seen: "page", version: first, continueToken: second, atMs };
    case "added":
    case "modified":
    case "deleted":
    case "bookmark": {
      const type = what.toUpperCase() as "ADDED";
      const storedVersion = second.startsWith("stored=") ? second.slice(7) : undefined;
      return { seen: "event", type, version: first, endsInitial: second === "end", storedVersion, atMs };
    }
    case "end":
      return {
        seen: "watch end",
        failure: { kind: "ended" },
        events: Number(second),
        lastedMs: Number(first),
        atMs,
      };
    case "error":
      return {
        seen: "watch end",
        failure: { kind: rest.join(" ") as "other" },
        events: 1,
        lastedMs: 5000,
        atMs,
      };
    case "waited":
      return { seen: "pause over" };
    default:
      return { seen: "failure", failure: { kind: words as "other" }, atMs };
  }
}

/** The state as one line: place, what it knows, and whether a wait comes first. */
function lineOf({ place, pause, streams }: ReflectorState): string {
  const details = [
    `rv=${place.version || '""'}`,
    ...(place.at === "listing" ? [`continue=${place.continueToken}`, `list=${place.listVersion}`] : []),
    ...("whole" in place && place.whole ? ["whole"] : []),
    ...(place.at === "watching" && place.initial ? ["initial"] : []),
    ...(streams ? ["streams"] : []),
    ...(pause === undefined ? [] : [`pause=${pause.failures}`]),
  ];
  return `${place.at} ${details.join(" ")}`;
}

/** Each story: what happens, and after the arrow the effect (where there is one) and the state. */
const stories: Readonly<
  Record<string, { readonly streams?: boolean; readonly steps: readonly (readonly [string, string])[] }>
> = {
  "a list of one page, then a watch": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["added 11", "apply: watching rv=11"],
      ["bookmark 15", "watching rv=15"],
      ["deleted 16 stored=11", "apply: watching rv=16"],
      ["end 300000 3", "watching rv=16"],
    ],
  },
  "a paged list keeps the version of its first page": {
    steps: [
      ["page 10 t1", "collect: listing rv=0 continue=t1 list=10"],
      ["page 12 t2", "collect: listing rv=0 continue=t2 list=10"],
      ["page 12", "replace: watching rv=10"],
    ],
  },
  "a page that could not be had is asked for again": {
    steps: [
      ["page 10 t1", "collect: listing rv=0 continue=t1 list=10"],
      ["unreachable", "listing rv=0 continue=t1 list=10 pause=1"],
      ["waited", "listing rv=0 continue=t1 list=10"],
      ["busy", "listing rv=0 continue=t1 list=10 pause=2"],
    ],
  },
  "pages that outlive the history become one whole list, then the newest state": {
    steps: [
      ["page 10 t1", "collect: listing rv=0 continue=t1 list=10"],
      ["expired", "empty rv=0 whole"],
      ["expired", 'empty rv=""'],
      ["expired", 'empty rv="" pause=1'],
    ],
  },
  "a server that repeats one page for ever is asked for the whole": {
    steps: [
      ["page 10 t1", "collect: listing rv=0 continue=t1 list=10"],
      ["page 10 t1", "empty rv=0 whole pause=1"],
    ],
  },
  "an Expired watch lists at the last version first, then at the newest, at once": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["error expired", "empty rv=10"],
      ["expired", 'empty rv=""'],
      ["page 20", "replace: watching rv=20"],
    ],
  },
  "a second Expired soon after the first waits": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["error expired", "empty rv=10"],
      ["page 20", "replace: watching rv=20"],
      ["expired", "empty rv=20 pause=2"],
    ],
  },
  "an Expired after a watch that went well is the first again": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["error expired", "empty rv=10"],
      ["page 20", "replace: watching rv=20"],
      ["end 10000 1", "watching rv=20"],
      ["expired", "empty rv=20"],
    ],
  },
  "a server that is behind our version is asked for its newest": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["other", "empty rv=10 pause=1"],
      ["waited", "empty rv=10"],
      ["too large", 'empty rv=""'],
    ],
  },
  "refused connections and 429 cost time but not the place": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["unreachable", "watching rv=10 pause=1"],
      ["waited", "watching rv=10"],
      ["busy", "watching rv=10 pause=2"],
      ["waited", "watching rv=10"],
      ["error busy", "watching rv=10 pause=3"],
    ],
  },
  "a watch that breaks in its middle is resumed at once": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["modified 12", "apply: watching rv=12"],
      ["end 4000 1", "watching rv=12"],
    ],
  },
  "watches that end at once without an event lead to a list after a wait": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["end 10 0", "empty rv=10 pause=1"],
    ],
  },
  "watches that end at once with events are resumed, the second time after a wait": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["end 10 1", "watching rv=10"],
      ["end 10 1", "watching rv=10 pause=2"],
    ],
  },
  "any other error of a watch leads to a list after a wait": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["error other", "empty rv=10 pause=1"],
    ],
  },
  "a list that is refused at the last version is asked for at the newest": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["error other", "empty rv=10 pause=1"],
      ["waited", "empty rv=10"],
      ["refused", 'empty rv="" pause=2'],
    ],
  },
  "without a list version the initial ADDED block gives no place to resume from": {
    steps: [
      ["page ", 'replace: watching rv="" initial'],
      ["added 7", 'apply: watching rv="" initial'],
      ["added 3", 'apply: watching rv="" initial'],
      ["modified 9", "apply: watching rv=9"],
      ["added 10", "apply: watching rv=10"],
    ],
  },
  "an event that comes twice is dropped": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["added 11", "apply: watching rv=11"],
      ["added 11 stored=11", "watching rv=11"],
      ["modified 13 stored=11", "apply: watching rv=13"],
      ["added 11 stored=13", "watching rv=13"],
      ["deleted 14 stored=13", "apply: watching rv=14"],
      ["deleted 14", "watching rv=14"],
    ],
  },
  "an old event whose object the copy does not have is a reason to doubt everything": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["added 5", 'leave: empty rv=""'],
    ],
  },
  "a bookmark that goes back means another history, as after a restored backup": {
    steps: [
      ["page 10", "replace: watching rv=10"],
      ["bookmark 10", "watching rv=10"],
      ["bookmark 9", 'leave: empty rv=""'],
    ],
  },
  "versions that are no numbers are followed without that check": {
    steps: [
      ["page x", "replace: watching rv=x"],
      ["added b", "apply: watching rv=b"],
      ["added a", "apply: watching rv=a"],
      ["bookmark z", "watching rv=z"],
    ],
  },
  "a streamed initial state becomes the copy at its marked bookmark, on the same stream": {
    streams: true,
    steps: [
      ["added 7", 'collect: streaming rv="" streams'],
      ["bookmark 8", 'streaming rv="" streams'],
      ["added 3", 'collect: streaming rv="" streams'],
      ["bookmark 12 end", "replace: watching rv=12 streams"],
      ["modified 13", "apply: watching rv=13 streams"],
    ],
  },
  "a server that refuses the stream is listed, now and later": {
    streams: true,
    steps: [
      ["refused", "empty rv=0"],
      ["page 10", "replace: watching rv=10"],
      ["error expired", "empty rv=10"],
    ],
  },
  "a stream that ends, or stays silent, before its marked bookmark is not tried again": {
    streams: true,
    steps: [
      ["added 7", 'collect: streaming rv="" streams'],
      ["end 10000 1", "empty rv=0"],
    ],
  },
  "a stream that fails otherwise is tried again at the next relist": {
    streams: true,
    steps: [
      ["unreachable", 'streaming rv="" streams pause=1'],
      ["waited", 'streaming rv="" streams'],
      ["other", "empty rv=0 streams"],
      ["page 10", "replace: watching rv=10 streams"],
      ["error expired", "streaming rv=10 streams pause=2"],
      ["waited", "streaming rv=10 streams"],
      ["error too large", "empty rv=10 streams"],
    ],
  },
};

for (const [name, { streams = false, steps }] of Object.entries(stories)) {
  test(name, () => {
    let state = initialReflectorState({ streams });
    assert.equal(lineOf(state), streams ? 'streaming rv="" streams' : "empty rv=0");
    steps.forEach(([words, expected], index) => {
      const step = reflectorStep(state, inputOf(words, 1000 * index));
      state = step.state;
      const effect = step.effect === "none" ? "" : `${step.effect}: `;
      assert.equal(effect + lineOf(state), expected, words);
    });
  });
}

test("only lists of any or the newest version are paged", () => {
  const paged = ["", "0", "10"].map((version) => isPaged({ version, whole: false }));
  assert.deepEqual(paged, [true, true, false]);
  assert.equal(isPaged({ version: "", whole: true }), false);
});

test("a failure two minutes after the last one counts as the first", () => {
  let state = initialReflectorState({ streams: false });
  const fail = (atMs: number): number | undefined => {
    ({ state } = reflectorStep(state, inputOf("unreachable", atMs)));
    return state.pause?.failures;
  };
  assert.deepEqual([1000, 2000, 3000, 123_000, 243_001].map(fail), [1, 2, 3, 4, 1]);
});

test("what the server asks for is waited for at least", () => {
  const failure = { kind: "busy", retryAfterMs: 7000 } as const;
  const { state } = reflectorStep(initialReflectorState({ streams: false }), {
    seen: "failure",
    failure,
    atMs: 0,
  });
  assert.deepEqual(state.pause, { failures: 1, atLeastMs: 7000 });
});

test("the wait doubles from 0.8 s and is never longer than 30 s", () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 99].map((failures) => backoffMs(failures, 0)),
    [800, 1600, 3200, 6400, 12_800, 15_000, 15_000],
  );
  assert.equal(backoffMs(1, 0.5), 1200);
  assert.ok(backoffMs(1000, 0.999) < 30_000);
});

test("versions compare as decimals of any length, and only then", () => {
  const pairs = [
    ["9", "10"],
    ["10", "9"],
    ["7", "7"],
    ["18446744073709551616", "18446744073709551617"],
    ["a", "1"],
    ["01", "1"],
    ["", "1"],
  ] as const;
  const signs = pairs.map(([a, b]) => {
    const order = compareVersions(a, b);
    return order === undefined ? undefined : Math.sign(order);
  });
  assert.deepEqual(signs, [-1, 1, 0, -1, undefined, undefined, undefined]);
});
