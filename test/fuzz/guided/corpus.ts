import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { root } from "./fuzzer.ts";

const folder = path.join(root, "test/fuzz/corpus");

/** The inputs kept for a target: one file in base64, a line each. */
export async function keptInputs(target: string): Promise<readonly Uint8Array[]> {
  const text = await readFile(path.join(folder, `${target}.txt`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Buffer.from(line, "base64"));
}

/** Keeps these inputs, and none of those before. */
export async function keepInputs(target: string, inputs: readonly Uint8Array[]): Promise<void> {
  const lines = inputs.map((input) => Buffer.from(input).toString("base64")).toSorted();
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, `${target}.txt`), lines.map((line) => `${line}\n`).join(""));
}

/** Writes inputs as files, as the fuzzer wants them. */
export async function writeInputs(to: string, inputs: readonly Uint8Array[]): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const input of inputs) {
    await writeFile(path.join(to, createHash("sha1").update(input).digest("hex")), input);
  }
}
