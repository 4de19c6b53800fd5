import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { SecondaryZone } from "@meridian/dns";
import { output, run } from "../../e2e/harness/command.ts";
import { ChildServer, freePort } from "./child-server.ts";
import { datapaths, type Datapath } from "./datapath.ts";
import { eventually, openTransferWorld, toLines, type TransferWorld } from "./transfer-world.ts";

// BIND signs a zone as it changes (dnssec-policy, inline signing), ours follows it by AXFR and IXFR, and delv validates what
// ours answers: while the zone grows, while its NSEC becomes NSEC3, and from the copy on the disk.

const origin = "inline.open.test";
const names = 60;
const zoneText = `$ORIGIN ${origin}.
$TTL 60
@ SOA ns1 hostmaster 7 600 600 86400 30
@ NS ns1
ns1 A 127.0.0.1
www A 192.0.2.1
*.wild A 192.0.2.2
alias CNAME www
a.ent A 192.0.2.3
sub NS ns.sub
ns.sub A 192.0.2.54
${Array.from({ length: names }, (_, index) => `n${index} A 198.51.100.${index}`).join("\n")}
`;

const tools = ["named", "nsupdate", "delv", "dnssec-dsfromkey"];
const lacking = tools.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
const skip = lacking.length === 0 ? false : `not installed: ${lacking.join(", ")}`;
const worlds = new Map<Datapath, TransferWorld>();

before(async () => {
  assert.ok(skip === false || process.env["CI"] !== "true", String(skip));
  if (skip !== false) return;
  for (const datapath of datapaths) worlds.set(datapath, await openTransferWorld(datapath));
});
after(async () => {
  for (const each of worlds.values()) await each[Symbol.asyncDispose]();
});

/** A BIND that signs the zone by one of its two policies. */
interface SigningPrimary {
  readonly folder: string;
  readonly port: number;
  readonly server: ChildServer;
  readonly usePolicy: (policy: "nsec" | "nsec3") => Promise<void>;
}

async function startPrimary(world: TransferWorld): Promise<SigningPrimary> {
  const folder = path.join(world.folder, "primary");
  await mkdir(folder);
  const port = await freePort(world.runtime);
  const config = (policy: string): string => `options {
  directory "${folder}"; pid-file none; session-keyfile none; managed-keys-directory "${folder}";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; notify explicit; notify-delay 0; empty-zones-enable no; dnssec-validation no;
};
controls { };
dnssec-policy "nsec" { keys { ksk lifetime unlimited algorithm 13; zsk lifetime unlimited algorithm 13; }; };
dnssec-policy "nsec3" {
  keys { ksk lifetime unlimited algorithm 13; zsk lifetime unlimited algorithm 13; };
  nsec3param iterations 0 optout no salt-length 0;
};
zone "${origin}" {
  type primary; file "zone"; dnssec-policy "${policy}"; inline-signing yes;
  allow-update { 127.0.0.1; }; allow-transfer { 127.0.0.1; }; also-notify { 127.0.0.1 port ${world.port}; };
};
`;
  const file = path.join(folder, "named.conf");
  await writeFile(path.join(folder, "zone"), zoneText);
  await writeFile(file, config("nsec"));
  const server = await ChildServer.start(["named", "-g", "-n", "1", "-c", file], / running\n/);
  return {
    folder,
    port,
    server,
    async usePolicy(policy) {
      await writeFile(file, config(policy));
      server.signal("SIGHUP");
    },
  };
}

async function update(port: number, lines: readonly string[]): Promise<void> {
  const stdin = [`server 127.0.0.1 ${port}`, `zone ${origin}`, ...lines, "send", ""].join("\n");
  await output("nsupdate", [], { stdin });
}

