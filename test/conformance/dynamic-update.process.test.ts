import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { DnsClient } from "@meridian/dns";
import { silentLogger, type Clock, type Runtime } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { datapaths, type Datapath } from "./datapath.ts";
import { keyText, startUpdatedServer, type UpdatedServer } from "./update-world.ts";

let folder: string;
let runtime: Runtime;
let client: DnsClient;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-update-"));
  runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  client = new DnsClient(runtime);
});

after(async () => {
  await client[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const debianPackages = {
  dig: "bind9-dnsutils",
  nsupdate: "bind9-dnsutils",
  kdig: "knot-dnsutils",
  knsupdate: "knot-dnsutils",
};
type Tool = keyof typeof debianPackages;

/** Says which package a missing tool is in; on CI, where none may be missing, it is nothing. */
function missing(tool: Tool): string | undefined {
  if (spawnSync(tool, ["-V"]).error === undefined || process.env["CI"] === "true") return undefined;
  return `${tool} is not installed: apt-get install ${debianPackages[tool]}`;
}

/** The same clock with its wall time elsewhere. */
function shiftedClock({ clock }: Runtime, aheadMs: number): Clock {
  return {
    now: () => clock.now() + aheadMs,
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, callback) => clock.after(ms, callback),
  };
}

interface Run {
  readonly ok: boolean;
  readonly printed: string;
}

function run(tool: Tool, words: readonly string[], input = ""): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(tool, words, { timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, printed: stdout + stderr }),
    );
    child.stdin?.end(input);
  });
}

/** Sends a batch with one of the two updaters. */
function update(
  tool: "nsupdate" | "knsupdate",
  server: UpdatedServer,
  options: { readonly batch: string; readonly signed?: boolean; readonly tcp?: boolean },
): Promise<Run> {
  const { batch, signed = true, tcp = false } = options;
  const { address, port } = server.at;
  const keyWord = `${keyText.algorithm}:${keyText.name}:${keyText.secret}`;
  const words = [...(signed ? ["-y", keyWord] : []), ...(tcp ? ["-v"] : []), "-t", "5"];
  return run(tool, words, `server ${address} ${port}\nzone u.test.\n${batch}\nsend\nanswer\nquit\n`);
}

async function ask(server: UpdatedServer, name: string, type: string): Promise<readonly string[] | string> {
  const verdict = await client.query({ name, type, servers: [server.at], deadlineMs: 5_000 });
  if (verdict.state !== "answered") return verdict.state;
  return verdict.outcome === "data" ? verdict.records.map((record) => record.data) : verdict.outcome;
}

/** Each tool with each way to answer datagrams. */
function each<Name extends Tool>(tools: readonly Name[]): (readonly [Name, Datapath])[] {
  return tools.flatMap((tool) => datapaths.map((datapath) => [tool, datapath] as const));
}

for (const [tool, datapath] of each(["nsupdate", "knsupdate"] as const)) {
  test(`${tool} adds, replaces and deletes, all in one step of the serial (${datapath})`, async (context) => {
    const absent = missing(tool);
    if (absent !== undefined) return context.skip(absent);
    await using server = await startUpdatedServer(runtime, {
      journal: `${tool}-changes-${datapath}`,
      datapath,
    });
    const batch = `update add new.u.test. 30 A 192.0.2.7
update add new.u.test. 30 A 192.0.2.8
update add text.u.test. 30 TXT "a b" "c"
update delete www.u.test. A
update add www.u.test. 20 AAAA 2001:db8::7`;
    const { ok, printed } = await update(tool, server, { batch });
    assert.ok(ok, printed);
    const added = await ask(server, "new.u.test", "A");
    assert.deepEqual([added].flat().sort(), ["192.0.2.7", "192.0.2.8"]);
    assert.deepEqual(await ask(server, "text.u.test", "TXT"), ['"a b" "c"']);
    assert.equal(await ask(server, "www.u.test", "A"), "nodata");
    assert.deepEqual(await ask(server, "www.u.test", "AAAA"), ["2001:db8::7"]);
    assert.equal(server.zone.serial, 101);
    const exact = await update(tool, server, { batch: "update delete new.u.test. A 192.0.2.7", tcp: true });
    assert.ok(exact.ok, exact.printed);
    assert.deepEqual(await ask(server, "new.u.test", "A"), ["192.0.2.8"]);
    assert.equal(server.zone.serial, 102);
  });

  test(`${tool} has its prerequisites checked, and nothing is changed where one fails (${datapath})`, async (context) => {
    const absent = missing(tool);
    if (absent !== undefined) return context.skip(absent);
    await using server = await startUpdatedServer(runtime, {
      journal: `${tool}-prerequisites-${datapath}`,
      datapath,
    });
    const cases = [
      ["prereq nxdomain www.u.test.", "YXDOMAIN"],
      ["prereq yxdomain nope.u.test.", "NXDOMAIN"],
      ["prereq nxrrset www.u.test. A", "YXRRSET"],
      ["prereq yxrrset www.u.test. MX", "NXRRSET"],
      ["prereq yxrrset www.u.test. A 192.0.2.99", "NXRRSET"],
    ] as const;
    for (const [line, rcode] of cases) {
      const { printed } = await update(tool, server, {
        batch: `${line}\nupdate add x.u.test. 30 A 192.0.2.9`,
      });
      assert.match(printed, new RegExp(rcode), line);
    }
    assert.equal(await ask(server, "x.u.test", "A"), "nxdomain");
    assert.equal(server.zone.serial, 100);
    const holding = [
      "prereq yxrrset www.u.test. A 192.0.2.1",
      "prereq nxdomain x.u.test.",
      "update add x.u.test. 30 A 192.0.2.9",
    ];
    const { ok, printed } = await update(tool, server, { batch: holding.join("\n") });
    assert.ok(ok, printed);
    assert.deepEqual(await ask(server, "x.u.test", "A"), ["192.0.2.9"]);
  });

  test(`${tool} without a key is refused (${datapath})`, async (context) => {
    const absent = missing(tool);
    if (absent !== undefined) return context.skip(absent);
    await using server = await startUpdatedServer(runtime, {
      journal: `${tool}-unsigned-${datapath}`,
      datapath,
    });
    const { printed } = await update(tool, server, {
      batch: "update add x.u.test. 30 A 192.0.2.9",
      signed: false,
    });
    assert.match(printed, /REFUSED/);
    assert.equal(server.zone.serial, 100);
  });
}

