import assert from "node:assert/strict";
import {
  Authority,
  createRequestPipeline,
  parseMessage,
  TransferPolicy,
  TransferServer,
  TsigKeyring,
  UpdateServer,
  type Zone,
} from "@meridian/dns";
import { deferred, ReusedClient } from "@meridian/runtime";
import { fuzzRuntime, fuzzZone, MemoryDisk } from "./fuzz-world.ts";
import { fuzzKey, signRequest } from "./request-signing.ts";

const zoneText = `$TTL 60
@ SOA ns1 host 7 7200 1800 86400 30
@ NS ns1
@ NS ns2.example.
ns1 A 192.0.2.53
www A 192.0.2.1
www A 192.0.2.2
*.wild TXT "wild"
alias CNAME www
sub NS ns.sub
ns.sub A 192.0.2.54
dn DNAME www
`;
const disk = new MemoryDisk();
const runtime = fuzzRuntime({ disk });
const authority = new Authority({ ...runtime, rateLimit: false });
const policy = new TransferPolicy([{ zone: ".", allow: [{ key: "k" }, { clients: "192.0.2.0/24" }] }]);
const transfers = new TransferServer({ clock: runtime.clock, zones: authority, policy });
const rules = [{ key: "k", match: "subdomain", types: ["ANY"] }] as const;
const output = new Uint8Array(65_535);
const answersMax = 16;

/**
 * The first octet chooses the transport, whether the request is signed, and whence it comes; the rest is the request. What
 * comes back is bounded and well-formed, the zone stays whole, and the journal brings its content again.
 */
export async function fuzz(given: Uint8Array): Promise<void> {
  const how = given[0] ?? 0;
  const plain = Uint8Array.from(given.subarray(1));
  if (plain.length < 12) return;
  const isSigned = (how & 2) !== 0;
  const message = isSigned ? signRequest(plain, Math.floor(runtime.clock.now() / 1000)) : plain;
  const transport = (how & 1) === 0 ? "udp" : "tcp";
  const address = (how & 4) === 0 ? "192.0.2.200" : "198.51.100.1";

  disk.files.clear();
  const zone = fuzzZone(zoneText);
  authority.setZone(zone);
  await using updates = await UpdateServer.open(runtime, {
    authority,
    zones: [{ zone, journal: "j", rules }],
  });
  authority.requests = createRequestPipeline({
    ...{ clock: runtime.clock, log: runtime.log, keyring: new TsigKeyring([fuzzKey]), authority },
    ...{ update: updates.handle, transfer: transfers.answer },
  });

  const client = new ReusedClient(transport, { address, port: 4_000 });
  const length = authority.answer(message, 0, message.length, client, output);
  if (length !== deferred) return;
  const request = { message, client, signal: new AbortController().signal };
  let answers = 0;
  for await (const answer of authority.requests.handle(request)) {
    assert.ok(++answers <= (transport === "udp" ? 1 : answersMax), `${answers} answers`);
    assert.ok(transport === "tcp" || answer.length <= 1_232, `${answer.length} octets over UDP`);
    const reply = parseMessage(answer);
    assert.ok(reply.response);
    assert.equal(reply.id, (message[0]! << 8) | message[1]!);
    assert.notEqual(reply.rcode, 2);
  }
  assert.ok(answers > 0, "silence for a request");
  if (zone.serial === 7) return;
  assert.ok(isSigned, "an unsigned request changed the zone");
  await assertSameAfterRestart(zone);
}

async function assertSameAfterRestart(zone: Zone): Promise<void> {
  const again = fuzzZone(zoneText);
  await using _server = await UpdateServer.open(runtime, {
    authority,
    zones: [{ zone: again, journal: "j", rules }],
  });
  assert.deepEqual(contentOf(again), contentOf(zone));
}

function contentOf(zone: Zone): unknown {
  return [zone.soa, [...zone.recordSets()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))];
}

const keyOf = ({ name, type }: { readonly name: string; readonly type: string }): string => `${name} ${type}`;
