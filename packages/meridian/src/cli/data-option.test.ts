import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import type { Invocation } from "./command.ts";
import { dataFolder } from "./data-option.ts";

const asked = (...data: readonly string[]): Invocation => ({
  text: new Map([["data", data]]),
  switches: new Set(),
  positionals: [],
});

test("the data folder is absolute, and .meridian where none is named", () => {
  assert.equal(dataFolder(asked()), resolve(".meridian"));
  assert.equal(dataFolder(asked("some/where")), resolve("some/where"));
});

test("an empty name is a mistake, not the working directory", () => {
  for (const empty of ["", " "])
    assert.throws(() => dataFolder(asked(empty)), { code: "Usage", message: /--data is empty/ });
});
