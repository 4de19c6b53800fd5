import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerSigner, generateKey, Zone, type SigningKey } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import { SignedZones } from "./signed-zones.ts";

const origin = "cloud.example.com";

function open(): {
  signed: SignedZones;
  zone: Zone;
  keys: ReadonlyMap<string, readonly SigningKey[]>;
  told: string[];
} {
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] });
  const told: string[] = [];
  const signed = new SignedZones(runtime, {
    answers: new AnswerSigner({ clock: runtime.clock }),
    memory: { restore: (_zone, own) => ({ own, foreign: [] }) },
    onSigning: (of, signing) =>
      void told.push(`${of} ${signing === undefined ? "off" : signing.keys.own.length}`),
  });
  const zone = new Zone({
    origin,
    soa: {
      ...{ mname: "ns.example.com", rname: "hostmaster.example.com", serial: 1 },
      ...{ refresh: 7200, retry: 1800, expire: 86_400, minimum: 30, ttl: 30 },
    },
    nameServers: ["ns.example.com"],
    nameServerTtl: 300,
  });
  const key = generateKey(runtime.random, { secureEntryPoint: true, times: { publish: 0, activate: 0 } });
  return { signed, zone, keys: new Map([[origin, [key]]]), told };
}

test("a zone is signed whether it or its keys came first, and no longer without either", () => {
  const { signed, zone, keys, told } = open();
  signed.addZone(zone);
  assert.equal(zone.signing, undefined);
  signed.setKeys(keys);
  assert.notEqual(zone.signing, undefined);
  signed.setKeys(new Map());
  assert.equal(zone.signing, undefined);
  signed.setKeys(keys);
  signed.removeZone(origin);
  assert.equal(zone.signing, undefined);
  signed.addZone(zone);
  assert.notEqual(zone.signing, undefined);
  signed.close();
  assert.equal(zone.signing, undefined);
  assert.deepEqual(
    told,
    ["1", "off", "1", "off", "1", "off"].map((what) => `${origin} ${what}`),
  );
});

test("keys of other zones sign nothing", () => {
  const { signed, zone, keys } = open();
  signed.setKeys(new Map([["example.org", keys.get(origin)!]]));
  signed.addZone(zone);
  assert.equal(zone.signing, undefined);
});
