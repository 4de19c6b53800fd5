import assert from "node:assert/strict";
import { test } from "node:test";
import { isNewerSerial, Zone } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import { KeptSerial } from "./kept-serial.ts";

const path = "keys/example.org.serial";

function readFile(serial: number): Zone {
  return new Zone({
    origin: "example.org",
    soa: {
      ...{ mname: "ns.example.org", rname: "hostmaster.example.org", serial },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 30, ttl: 30 },
    },
    nameServers: ["ns.example.org"],
    nameServerTtl: 300,
  });
}

for (const serial of [5, 0xffff_fff8]) {
  test(`steps that the file of serial ${serial} knows nothing of are not forgotten by a restart`, async () => {
    const simulation = new Simulation({ seed: 1 });
    const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
    const zone = readFile(serial);
    const kept = await simulation.complete(KeptSerial.open(runtime, { zone, path }));
    for (let step = 0; step < 25; step++) zone.setNameServers([`ns${step}.example.org`]);
    await simulation.complete(kept[Symbol.asyncDispose]());

    const again = readFile(serial);
    const reopened = await simulation.complete(KeptSerial.open(runtime, { zone: again, path }));
    assert.ok(isNewerSerial(again.serial, zone.serial), `${again.serial} follows ${zone.serial}`);
    await simulation.complete(reopened[Symbol.asyncDispose]());

    const edited = readFile((again.serial + 1000) >>> 0);
    await simulation.complete(KeptSerial.open(runtime, { zone: edited, path }));
    assert.equal(edited.serial, (again.serial + 1000) >>> 0);
  });
}

test("what is stored can be damaged, and the zone is served nevertheless", async () => {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "a", addresses: ["10.0.0.1"] });
  await simulation.complete(runtime.disk.replace(path, new TextEncoder().encode("99999999999")));
  const zone = readFile(5);
  await simulation.complete(KeptSerial.open(runtime, { zone, path }));
  assert.equal(zone.serial, 5);
});
