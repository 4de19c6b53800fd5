import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { SecondaryZone, type Verdict } from "@meridian/dns";
import { missingPeer, peerKinds, startPeer, transferKey, type TransferPeer } from "./transfer-peers.ts";
import { datapaths, type Datapath } from "./datapath.ts";
import { eventually, openTransferWorld, type TransferWorld } from "./transfer-world.ts";

const names = 900;
const zoneText = (origin: string, serial = 4294967294): string => `
$ORIGIN ${origin}.
$TTL 60
@       SOA ns1 hostmaster ${serial} 2 1 4 30
@       NS  ns1
@       NS  ns2.example.
ns1     A   192.0.2.53
www     A   192.0.2.1
www     A   192.0.2.2
*.wild  TXT "wild"
a.b.ent A   192.0.2.3
alias   CNAME www
sub     NS  ns.sub
ns.sub  A   192.0.2.54
srv     SRV 1 2 3 www
t666    TYPE666 \\# 3 010203
${Array.from({ length: names }, (_, index) => `n${index} A 198.51.${index >> 8}.${index & 255}`).join("\n")}
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

/** One change of the zone on its primary: added and removed records. */
interface Change {
  readonly add?: string;
  readonly remove?: string;
}
const changes: readonly Change[] = [
  { add: "new 60 A 192.0.2.77", remove: "n1 A" },
  { add: "www 60 A 192.0.2.3", remove: "n2 A" },
  { add: "@ 60 NS ns3.example." },
  { remove: "new A" },
];

const absolute = (record: string, origin: string): string => {
  const [name, ...rest] = record.split(" ");
  return [name === "@" ? `${origin}.` : `${name}.${origin}.`, ...rest].join(" ");
};

/** By dynamic update where the primary takes it; NSD has its file edited. */
async function change(peer: TransferPeer, origin: string, { add, remove }: Change): Promise<void> {
  if (peer.name === "NSD") {
    const text = await readFile(peer.zoneFile, "utf8");
    const serial = Number(/hostmaster (\d+)/.exec(text)![1]);
    const kept = text
      .replace(/hostmaster \d+/, `hostmaster ${(serial + 1) >>> 0}`)
      .split("\n")
      .filter(
        (line) => remove === undefined || !new RegExp(`^${remove.replace(" ", "\\s(60 )?")}\\s`).test(line),
      );
    await writeFile(peer.zoneFile, [...kept, ...(add === undefined ? [] : [add]), ""].join("\n"));
    const pid = Number(await readFile(path.join(path.dirname(peer.zoneFile), "pid"), "utf8"));
    process.kill(pid, "SIGHUP");
    return;
  }
  const script = [
    `server 127.0.0.1 ${peer.port}`,
    `zone ${origin}`,
    `key ${transferKey.algorithm}:${transferKey.name} ${transferKey.secret}`,
    ...(remove === undefined ? [] : [`update delete ${absolute(remove, origin)}`]),
    ...(add === undefined ? [] : [`update add ${absolute(add, origin)}`]),
    "send",
    "",
  ].join("\n");
  const nsupdate = spawn("nsupdate", { stdio: ["pipe", "ignore", "pipe"] });
  nsupdate.stdin.end(script);
  let problem = "";
  nsupdate.stderr.on("data", (chunk: Buffer) => (problem += chunk.toString()));
  const code = await new Promise((resolve) => nsupdate.once("close", resolve));
  assert.equal(code, 0, problem);
}

const missingNsupdate = spawnSync("nsupdate", ["-V"]).error === undefined ? false : "not installed: dnsutils";

for (const [kind, datapath] of peerKinds.flatMap((each) => datapaths.map((way) => [each, way] as const))) {
  const origin = `${kind.name.toLowerCase()}.test`;

  test(
    `our secondary of ${kind.name} follows by NOTIFY and IXFR, expires without it, and starts from its copy (${datapath})`,
    {
      skip: missingPeer(kind) || missingNsupdate,
      timeout: 120_000,
    },
    async () => {
      world = worlds.get(datapath)!;
      const { runtime, client, transfers, authority, key } = world;
      const role = { kind: "primary", ours: world.port, text: zoneText(origin) } as const;
      let peer = await startPeer(runtime, kind, { folder: world.folder, origin, role });
      try {
        const options = {
          origin,
          primaries: [{ address: "127.0.0.1", port: peer.port, key }],
          client,
          transfers,
          bounds: { refreshMin: 600, retryMin: 1 },
          copyFolder: "secondary",
        };
        let secondary = await SecondaryZone.open(runtime, options);
        authority.setZone(secondary.zone);
        authority.onNotify = (hint) => (secondary.takeNotify(hint) ? undefined : "refuse");
        const same = async (): Promise<void> => {
          await eventually(
            runtime,
            async () => {
              const theirs = await world.content(peer.port, origin);
              const ours = await world.content(world.port, origin);
              const state = secondary.state;
              if (theirs === undefined || ours === undefined) return { missing: [!theirs, !ours], state };
              const onlyOurs = ours.filter((line) => !theirs.includes(line));
              return { onlyOurs, onlyTheirs: theirs.filter((line) => !ours.includes(line)), state };
            },
            ({ onlyOurs, onlyTheirs }) => onlyOurs?.length === 0 && onlyTheirs?.length === 0,
          );
          assert.ok(secondary.zone.nameCount > names);
        };
        await same();
        const incrementalBefore = transfers.counters.incremental;
        const serialBefore = secondary.zone.serial;
        for (const each of changes) {
          await change(peer, origin, each);
          await eventually(
            runtime,
            () => world.content(peer.port, origin),
            (lines) => lines !== undefined && contains(lines, each, origin),
          );
          // The refresh time is ten minutes: only a NOTIFY brings it here.
          await same();
        }
        assert.notEqual(secondary.zone.serial, serialBefore);
        assert.ok(transfers.counters.incremental - incrementalBefore >= 3, "differences were received");
        await sameAnswers(peer.port, origin);

        // Another refresh time, so that what follows does not take ten minutes.
        await secondary[Symbol.asyncDispose]();
        authority.removeZone(origin);
        await peer[Symbol.asyncDispose]();
        secondary = await SecondaryZone.open(runtime, { ...options, bounds: { refreshMin: 1, retryMin: 1 } });
        authority.setZone(secondary.zone);
        assert.equal(secondary.state.at, "current", "the copy serves at once, without a primary");
        await eventually(
          runtime,
          () => ask(world.port, `www.${origin}`, "A"),
          (verdict) => verdict.state === "refused" && verdict.rcode === "SERVFAIL",
        );
        assert.equal(secondary.state.at, "expired");
        peer = await startPeer(runtime, kind, { folder: world.folder, origin, role });
        await secondary[Symbol.asyncDispose]();
        authority.removeZone(origin);
        // A primary that was set up anew, perhaps with an older serial: a zone that has expired takes what there is.
        secondary = await SecondaryZone.open(runtime, {
          ...options,
          bounds: { refreshMin: 1, retryMin: 1 },
          primaries: [{ address: "127.0.0.1", port: peer.port, key }],
        });
        authority.setZone(secondary.zone);
        await same();
        await secondary[Symbol.asyncDispose]();
      } finally {
        authority.removeZone(origin);
        await peer[Symbol.asyncDispose]();
      }
    },
  );
}

function contains(lines: readonly string[], { add, remove }: Change, origin: string): boolean {
  const has = (record: string): boolean => {
    const [name, ...rest] = record.split(" ");
    const owner = name === "@" ? origin : `${name}.${origin}`;
    const [type, data] = rest[0] === "60" ? [rest[1], rest[2]] : [rest[0], undefined];
    return lines.some(
      (line) => line.startsWith(`${owner} 60 ${type} `) && (data === undefined || line.endsWith(` ${data}`)),
    );
  };
  return (add === undefined || has(add)) && (remove === undefined || !has(remove));
}

const ask = (port: number, name: string, type: string): Promise<Verdict> =>
  world.client.query({ name, type, servers: [{ address: "127.0.0.1", port }], deadlineMs: 3_000 });

/** Both servers say the same about names there and not there. */
async function sameAnswers(theirPort: number, origin: string): Promise<void> {
  const questions = [
    ["www", "A"],
    ["www", "AAAA"],
    ["new", "A"],
    ["n1", "A"],
    ["n3", "A"],
    ["x.wild", "TXT"],
    ["ent", "A"],
    ["alias", "A"],
    ["host.sub", "A"],
    ["srv", "SRV"],
    ["t666", "TYPE666"],
    ["b.ent", "A"],
  ] as const;
  for (const [name, type] of questions) {
    const [theirs, ours] = await Promise.all([
      ask(theirPort, `${name}.${origin}`, type),
      ask(world.port, `${name}.${origin}`, type),
    ]);
    assert.deepEqual(plain(ours), plain(theirs), name);
  }
}

function plain(verdict: Verdict): unknown {
  if (verdict.state !== "answered") return verdict.state;
  const { outcome, authoritative, records } = verdict;
  return [
    outcome,
    authoritative,
    records.map(({ name, type, ttl, data }) => `${name} ${ttl} ${type} ${data}`).sort(),
  ];
}
