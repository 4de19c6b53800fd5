import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { DnsClient, type Verdict } from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { ChildServer, freePort } from "./child-server.ts";

const absent =
  spawnSync("ldns-testns", []).error === undefined || process.env["CI"] === "true"
    ? false
    : "ldns-testns is not installed: apt-get install ldnsutils";

/** One canned reply: how it is matched, its flags, whether it takes over the question's id, its answer section. */
function entry(
  name: string,
  { match = "", reply = "QR AA NOERROR", adjust = "copy_id", answer = "" },
): string {
  return `ENTRY_BEGIN
MATCH opcode qtype qname ${match}
REPLY ${reply}
${adjust === "" ? "" : `ADJUST ${adjust}`}
SECTION QUESTION
${name}. IN A
SECTION ANSWER
${answer}
ENTRY_END
`;
}

const script = [
  entry("plain.t.test", { answer: "plain.t.test. 10 IN A 192.0.2.1" }),
  entry("chain.t.test", {
    answer: "chain.t.test. 10 IN CNAME end.t.test.\nend.t.test. 10 IN A 192.0.2.2",
  }),
  entry("leads-on.t.test", { answer: "leads-on.t.test. 10 IN CNAME plain.t.test." }),
  entry("cut.t.test", { match: "UDP", reply: "QR AA TC NOERROR", answer: "cut.t.test. 10 IN A 192.0.2.66" }),
  entry("cut.t.test", { match: "TCP", answer: "cut.t.test. 10 IN A 192.0.2.3" }),
  entry("always-cut.t.test", { reply: "QR AA TC NOERROR", answer: "always-cut.t.test. 10 IN A 192.0.2.66" }),
  entry("other-id.t.test", { adjust: "", answer: "other-id.t.test. 10 IN A 192.0.2.66" }),
  entry("echo.t.test", { reply: "NOERROR", answer: "echo.t.test. 10 IN A 192.0.2.66" }),
  entry("refused.t.test", { reply: "QR REFUSED" }),
  entry("none.t.test", { reply: "QR AA NXDOMAIN" }),
].join("\n");

let folder: string;
let server: ChildServer;
let at: Endpoint;
let client: DnsClient;

before(async () => {
  if (absent !== false) return;
  folder = await mkdtemp(path.join(tmpdir(), "meridian-scripted-"));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  const file = path.join(folder, "script");
  await writeFile(file, script);
  at = { address: "127.0.0.1", port: await freePort(runtime) };
  server = await ChildServer.start(["ldns-testns", "-p", String(at.port), file], /Listening on port/);
  client = new DnsClient(runtime);
});

after(async () => {
  if (absent !== false) return;
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function tell(verdict: Verdict): string {
  switch (verdict.state) {
    case "answered":
      return [verdict.outcome, ...verdict.records.map(({ type, data }) => `${type} ${data}`)].join(", ");
    case "refused":
      return verdict.rcode;
    case "unreachable":
      return verdict.reason;
  }
}

const cases: readonly (readonly [name: string, verdict: string])[] = [
  ["plain.t.test", "data, A 192.0.2.1"],
  ["chain.t.test", "data, CNAME end.t.test., A 192.0.2.2"],
  ["leads-on.t.test", "data, CNAME plain.t.test., A 192.0.2.1"],
  ["cut.t.test", "data, A 192.0.2.3"],
  ["always-cut.t.test", "the reply was truncated, and none came over TCP"],
  ["other-id.t.test", "no reply in time"],
  ["echo.t.test", "no reply in time"],
  ["refused.t.test", "REFUSED"],
  ["none.t.test", "nxdomain"],
];
for (const [name, expected] of cases) {
  test(`a canned server's ${name} is: ${expected}`, { skip: absent }, async () => {
    const verdict = await client.query({ name, type: "A", servers: [at], deadlineMs: 1_500 });
    assert.equal(tell(verdict), expected);
  });
}
