import assert from "node:assert/strict";
import { test } from "node:test";
import { Simulation } from "@meridian/runtime/sim";
import { UpdateKeys } from "./update-keys.ts";

const keyText = 'key "eu-key" { algorithm hmac-sha256; secret "AAECAwQFBgcICQoLDA0ODw=="; };';

/** Keys in a file that takes 50 ms to be read; `text` is what stands in it. */
function openKeys(file: { readonly text: string; readonly stamp: string }): {
  readonly keys: UpdateKeys;
  readonly sim: Simulation;
  readonly logged: () => string;
} {
  const sim = new Simulation({ seed: 1 });
  const { runtime } = sim.node({ name: "eu", addresses: ["10.0.0.1"] });
  const lines: string[] = [];
  const note = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const log = { ...runtime.log, error: note, warn: note };
  const config = { keyFile: "/keys", keyNames: new Map<string, string>(), unsigned: false };
  const openFile = (path: string) => ({
    path,
    stamp: async () => file.stamp,
    async read() {
      const { text } = file;
      await runtime.clock.sleep(50, new AbortController().signal);
      return new TextEncoder().encode(text);
    },
  });
  return { keys: new UpdateKeys({ log }, { config, openFile }), sim, logged: () => lines.join("\n") };
}

test("zones that ask for a key while the file is first read all get it", async () => {
  const { keys, sim } = openKeys({ text: keyText, stamp: "1" });
  const zones = ["example.com", "example.net", "example.org"];
  const found = await sim.complete(Promise.all(zones.map((zone) => keys.keyFor(zone))));
  assert.deepEqual(
    found.map((key) => key?.name),
    ["eu-key", "eu-key", "eu-key"],
  );
});

test("what is logged of a file that is no key file has nothing of its text", async () => {
  const { keys, sim, logged } = openKeys({ text: "key eu-key { secret TellNobody", stamp: "1" });
  await assert.rejects(
    sim.complete(keys.keyFor("example.com")),
    /there is no key for parent zone example.com; put one into a Secret .* or \/keys/,
  );
  assert.match(logged(), /cannot be used.*as tsig-keygen writes them/);
  assert.doesNotMatch(logged(), /TellNobody/);
});
