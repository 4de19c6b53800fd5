import assert from "node:assert/strict";
import { test } from "node:test";
import { AskedHosts } from "./asked-hosts.ts";

test("a host that another Gslb takes over is asked for on, and one that nobody has any more is not", () => {
  const asked = new Map<string, number>();
  const hosts = new AskedHosts({
    addHost: (host, threshold) => void asked.set(host, threshold),
    removeHost: (host) => void asked.delete(host),
  });
  hosts.set("demo/old", new Set(["a", "b", "c"]), 10);
  hosts.set("demo/new", new Set(["a"]), 20);
  hosts.set("demo/old", new Set(["b"]), 10);
  assert.deepEqual(
    [...asked],
    [
      ["a", 20],
      ["b", 10],
    ],
  );
  hosts.remove("demo/old");
  assert.deepEqual([...asked], [["a", 20]]);
  hosts.remove("demo/new");
  assert.equal(asked.size, 0);
});
