import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { format, resolveConfig } from "prettier";
import { matrixDocument, matrixPath } from "./matrix/matrix-text.ts";

test("what is answered under every cut is what docs/partition-matrix.md says", async () => {
  const options = { ...(await resolveConfig(matrixPath)), parser: "markdown" };
  assert.equal(await format(await matrixDocument(), options), await readFile(matrixPath, "utf8"));
});
