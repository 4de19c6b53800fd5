import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { parseZoneFile, ZoneNotifier, type RecordSet, type Zone } from "@meridian/dns";
import { missingPeer, peerKinds, startPeer, transferKey } from "./transfer-peers.ts";
import { datapaths, type Datapath } from "./datapath.ts";
import { eventually, openTransferWorld, type TransferWorld } from "./transfer-world.ts";

const zoneText = (origin: string): string => `
$ORIGIN ${origin}.
$TTL 60
@       SOA ns1 hostmaster 4294967290 60 5 3600 30
@       NS  ns1
@       NS  ns2.example.
@       MX  10 mail
ns1     A   192.0.2.53
www     A   192.0.2.1
www     A   192.0.2.2
www     AAAA 2001:db8::1
mail    A   192.0.2.25
*.wild  TXT "wild" "two words"
a.b.ent A   192.0.2.3
alias   CNAME www
dn      DNAME www
sub     NS  ns.sub
ns.sub  A   192.0.2.54
srv     SRV 1 2 3 www
svc     HTTPS 1 . alpn=h2,h3
caa     CAA 0 issue "ca.example"
t666    TYPE666 \\# 3 010203
${Array.from({ length: 900 }, (_, index) => `n${index} A 198.51.${index >> 8}.${index & 255}`).join("\n")}
`;

const worlds = new Map<Datapath, TransferWorld>();
/** That of the test which is running. */
let world: TransferWorld;

before(async () => {
  for (const datapath of datapaths) worlds.set(datapath, await openTransferWorld(datapath));
});
after(async () => {
  for (const each of worlds.values()) await each[Symbol.asyncDispose]();
});

function serve(origin: string): Zone {
  const { zone, problems } = parseZoneFile(zoneText(origin));
  assert.ok(zone !== undefined, JSON.stringify(problems));
  world.authority.setZone(zone);
  return zone;
}

const address = (name: string, ...data: string[]): [string, RecordSet[]] => [
  name,
  data.length === 0 ? [] : [{ name, type: "A", ttl: 60, data }],
];

const changesOf = (origin: string): ReadonlyMap<string, RecordSet[]>[] => [
  new Map([address(`new.${origin}`, "192.0.2.77"), address(`n1.${origin}`)]),
  new Map([address(`new.${origin}`, "192.0.2.78", "192.0.2.79"), address(`n2.${origin}`, "192.0.2.2")]),
  new Map([address(`new.${origin}`)]),
];

for (const [kind, datapath] of peerKinds.flatMap((each) => datapaths.map((way) => [each, way] as const))) {
  const origin = `${kind.name.toLowerCase()}.test`;
  test(
    `${kind.name} as our secondary takes the zone, and follows changes by NOTIFY and IXFR (${datapath})`,
    {
      skip: missingPeer(kind),
      timeout: 120_000,
    },
    async () => {
      world = worlds.get(datapath)!;
      const zone = serve(origin);
      const { runtime, client } = world;
      await using peer = await startPeer(runtime, kind, {
        folder: world.folder,
        origin,
        role: { kind: "secondary", ours: world.port },
      });
      const same = async (): Promise<void> => {
        const ours = await world.content(world.port, origin);
        assert.ok(ours !== undefined && ours.length > 10);
        await eventually(
          runtime,
          () => world.content(peer.port, origin),
          (theirs) => JSON.stringify(theirs) === JSON.stringify(ours),
        );
      };
      await same();
      await using notifier = new ZoneNotifier(runtime, { client });
      notifier.follow(zone, [{ address: "127.0.0.1", port: peer.port }]);
      const incrementalBefore = world.server.counters.incremental;
      for (const changes of changesOf(origin)) {
        zone.replace(changes);
        await same();
      }
      // Past the end of the serials (RFC 1982), and the apex itself.
      zone.setSoa({ serial: 3, minimum: 15 });
      zone.setNameServers([`ns1.${origin}`, "ns3.example"]);
      await same();
      assert.ok(world.server.counters.incremental - incrementalBefore >= 3, "differences were sent");
      assert.equal(world.server.counters.broken, 0);
      assert.ok(notifier.counters.acknowledged > 0);
    },
  );
}

