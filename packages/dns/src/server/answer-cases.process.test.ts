/*
 * The cases and the reports once more, as raw packets to `meridian dns` in a process of its own, by each way that it
 * answers datagrams.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { assertSound } from "../testdata/assert-sound.ts";
import { caseZoneText, concat, describe, hex, plainEdns, question } from "../testdata/case-zone.ts";
import { datapaths, exchangeDatagram, startDnsCommand, type DnsCommand } from "../testdata/dns-command.ts";
import { packetReports, reportApex, zoneReports } from "../testdata/field-reports.ts";
import { ruleCases } from "../testdata/rule-cases.ts";
import { sixtyCases, tcpCases } from "../testdata/sixty-cases.ts";

const runtime = nodeRuntime({ dataFolder: tmpdir(), log: silentLogger });
const probe = question("www.p.test", "AAAA", { id: 1 });
const servers = new Map<string, DnsCommand>();
let folder: string;

/** The zones of the reports have one name; one server needs a name for each. */
function renamed(text: string, index: number): string {
  return text.replaceAll(/\bp\b/g, `p${index}`);
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-cases-"));
  const texts = [caseZoneText, ...zoneReports.map(({ zone }, index) => renamed(reportApex + zone, index))];
  const args: string[] = [];
  for (const [index, text] of texts.entries()) {
    const file = path.join(folder, `zone-${index}`);
    await writeFile(file, text);
    args.push("--zone-file", file);
  }
  for (const { datapath, skip } of datapaths)
    if (skip === false) servers.set(datapath, await startDnsCommand([...args, "--datapath", datapath]));
});

after(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

for (const { datapath, skip } of datapaths) {
  const ask = (message: Uint8Array, more: { probe?: Uint8Array } = {}): Promise<Uint8Array | undefined> =>
    exchangeDatagram(runtime, { to: servers.get(datapath)!.local, message, ...more });

  for (const [name, message, expected] of [...sixtyCases, ...packetReports, ...ruleCases]) {
    test(`${datapath}: ${name}`, { skip }, async () => {
      const reply = await ask(message, expected === "silence" ? { probe } : {});
      assert.equal(describe(reply, "sorted"), expected);
      if (reply !== undefined) assertSound(message, reply);
    });
  }

  test(`${datapath}: 19 NOTIFY of a stranger for a zone from a file`, { skip }, async () => {
    const notify = question("p.test", "SOA", { opcode: 4 });
    assert.equal(describe(await ask(notify)), "REFUSED");
  });

  test(`${datapath}: 20 UPDATE of a stranger, with a cookie`, { skip }, async () => {
    const options = [{ code: 10, octets: hex("0102030405060708") }];
    const update = question("p.test", "SOA", { opcode: 5, edns: { ...plainEdns, options } });
    assert.equal(describe(await ask(update)), "REFUSED opt 10=0102030405060708+16");
  });

  for (const [index, report] of zoneReports.entries()) {
    test(`${datapath}: ${report.id}`, { skip }, async () => {
      const [name, ...rest] = report.ask;
      const asked = question(renamed(name, index), ...rest);
      const reply = await ask(asked);
      assert.equal(describe(reply, "sorted"), renamed(report.expect, index));
      assertSound(asked, reply!);
    });
  }
}

/** What comes back for octets over TCP until the server ends the connection, which `end` asks it to. */
async function askTcp(
  pieces: readonly Uint8Array[],
  { end }: { readonly end: boolean },
): Promise<Uint8Array[]> {
  const connection = await runtime.network.connectTcp({ to: servers.get("dgram")!.local });
  const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
  const messages: Uint8Array[] = [];
  for (const piece of pieces) await connection.write(piece);
  if (end) await connection.end();
  for await (const chunk of connection.received)
    for (const frame of frames.read(chunk)) {
      assert.ok(typeof frame !== "string", "a malformed frame");
      messages.push(frame.slice());
    }
  return messages;
}

for (const [name, message, expected] of tcpCases) {
  test(`tcp: ${name}`, async () => {
    const [reply, ...more] = await askTcp([toFrame(message)], { end: true });
    assert.equal(more.length, 0);
    assert.equal(describe(reply, "sorted"), expected);
    assertSound(message, reply!, "tcp");
  });
}

test("tcp: three questions in one segment have three answers, and the client's FIN is followed by ours", async () => {
  const asked = [1, 2, 3].map((id) => question("www.p.test", "A", { id }));
  const replies = await askTcp([concat(...asked.map(toFrame))], { end: true });
  assert.deepEqual(
    replies.map((reply) => reply[1]),
    [1, 2, 3],
  );
});

test("tcp: one octet at a time is answered", async () => {
  const pieces = Array.from(toFrame(question("www.p.test", "A")), (octet) => Uint8Array.of(octet));
  assert.equal((await askTcp(pieces, { end: true })).length, 1);
});

for (const [name, octets] of [
  ["zero octets", hex("0000")],
  ["five octets", hex("0005 0102030405")],
  ["an answer", toFrame(question("www.p.test", "A", { response: true }))],
] as const) {
  test(`tcp: a frame of ${name} resets the connection`, { timeout: 30_000 }, async () => {
    await assert.rejects(askTcp([octets], { end: false }), { code: "Broken" });
  });
}
