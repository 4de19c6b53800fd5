import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { mmsgAvailability, nodeRuntime } from "@meridian/runtime/node";
import { AnswerSigner } from "../dnssec/answer-signer.ts";
import { dnskeyOf, keyTagOf } from "../dnssec/signing-key.ts";
import { ZoneKeys } from "../dnssec/zone-keys.ts";
import { parseMessage, type Message } from "../message/message.ts";
import { Authority } from "../server/authority.ts";
import { caseZoneText, loadZone, question } from "../testdata/case-zone.ts";
import { testKey, testKeys } from "../testdata/signed-zone.ts";
import { UdpWorkers } from "./udp-workers.ts";

const availability = mmsgAvailability();
const skip = availability.available ? false : availability.reason;
const address = "127.0.0.1";
const edns = { payloadSize: 1232, version: 0, dnssecOk: true, options: [] };

/** An answer; from a new port each time, so that it comes from any thread. */
async function ask(to: Endpoint, name: string): Promise<Message> {
  for (let tries = 1; ; tries++) {
    const socket = createSocket("udp4");
    const octets = await new Promise<Buffer | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), 2_000);
      socket.on("message", (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      socket.send(question(name, "A", { edns }), to.port, to.address);
    });
    socket.close();
    if (octets !== undefined) return parseMessage(octets);
    assert.ok(tries < 3, "no answer");
  }
}

test("threads sign what they answer, with the keys that they were last told", { skip }, async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-signing-"));
  context.after(() => rm(folder, { recursive: true }));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  const authority = new Authority(runtime);
  const zone = loadZone(caseZoneText);
  authority.setZone(zone);
  const workers = new UdpWorkers(runtime, { authority, threads: 2 });
  using zoneKeys = new ZoneKeys(
    zone,
    { keys: testKeys },
    {
      ...runtime,
      answers: new AnswerSigner({ clock: runtime.clock }),
      onSigning: (signing) => workers.sign(signing),
    },
  );
  await using server = await workers.serveUdp({ address, port: 0, answer: authority.answer });
  const signerOf = async (): Promise<number> => {
    const { answers } = await ask(server.local, "www.p.test");
    return Number(answers.find(({ type }) => type === "RRSIG")?.data.split(" ")[6]);
  };
  const [ksk, zsk] = testKeys.own;
  for (let index = 0; index < 24; index++) assert.equal(await signerOf(), keyTagOf(dnskeyOf(zsk!)));
  for (let index = 0; index < 24; index++) {
    const { rcode, authority: denial } = await ask(server.local, `n${index}.p.test`);
    assert.equal(rcode, 0);
    assert.match(denial.map(({ type, data }) => `${type} ${data}`).join(), /NSEC .* RRSIG NSEC NXNAME/);
  }
  const fresh = testKey(5, false);
  zoneKeys.set({ own: [ksk!, fresh], foreign: [] });
  let inRow = 0;
  for (let tries = 0; inRow < 24; tries++) {
    const tag = await signerOf();
    assert.ok(tag === keyTagOf(dnskeyOf(zsk!)) || tag === keyTagOf(dnskeyOf(fresh)), `${tag}`);
    inRow = tag === keyTagOf(dnskeyOf(fresh)) ? inRow + 1 : 0;
    assert.ok(tries < 500, "the threads go on signing with the old key");
  }
});