const signedDig: readonly {
  readonly name: string;
  readonly words: readonly string[];
  readonly expect: RegExp;
}[] = [
  { name: "an answer", words: ["www.u.test", "A"], expect: /192\.0\.2\.1/ },
  { name: "an answer over TCP", words: ["+tcp", "www.u.test", "A"], expect: /192\.0\.2\.1/ },
  { name: "no such name", words: ["nope.u.test", "A"], expect: /NXDOMAIN/ },
];

for (const [tool, datapath] of each(["dig", "kdig"] as const)) {
  for (const { name, words, expect } of signedDig) {
    test(`${tool} -y has ${name} signed (${datapath})`, async (context) => {
      const absent = missing(tool);
      if (absent !== undefined) return context.skip(absent);
      await using server = await startUpdatedServer(runtime, {
        journal: `signed-questions-${datapath}`,
        datapath,
      });
      const { address, port } = server.at;
      const { printed } = await run(tool, [
        `@${address}`,
        "-p",
        String(port),
        "-y",
        `${keyText.algorithm}:${keyText.name}:${keyText.secret}`,
        "+norecurse",
        ...words,
      ]);
      assert.match(printed, expect);
      assert.match(printed, /TSIG/);
      assert.doesNotMatch(printed, /could not be validated|Couldn't verify|WARNING|BADSIG|BADKEY/i);
    });
  }

  for (const [what, word, error] of [
    ["an unknown key", `hmac-sha256:stranger:${keyText.secret}`, "BADKEY"],
    ["a wrong secret", `hmac-sha256:${keyText.name}:d3Jvbmcgc2VjcmV0IG9mIHRoZSB0ZXN0cyEh`, "BADSIG"],
    ["the key with another algorithm", `hmac-sha512:${keyText.name}:${keyText.secret}`, "BADKEY"],
  ] as const) {
    test(`${tool} -y with ${what} gets NOTAUTH and ${error} (${datapath})`, async (context) => {
      const absent = missing(tool);
      if (absent !== undefined) return context.skip(absent);
      await using server = await startUpdatedServer(runtime, { journal: `wrong-keys-${datapath}`, datapath });
      const { address, port } = server.at;
      const { printed } = await run(tool, [`@${address}`, "-p", String(port), "-y", word, "www.u.test", "A"]);
      if (tool === "dig") assert.match(printed, /status: NOTAUTH/);
      assert.match(printed, new RegExp(error));
    });
  }

  test(`${tool} -y with a clock an hour off gets BADTIME, signed, with our time (${datapath})`, async (context) => {
    const absent = missing(tool);
    if (absent !== undefined) return context.skip(absent);
    const late = { ...runtime, clock: shiftedClock(runtime, 3_600_000) };
    await using server = await startUpdatedServer(late, { journal: `shifted-${datapath}`, datapath });
    const { address, port } = server.at;
    const word = `${keyText.algorithm}:${keyText.name}:${keyText.secret}`;
    const { printed } = await run(tool, [`@${address}`, "-p", String(port), "-y", word, "www.u.test", "A"]);
    // Key, algorithm, time, fudge, a whole MAC, id, error, six octets of our time.
    assert.match(printed, /TSIG\s+hmac-sha256\. \d+ 300 32 \S+ \d+ BADTIME 6 \S+/);
  });
}
