import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { fakeSystem } from "../testdata/fake-system.ts";
import type { FakeSystem } from "../testdata/fake-system.ts";
import { json, scriptedWorld } from "../testdata/scripted-http.ts";
import type { ScriptedWorld } from "../testdata/scripted-http.ts";
import { KubeClient } from "./kube-client.ts";
import { TokenFile } from "./token-file.ts";

const path = "/var/run/secrets/token";
const status = (code: number, reason: string): object => ({
  kind: "Status",
  status: "Failure",
  reason,
  code,
});

interface World extends ScriptedWorld {
  readonly system: FakeSystem;
  /** Tokens that the server takes. */
  readonly good: Set<string>;
  readonly get: () => Promise<unknown>;
  /** The tokens of the requests so far. */
  readonly sent: () => readonly (string | undefined)[];
}

function world(token: string): World {
  const system = fakeSystem({ files: { [path]: token } });
  const good = new Set([token.trim()]);
  const tokenOf = (header: unknown): string => String(header).replace(/^Bearer /, "");
  const scripted = scriptedWorld(({ headers }) =>
    good.has(tokenOf(headers?.["authorization"]))
      ? json({ metadata: { name: "a" } })
      : json(status(401, "Unauthorized"), 401),
  );
  const client = new KubeClient(scripted.runtime, {
    origin: "https://10.0.0.2:6443",
    credentials: new TokenFile(scripted.runtime.clock, system, path),
  });
  return {
    ...scripted,
    system,
    good,
    get: () => scripted.simulation.complete(client.get(configMapType, { namespace: "n", name: "a" })),
    sent: () => scripted.requests.map(({ headers }) => tokenOf(headers?.["authorization"])),
  };
}

test("a token file is read at most once a minute while its token is good (kubernetes-client/javascript#1240)", async () => {
  const { system, simulation, get, sent } = world("one\n");
  for (let second = 0; second < 120; second++) {
    await get();
    await simulation.run({ untilMs: simulation.nowMs + 1000 });
  }
  assert.equal(system.reads.get(path), 2);
  assert.equal(new Set(sent()).size, 1);
});

test("a token that was replaced is sent a minute later at the latest, and no request fails (kubernetes-client/javascript#1240)", async () => {
  const { system, simulation, good, get, sent } = world("one");
  await get();
  system.files.set(path, "two");
  good.add("two");
  for (let second = 0; second < 70; second++) {
    await get();
    await simulation.run({ untilMs: simulation.nowMs + 1000 });
  }
  assert.equal(sent()[59], "one");
  assert.equal(sent().at(-1), "two");
  assert.deepEqual([...new Set(sent())], ["one", "two"]);
});

test("a 401 has the file read at once, and the request sent again with the new token", async () => {
  const { system, good, get, sent } = world("one");
  await get();
  system.files.set(path, "two");
  good.clear();
  good.add("two");
  await get();
  assert.deepEqual(sent(), ["one", "one", "two"]);
});

test("a 401 with nothing new to send is the caller's, after one request", async () => {
  const { good, get, sent } = world("one");
  good.clear();
  await assert.rejects(get(), { name: "ApiError", code: 401, reason: "Unauthorized" });
  assert.deepEqual(sent(), ["one"]);
});

test("an empty, missing or half-written file is never sent: the last good token is", async () => {
  const { system, simulation, good, get, sent } = world("one.two.three");
  await get();
  for (const content of ["", "  \n", undefined]) {
    if (content === undefined) system.files.delete(path);
    else system.files.set(path, content);
    await simulation.run({ untilMs: simulation.nowMs + 61_000 });
    await get();
  }
  // A writer that is not done when the file is looked at.
  system.files.set(path, "four.fi");
  await simulation.run({ untilMs: simulation.nowMs + 61_000 });
  good.add("four.five.six");
  simulation.schedule(simulation.nowMs + 10, () => system.files.set(path, "four.five.six"));
  await get();
  assert.deepEqual([...new Set(sent())], ["one.two.three", "four.five.six"]);
});

test("requests go on with the token that is known while the file is read again (kube-rs/kube#829)", async () => {
  const { system, simulation, runtime, get } = world("one");
  await get();
  await simulation.run({ untilMs: 61_000 });
  let letGo = (): void => {};
  const hanging = new Promise<void>((resolve) => (letGo = resolve));
  const slow = { ...system, readFile: (file: string) => hanging.then(() => system.readFile(file)) };
  const source = new TokenFile(runtime.clock, slow, path);
  const first = source.current();
  letGo();
  await first;
  // From here on every look at the file hangs.
  const stuck = { ...slow, readFile: () => new Promise<Uint8Array>(() => {}) };
  Object.assign(slow, stuck);
  await simulation.run({ untilMs: 130_000 });
  void source.current();
  for (let count = 0; count < 100; count++) {
    assert.equal((await source.current()).authorization, "Bearer one");
  }
});

test("a Pod without a token says where it should be", async () => {
  const { system, simulation, runtime } = world("one");
  const source = new TokenFile(runtime.clock, system, "/nowhere");
  await assert.rejects(simulation.complete(source.current()), {
    code: "CredentialUnavailable",
    message: "cannot read a token from /nowhere; see that the file is there and not empty",
  });
  const client = new KubeClient(runtime, { origin: "https://10.0.0.2:6443", credentials: source });
  await assert.rejects(simulation.complete(client.get(configMapType, { namespace: "n", name: "a" })), {
    name: "ApiError",
    reason: "CredentialUnavailable",
    code: 0,
  });
});
