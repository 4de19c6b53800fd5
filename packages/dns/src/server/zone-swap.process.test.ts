import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import { Worker } from "node:worker_threads";
import { steadyRandom, stillClock } from "../testdata/case-zone.ts";
import type { SwapReaderReport, SwapReaderStart } from "../testdata/swap-reader.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { Zone } from "../zone/zone.ts";
import { Authority } from "./authority.ts";

const generations = 20_000;

/** The alias, its target and what the former target had, as one batch. */
function generation(number: number): Map<string, RecordSet[]> {
  const target = `t${number}.z`;
  const address = `10.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
  return new Map<string, RecordSet[]>([
    ["alias.z", [{ name: "alias.z", type: "CNAME", ttl: 5, data: [`${target}.`] }]],
    [target, [{ name: target, type: "A", ttl: 5, data: [address], policy: { kind: "rotate" } }]],
    [`t${number - 1}.z`, []],
  ]);
}

test("a thread that answers while another changes the zone never mixes two contents", async () => {
  const zone = new Zone({
    origin: "z",
    soa: { mname: "m", rname: "r", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1, ttl: 1 },
    nameServers: ["ns.elsewhere"],
    nameServerTtl: 1,
  });
  zone.replace(generation(1));
  const authority = new Authority({ random: steadyRandom, clock: stillClock, rateLimit: false });
  authority.setZone(zone);
  const stop = new SharedArrayBuffer(4);
  const worker = new Worker(new URL("../testdata/swap-reader.js", import.meta.url), {
    workerData: { shared: authority.share(), stop } satisfies SwapReaderStart,
  });
  try {
    await once(worker, "message");
    for (let number = 2; number <= generations; number++) {
      zone.replace(generation(number));
      // Names come in bursts, too, so that memory and table grow under the reader.
      if (number % 1_000 === 0) {
        const names = Array.from({ length: 300 }, (_, index) => `n${index}.g${number}.z`);
        zone.replace(
          new Map(names.map((name) => [name, [{ name, type: "A", ttl: 5, data: ["192.0.2.1"] }]])),
        );
      }
      if (number % 100 === 0) await new Promise(setImmediate);
    }
    const reported = once(worker, "message");
    Atomics.store(new Int32Array(stop), 0, 1);
    const [report] = (await reported) as [SwapReaderReport];
    assert.deepEqual(report.torn, []);
    assert.equal(report.faults, 0);
    assert.ok(report.answers > 100, `${report.answers} answers`);
    assert.ok(report.generations > 10, `${report.generations} generations`);
    assert.equal(zone.nameCount, 3 + 20 * 301);
  } finally {
    await worker.terminate();
  }
});
