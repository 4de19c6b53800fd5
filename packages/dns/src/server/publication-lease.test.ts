import assert from "node:assert/strict";
import test from "node:test";
import { parseMessage } from "../message/message.ts";
import { authorityOf, exchange, plainEdns, question, stillClock } from "../testdata/case-zone.ts";

const zoneText = `
$ORIGIN p.test.
$TTL 60
@ SOA ns1 hostmaster 7 7200 1800 86400 30
@ NS ns1
ns1 A 192.0.2.53
www A 192.0.2.1
localtargets-www A 192.0.2.1
_localtargets TXT "stands for the apex of a view"
`;

test("what a cluster says of itself is answered SERVFAIL once the lease on it is over, and all else as before", () => {
  let nowMs = 0;
  const authority = authorityOf([zoneText], { clock: { ...stillClock, monotonicMs: () => nowMs } });
  const rcodes = (): readonly number[] =>
    ["www", "localtargets-www", "LocalTargets-www", "localtargets-none", "_Localtargets", "none"].map(
      (label) => parseMessage(exchange(authority, question(`${label}.p.test`, "A"))!).rcode,
    );
  const held = [0, 0, 0, 3, 0, 3];
  nowMs = 1e12;
  assert.deepEqual(rcodes(), held, "nobody ever took the lease");
  authority.lease?.renew(30_000);
  nowMs += 29_999;
  assert.deepEqual(rcodes(), held);
  nowMs += 1;
  assert.deepEqual(rcodes(), [0, 2, 2, 2, 2, 3]);
  const told = parseMessage(
    exchange(authority, question("localtargets-www.p.test", "A", { edns: plainEdns }))!,
  );
  assert.deepEqual(
    told.edns?.options.filter(({ code }) => code === 15).map(({ octets }) => octets[1]),
    [14],
    "the extended error is Not Ready (RFC 8914)",
  );
  authority.lease?.renew(30_000);
  assert.deepEqual(rcodes(), held);
});
