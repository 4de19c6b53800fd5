import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { ChildServer, meridianCommand } from "./child-server.ts";

const owners = 300_000;
const ownersPerRecord = 1_000;

/** A journal record as it stands in the file: mark, length, start of a SHA-256, payload. */
function record(value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  const checksum = createHash("sha256").update(payload).digest().subarray(0, 8);
  return Buffer.concat([Buffer.from("MUJ1"), length, checksum, payload]);
}

function hugeJournal(): Buffer {
  const records = [record({ format: "meridian update journal 1", origin: "u.test", baseSerial: 1 })];
  for (let at = 0; at < owners; at += ownersPerRecord) {
    const some = Array.from({ length: ownersPerRecord }, (_, index) => {
      const name = `n${at + index}.u.test`;
      return [name, [{ name, type: "A", ttl: 60, data: ["192.0.2.1", "192.0.2.2"] }]];
    });
    records.push(record({ serial: 2 + at, owners: some }));
  }
  return Buffer.concat(records);
}

test("SIGTERM ends a start that is at a huge journal, which stays as it is", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "meridian-journal-replay-"));
  try {
    const journal = hugeJournal();
    await writeFile(path.join(folder, "u.updates"), journal);
    await writeFile(
      path.join(folder, "u.zone"),
      "$ORIGIN u.test.\n$TTL 60\n@ SOA ns host 1 60 60 60 60\n@ NS ns\n",
    );
    const config = path.join(folder, "dns.yaml");
    const zone = { file: "u.zone", journal: "u.updates", updates: [{ key: "k" }] };
    const secret = "MTExMTExMTExMTExMTExMTExMTE=";
    await writeFile(
      config,
      JSON.stringify({ listen: ["127.0.0.1:0"], keys: [{ name: "k", secret }], zones: [zone] }),
    );
    await using server = await ChildServer.start(
      [...meridianCommand, "dns", "--config", config],
      /an update journal is being put on top of its zone/,
    );
    server.signal("SIGTERM");
    await assert.rejects(server.until(/Serving/), /it ended/);
    assert.equal(server.exitCode, 0);
    assert.deepEqual(await readFile(path.join(folder, "u.updates")), journal);
  } finally {
    await rm(folder, { recursive: true });
  }
});
