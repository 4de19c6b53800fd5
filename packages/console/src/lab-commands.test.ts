import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLabCommand } from "./lab-commands.ts";

const taken: readonly unknown[] = [
  { do: "create" },
  { do: "create", name: "web-7" },
  { do: "change", name: "web-1" },
  { do: "delete", name: "web-1" },
  { do: "cut", copy: "copy-1" },
  { do: "cut", copy: "copy-1", how: "silence" },
  { do: "connect", copy: "copy-1" },
  { do: "compact" },
  { do: "compact", keep: 0 },
  { do: "setHistory", records: 1 },
  { do: "addCopy" },
  { do: "removeCopy", copy: "copy-1" },
  { do: "readCopy", copy: "copy-1", times: 100 },
  { do: "staleWrite", copy: "copy-1", name: "web-1" },
  { do: "loseEvent", copy: "copy-1", silently: true },
  { do: "doubleEvent", copy: "copy-1" },
  { do: "delayEvent", copy: "copy-1", ms: 30_000 },
  { do: "startController", copy: "copy-1", desired: 0 },
  { do: "stopController" },
  { do: "reset" },
];
for (const command of taken) {
  test(`${JSON.stringify(command)} is a command`, () => {
    assert.deepEqual(parseLabCommand(command), { command });
  });
}

const refused: readonly (readonly [value: unknown, about: string])[] = [
  [undefined, "do"],
  [null, "do"],
  ["create", "do"],
  [[{ do: "create" }], "do"],
  [{}, "do"],
  [{ do: "constructor" }, "do"],
  [{ do: "__proto__" }, "do"],
  [{ do: "explode" }, "do"],
  [{ do: "change" }, "name"],
  [{ do: "change", name: "Web" }, "name"],
  [{ do: "change", name: "../x" }, "name"],
  [{ do: "change", name: "a".repeat(41) }, "name"],
  [{ do: "change", name: 1 }, "name"],
  [{ do: "create", nmae: "web-1" }, "nmae"],
  [{ do: "cut", copy: "copy-1", how: "gently" }, "how"],
  [{ do: "cut" }, "copy"],
  [{ do: "compact", keep: -1 }, "keep"],
  [{ do: "compact", keep: 1.5 }, "keep"],
  [{ do: "setHistory", records: 0 }, "records"],
  [{ do: "setHistory", records: 51 }, "records"],
  [{ do: "setHistory", records: "4" }, "records"],
  [{ do: "readCopy", copy: "copy-1", times: 10_001 }, "times"],
  [{ do: "delayEvent", copy: "copy-1", ms: 0 }, "ms"],
  [{ do: "startController", copy: "copy-1", desired: 11 }, "desired"],
  [{ do: "loseEvent", copy: "copy-1", silently: "yes" }, "silently"],
];
for (const [value, about] of refused) {
  test(`${JSON.stringify(value)} is refused for its ${about}`, () => {
    assert.deepEqual(parseLabCommand(value), { refusal: { code: "BadCommand", about } });
  });
}
