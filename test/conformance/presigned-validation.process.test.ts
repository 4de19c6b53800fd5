import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { Authority, parseZoneFile, serveDns, type DnsServer } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { run } from "../../e2e/harness/command.ts";
import { unboundConfig } from "../../e2e/harness/resolver-config.ts";
import { ChildServer, freePort } from "./child-server.ts";
import { datapaths, servedBy, type Datapath } from "./datapath.ts";
import { missingSigners, signZone, zoneToSign, type SignedZone, type Signing } from "./signed-zones.ts";

// Zones that the tools of others signed, served by ours and validated by delv and Unbound with the zone's key as trust anchor.

const signings: Readonly<Record<string, Signing>> = {
  "nsec.test": { tool: "dnssec-signzone", options: [] },
  "nsec3.test": { tool: "dnssec-signzone", options: ["-3", "-", "-H", "0"] },
  "optout.test": { tool: "ldns-signzone", options: ["-n", "-p", "-t", "1", "-s", "0102"] },
};

/** What is asked, and whether the answer is secure; beside an opted-out span it is not. */
const questions: readonly (readonly [name: string, type: string, optedOut?: "optedOut"])[] = [
  ["www", "A"],
  ["www", "MX"],
  ["wWw", "TXT"],
  ["x.wild", "A", "optedOut"],
  ["x.y.wild", "TXT", "optedOut"],
  ["x.wild", "MX", "optedOut"],
  ["ent.wild", "A"],
  ["c.d", "A"],
  ["nx", "A", "optedOut"],
  ["x.y.nx", "A", "optedOut"],
  ["alias2", "A"],
  ["towild", "A", "optedOut"],
  ["nodata", "TXT"],
  ["dangling", "A", "optedOut"],
  ["x.wcn", "A", "optedOut"],
  ["a.dn", "A"],
  ["x.dn", "TXT", "optedOut"],
  ["x.wc2", "A", "optedOut"],
  ["dn", "DNAME"],
  ["sub", "DS", "optedOut"],
  ["secure", "DS"],
  ["insecure.ent2", "DS", "optedOut"],
  ["ent2", "A", "optedOut"],
  ["big", "TXT"],
  ["mail", "MX"],
  ["srv", "SRV"],
  ["svc", "HTTPS"],
  ["t666", "TYPE666"],
  ["@", "SOA"],
  ["@", "NS"],
  ["@", "DNSKEY"],
  ["@", "MX"],
];

const address = "127.0.0.1";
const missing =
  missingSigners() ??
  (["delv", "unbound", "dig"].every((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status === 0)
    ? undefined
    : "not installed: delv, unbound or dig");
const skip = missing ?? false;
const zones: SignedZone[] = [];
const servers = new Map<Datapath, DnsServer>();
let folder: string;

before(async () => {
  assert.ok(missing === undefined || process.env["CI"] !== "true", missing);
  if (missing !== undefined) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-presigned-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  for (const [origin, signing] of Object.entries(signings))
    zones.push(await signZone(zoneToSign(origin), signing, folder));
  for (const datapath of datapaths) {
    const authority = new Authority(runtime);
    for (const { text } of zones) {
      const { zone, problems } = parseZoneFile(text);
      assert.ok(zone !== undefined, JSON.stringify(problems));
      authority.setZone(zone);
    }
    const listen = [{ address, port: 0 }];
    const how = servedBy(datapath, runtime, authority);
    servers.set(datapath, await serveDns(runtime, { authority, listen, ...how }));
  }
});

after(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
  if (missing === undefined) await rm(folder, { recursive: true, force: true });
});

for (const datapath of datapaths)
  for (const [index, origin] of Object.keys(signings).entries()) {
    const nameOf = (name: string): string => (name === "@" ? origin : `${name}.${origin}`);
    const hasOptOut = origin.startsWith("optout");

    test(`delv validates ${origin} (${datapath})`, { skip }, async () => {
      const { port } = servers.get(datapath)!.local[0]!;
      const [tag, algorithm, digestType, ...digest] = zones[index]!.ds.split(" ");
      const anchor = path.join(folder, `${origin}.anchor`);
      const trusted = `static-ds ${tag} ${algorithm} ${digestType} "${digest.join("")}"`;
      await writeFile(anchor, `trust-anchors { ${origin}. ${trusted}; };\n`);
      for (const [name, type, optedOut] of questions) {
        const words = [`@${address}`, "-p", `${port}`, "-a", anchor, `+root=${origin}`, nameOf(name), type];
        const { stdout, stderr } = await run("delv", words, { timeoutMs: 20_000 });
        const expected =
          hasOptOut && optedOut !== undefined
            ? /; (negative response, )?(fully validated|unsigned answer)/
            : /; (negative response, )?fully validated/;
        assert.match(stdout + stderr, expected, `${name} ${type}`);
        assert.doesNotMatch(stdout + stderr, /broken|no valid|SERVFAIL/, `${name} ${type}`);
      }
    });

    test(`Unbound validates ${origin} (${datapath})`, { skip }, async () => {
      const { port } = servers.get(datapath)!.local[0]!;
      const unboundPort = await freePort(nodeRuntime({ dataFolder: folder, log: silentLogger }));
      const file = path.join(folder, "unbound.conf");
      const settings = [
        "val-log-level: 2",
        'module-config: "validator iterator"',
        `trust-anchor: "${origin}. DS ${zones[index]!.ds}"`,
      ];
      const place = { folder, address, port: unboundPort };
      await writeFile(file, unboundConfig(place, { zone: origin, server: `${address}@${port}`, settings }));
      await using _unbound = await ChildServer.start(["unbound", "-d", "-c", file], /start of service/);
      for (const [name, type, optedOut] of questions) {
        const words = [`@${address}`, "-p", `${unboundPort}`, "+dnssec", "+tries=2", nameOf(name), type];
        const { stdout } = await run("dig", words, { timeoutMs: 20_000 });
        assert.match(stdout, /status: (NOERROR|NXDOMAIN)/, `${name} ${type}: ${stdout}`);
        if (hasOptOut && optedOut !== undefined) continue;
        assert.match(stdout, /flags: [a-z ]*\bad\b/, `${name} ${type}: ${stdout}`);
      }
    });
  }