/** What a tool prints, whatever its exit code. */
function output(tool: string, ...words: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(tool, words, { maxBuffer: 2 ** 26 }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
const dig = (...words: string[]): Promise<string> =>
  output("dig", "@127.0.0.1", "-p", String(world.port), ...words);
const missingDig = spawnSync("dig", ["-v"]).error === undefined ? false : "not installed: dnsutils";
const signed = ["-y", `${transferKey.algorithm}:${transferKey.name}:${transferKey.secret}`];

function countRecords(zone: Zone): number {
  return [...zone.recordSets()].reduce((sum, set) => sum + set.data.length, 0);
}

for (const datapath of datapaths) {
  test(
    `dig gets the zone with the key, and named-checkzone finds nothing wrong with it (${datapath})`,
    {
      skip: missingDig,
    },
    async () => {
      world = worlds.get(datapath)!;
      const zone = serve("dig.test");
      const text = await dig(...signed, "dig.test", "AXFR", "+onesoa", "+nostats", "+nocmd");
      assert.doesNotMatch(text, /Transfer failed|; <<>>.*failed|Couldn't verify/);
      const records = text.split("\n").filter((line) => /\sIN\s/.test(line));
      assert.equal(records.length, countRecords(zone));
      const file = path.join(world.folder, "dig.test");
      await writeFile(file, `${records.join("\n")}\n`);
      const check = await output("named-checkzone", "-i", "local", "dig.test", file);
      assert.match(check, /loaded serial 4294967290[^]*^OK$/m);
    },
  );

  test(
    `dig is refused without the key, with the reason, and gets what is open to its address (${datapath})`,
    {
      skip: missingDig,
    },
    async () => {
      world = worlds.get(datapath)!;
      serve("closed.test");
      serve("a.open.test");
      const refused = await dig("closed.test", "AXFR", "+edns");
      assert.match(refused, /Transfer failed/);
      assert.match(await dig("+tcp", "closed.test", "IXFR=1", "+edns=0"), /Transfer failed|REFUSED/);
      assert.match(await dig("a.open.test", "AXFR"), /XFR size: \d+ records/);
      assert.match(await dig(...signed, "nowhere.test", "AXFR"), /Transfer failed/);
    },
  );

  test(
    `dig's IXFR is answered with one SOA, differences, or the whole zone (${datapath})`,
    { skip: missingDig },
    async () => {
      world = worlds.get(datapath)!;
      const zone = serve("ixfr.open.test");
      const first = zone.serial;
      const size = (text: string): number => Number(/XFR size: (\d+) records/.exec(text)?.[1]);
      assert.equal(size(await dig("ixfr.open.test", `IXFR=${first}`)), 1);
      zone.replace(new Map([address("x.ixfr.open.test", "192.0.2.1")]));
      zone.replace(new Map([address("y.ixfr.open.test", "192.0.2.1")]));
      zone.replace(new Map([address("x.ixfr.open.test")]));
      // SOA, SOA, SOA, y, SOA: what came and went between is in no list.
      assert.equal(size(await dig("ixfr.open.test", `IXFR=${first}`)), 5);
      assert.equal(size(await dig("ixfr.open.test", `IXFR=${(first - 100) >>> 0}`)), countRecords(zone) + 1);
      assert.equal(size(await dig("ixfr.open.test", `IXFR=${(zone.serial + 5) >>> 0}`)), 1);
      const datagram = await dig("+notcp", "ixfr.open.test", `IXFR=${(first - 100) >>> 0}`);
      assert.match(datagram, /\(UDP\)/);
      assert.equal(datagram.match(/\sIN\s/g)?.length, 1, "the SOA alone: come over TCP");
      const fitting = await dig("+notcp", "ixfr.open.test", `IXFR=${first}`);
      assert.equal(fitting.match(/\sIN\s/g)?.length, 5);
    },
  );
}