for (const datapath of datapaths)
  test(
    `ours follows a zone that BIND signs, and delv validates what it answers (${datapath})`,
    { skip },
    async () => {
      const world = worlds.get(datapath)!;
      const { runtime, client, transfers, authority } = world;
      const primary = await startPrimary(world);
      await using _bind = primary.server;
      const options = {
        ...{ origin, client, transfers, copyFolder: "presigned" },
        primaries: [{ address: "127.0.0.1", port: primary.port }],
        bounds: { refreshMin: 1, retryMin: 1, refreshMax: 1 },
      };
      let secondary = await SecondaryZone.open(runtime, options);
      try {
        authority.setZone(secondary.zone);
        authority.onNotify = (hint) => (secondary.takeNotify(hint) ? undefined : "refuse");

        /** Waits until ours has the primary's serial, and what is to be there. */
        const follow = (isDone: () => boolean): Promise<unknown> =>
          eventually(
            runtime,
            async () => ({
              theirs: (await transfers.fetchZone({ zone: origin, ...options })) as {
                soa?: { serial: number };
              },
              done: isDone(),
            }),
            ({ theirs, done }) => done && theirs.soa?.serial === secondary.zone.serial,
          );
        const contentAt = async (port: number): Promise<readonly string[]> => {
          const at = [{ address: "127.0.0.1", port }];
          const fetched = await transfers.fetchZone({ zone: origin, primaries: at });
          assert.ok(fetched.kind === "whole", JSON.stringify(fetched));
          return fetched.sets.flatMap(toLines).sort();
        };
        const typesAt = (name: string): readonly string[] =>
          secondary.zone.recordSetsOf(name).map(({ type }) => type);

        // BIND signs a few names at a time.
        const isSigned = (name: string): boolean => {
          const signatures = secondary.zone.recordSetsOf(name).find(({ type }) => type === "RRSIG");
          return ["A ", "NSEC "].every((start) => signatures?.data.some((text) => text.startsWith(start)));
        };
        await follow(() =>
          [`www.${origin}`, `*.wild.${origin}`, `n${names - 1}.${origin}`, `a.ent.${origin}`].every(isSigned),
        );
        const keys = (await readdir(primary.folder)).filter((name) => name.endsWith(".key"));
        const texts = await Promise.all(
          keys.map((name) => readFile(path.join(primary.folder, name), "utf8")),
        );
        const ksk = keys[texts.findIndex((text) => / DNSKEY 257 /.test(text))]!;
        const ds = await output("dnssec-dsfromkey", ["-2", path.join(primary.folder, ksk)]);
        const [tag, algorithm, type, ...digest] = ds
          .trim()
          .replace(/^.*\sDS\s+/, "")
          .split(" ");
        const anchor = path.join(world.folder, "anchor");
        const trusted = `static-ds ${tag} ${algorithm} ${type} "${digest.join("")}"`;
        await writeFile(anchor, `trust-anchors { ${origin}. ${trusted}; };\n`);
        const validates = async (
          questions: readonly (readonly [name: string, type: string])[],
        ): Promise<void> => {
          for (const [name, asked] of questions) {
            const to = ["@127.0.0.1", "-p", `${world.port}`, "-a", anchor, `+root=${origin}`];
            const { stdout, stderr } = await run("delv", [...to, `${name}.${origin}`, asked], {
              timeoutMs: 20_000,
            });
            assert.match(stdout + stderr, /; (negative response, )?fully validated/, `${name} ${asked}`);
          }
        };
        const questions = [
          ["www", "A"],
          ["www", "MX"],
          ["nothing", "A"],
          ["x.wild", "A"],
          ["x.wild", "MX"],
          ["ent", "A"],
          ["alias", "A"],
          ["sub", "DS"],
          ["n17", "A"],
        ] as const;
        await validates(questions);

        const before = transfers.counters.incremental;
        for (let index = 0; index < 5; index++) {
          const removed = [`update delete n${index}.${origin} A`];
          await update(primary.port, [...removed, `update add new${index}.${origin} 60 A 192.0.2.${index}`]);
          await follow(() => typesAt(`new${index}.${origin}`).includes("RRSIG"));
          await validates([
            [`new${index}`, "A"],
            [`n${index}`, "A"],
          ]);
        }
        assert.ok(transfers.counters.incremental - before >= 5, "the changes came as whole zones");
        await validates(questions);

        await primary.usePolicy("nsec3");
        await follow(() => typesAt(origin).includes("NSEC3PARAM") && !typesAt(origin).includes("NSEC"));
        await validates(questions);
        await update(primary.port, [`update add hashed.${origin} 60 A 192.0.2.9`]);
        await follow(() => typesAt(`hashed.${origin}`).includes("RRSIG"));
        await validates([...questions, ["hashed", "A"], ["nothing.at.all", "A"]]);
        assert.deepEqual(await contentAt(world.port), await contentAt(primary.port));

        await primary.server[Symbol.asyncDispose]();
        await secondary[Symbol.asyncDispose]();
        authority.removeZone(origin);
        secondary = await SecondaryZone.open(runtime, options);
        authority.setZone(secondary.zone);
        await validates([...questions, ["hashed", "A"]]);
      } finally {
        await secondary[Symbol.asyncDispose]();
      }
    },
  );
