import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { silentLogger, type TlsServerIdentity } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import { toFrame } from "../message/frame-reader.ts";
import { caseZoneText, concat, hex, loadZone, question } from "../testdata/case-zone.ts";
import { Authority } from "./authority.ts";
import { serveDns, type DnsServer } from "./serve-dns.ts";

const run = promisify(execFile);
const address = "127.0.0.1";

let folder: string;
let server: DnsServer;
let ports: { readonly plain: number; readonly tls: number; readonly https: number };
const identities: TlsServerIdentity[] = [];

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "meridian-streams-"));
  for (const name of ["one", "two"]) identities.push(await makeIdentity(name));
  const runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
  const authority = new Authority(runtime);
  authority.setZone(loadZone(caseZoneText));
  const listen = [{ address, port: 0 }];
  const tls = { listen, identity: identities[0]! };
  server = await serveDns(runtime, {
    authority,
    listen,
    tls,
    https: tls,
    proxies: ["127.0.0.9"],
    closeGraceMs: 200,
  });
  ports = {
    plain: server.local[0]!.port,
    tls: server.localTls[0]!.port,
    https: server.localHttps[0]!.port,
  };
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function makeIdentity(name: string): Promise<TlsServerIdentity> {
  const [key, certificate] = [path.join(folder, `${name}.key`), path.join(folder, `${name}.pem`)];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const names = ["-subj", `/CN=${name}.test`, "-addext", "subjectAltName=DNS:dns.test,IP:127.0.0.1"];
  await run("openssl", [...words, ...names, "-days", "2", "-keyout", key, "-out", certificate]);
  return {
    certificatePem: await readFile(certificate, "utf8"),
    privateKeyPem: await readFile(key, "utf8"),
  };
}

/** What a tool prints, or `undefined` where it is not installed; on CI it must be. */
async function output(tool: string, words: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(tool, words, { timeout: 20_000 });
    return stdout;
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT" || process.env["CI"] === "true") throw error;
    return undefined;
  }
}

type Port = "plain" | "tls" | "https";

const cases: readonly {
  readonly name: string;
  readonly tool: string;
  readonly port: Port;
  readonly words: readonly string[];
  readonly expect: readonly RegExp[];
}[] = [
  {
    name: "three questions on one connection",
    tool: "dig",
    port: "plain",
    words: ["+tcp", "+keepopen", "www.p.test", "A", "many.p.test", "A", "nx.p.test", "A"],
    expect: [/ANSWER: 2,/, /ANSWER: 100,/, /NXDOMAIN/],
  },
  {
    name: "DNS over TLS",
    tool: "dig",
    port: "tls",
    words: ["+tls", "www.p.test", "A"],
    expect: [/ANSWER: 2,/, /\(TLS\)/],
  },
  {
    name: "DNS over HTTPS by GET",
    tool: "dig",
    port: "https",
    words: ["+https-get", "www.p.test", "A"],
    expect: [/ANSWER: 2,/, /\(HTTPS/],
  },
  {
    name: "DNS over HTTPS by POST",
    tool: "dig",
    port: "https",
    words: ["+https", "many.p.test", "A"],
    expect: [/ANSWER: 100,/],
  },
  {
    name: "DNS over TLS, padded to a block",
    tool: "kdig",
    port: "tls",
    words: ["+tls", "+padding=128", "+bufsize=1232", "www.p.test", "A"],
    expect: [/status: NOERROR/, /PADDING: \d+/, /Received 468 B/],
  },
  {
    name: "DNS over TLS without padding",
    tool: "kdig",
    port: "tls",
    words: ["+tls", "+nopadding", "www.p.test", "A"],
    expect: [/status: NOERROR/, /Received \d{2} B/],
  },
  {
    name: "DNS over HTTPS, padded",
    tool: "kdig",
    port: "https",
    words: ["+https", "+padding=128", "www.p.test", "A"],
    expect: [/status: NOERROR/, /HTTP\/2/, /Received 468 B/],
  },
];

for (const { name, tool, port, words, expect } of cases) {
  test(`${tool}: ${name}`, async (context) => {
    const text = await output(tool, [`@${address}`, "-p", String(ports[port]), ...words]);
    if (text === undefined) return context.skip(`${tool} is not installed`);
    for (const pattern of expect) assert.match(text, pattern);
  });
}

const base64url = Buffer.from(question("www.p.test", "A")).toString("base64url");
const dohType = "content-type: application/dns-message";

for (const [name, status, words, target] of [
  ["an answer over HTTP/2", "200 2", ["--http2"], `/dns-query?dns=${base64url}`],
  ["an answer over HTTP/1.1", "200 1.1", ["--http1.1"], `/dns-query?dns=${base64url}`],
  ["a short message", "400 2", [], "/dns-query?dns=AAAAAAA"],
  ["another path", "404 2", [], `/other?dns=${base64url}`],
  ["another method", "405 2", ["-X", "DELETE"], "/dns-query"],
  ["another type", "415 2", ["--data", "x"], "/dns-query"],
  ["a long body", "413 2", ["-H", dohType, "--data-binary", "x".repeat(20_000)], "/dns-query"],
  ["a long target", "414 2", [], `/dns-query?dns=${"A".repeat(25_000)}`],
] as const) {
  test(`curl: ${name} over HTTPS is ${status}`, async (context) => {
    const text = await output("curl", [
      ...["-sk", "-o", path.join(folder, "body"), "-w", "%{http_code} %{http_version} %{content_type}"],
      ...words,
      `https://${address}:${ports.https}${target}`,
    ]);
    if (text === undefined) return context.skip("curl is not installed");
    assert.ok(text.startsWith(status), text);
    assert.equal(text.includes("application/dns-message"), status.startsWith("200"));
  });
}

for (const [mode, port] of [
  ["tcp", "plain"],
  ["dot", "tls"],
] as const) {
  test(`dnsperf: no question over ${mode} is lost`, async (context) => {
    const file = path.join(folder, "questions");
    await writeFile(file, "www.p.test A\nmany.p.test A\nnx.p.test A\n".repeat(1_000));
    const words = ["-s", address, "-p", String(ports[port]), "-d", file, "-m", mode, "-n", "2", "-c", "4"];
    const text = await output("dnsperf", words);
    if (text === undefined) return context.skip("dnsperf is not installed");
    assert.match(text, /Queries lost:\s+0 /);
    assert.match(text, /Queries completed:\s+6000 /);
  });
}

test("a new certificate is used from the next handshake on, and open connections go on", async () => {
  const old = connectTls({
    host: address,
    port: ports.tls,
    rejectUnauthorized: false,
    ALPNProtocols: ["dot"],
  });
  await once(old, "secureConnect");
  assert.equal(old.getPeerCertificate().subject.CN, "one.test");
  assert.equal(old.alpnProtocol, "dot");
  server.setIdentity(identities[1]!);
  assert.throws(
    () => server.setIdentity({ ...identities[1]!, privateKeyPem: identities[0]!.privateKeyPem }),
    { code: "Broken" },
  );
  for (const port of [ports.tls, ports.https]) {
    const fresh = connectTls({ host: address, port, rejectUnauthorized: false });
    await once(fresh, "secureConnect");
    assert.equal(fresh.getPeerCertificate().subject.CN, "two.test");
    fresh.destroy();
  }
  old.write(toFrame(question("www.p.test", "A")));
  const [answer] = (await once(old, "data")) as [Buffer];
  assert.equal(answer.readUInt16BE(8), 2);
  old.destroy();
});

test("what is no TLS ends that connection only", async () => {
  const socket = connectTcp({ host: address, port: ports.tls });
  socket.write("GET / HTTP/1.1\r\n\r\n");
  await closed(socket);
  const next = connectTls({ host: address, port: ports.tls, rejectUnauthorized: false });
  await once(next, "secureConnect");
  next.destroy();
});

test("a proxy's header comes before the handshake of TLS, and is required", async () => {
  const header = hex("0d0a0d0a000d0a515549540a 21 11 000c c0000207 c0000201 1234 0035");
  const proxied = connectTcp({ host: address, port: ports.tls, localAddress: "127.0.0.9" });
  proxied.write(header);
  await once(proxied, "connect");
  const inside = connectTls({ socket: proxied, rejectUnauthorized: false });
  await once(inside, "secureConnect");
  inside.write(toFrame(question("www.p.test", "A")));
  const [answer] = (await once(inside, "data")) as [Buffer];
  assert.equal(answer.readUInt16BE(8), 2);
  inside.destroy();

  const bare = connectTcp({ host: address, port: ports.plain, localAddress: "127.0.0.9" });
  bare.write(toFrame(question("www.p.test", "A")));
  await closed(bare);
});

test("a connection is answered to its end although its client has closed its side", async () => {
  const socket = connectTcp({ host: address, port: ports.plain, allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  socket.end(concat(...Array.from({ length: 500 }, () => toFrame(question("many.p.test", "A")))));
  await once(socket, "end");
  let octets = 0;
  for (const chunk of chunks) octets += chunk.length;
  const each = Buffer.concat(chunks).readUInt16BE(0) + 2;
  assert.equal(octets, 500 * each);
});

test(
  "10,000 idle connections cost little, and questions are still answered",
  { timeout: 120_000 },
  async (context) => {
    const child = spawn("sh", ["-c", `ulimit -n 11000 && exec "${process.execPath}" "${idleServer()}"`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = linesOf(child.stdout);
    const first = await lines.next();
    if (first.done === true) return context.skip("more open files are not allowed here");
    const port = Number(first.value);
    // The clients are a process of their own as well, since this one may not open as many.
    const clients = spawn(
      "sh",
      ["-c", `ulimit -n 11000 && exec "${process.execPath}" "${idleServer()}" ${port}`],
      {
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    try {
      assert.equal((await linesOf(clients.stdout).next()).value, "connected 10000");
      let report = { open: 0, grownMiB: 0 };
      // The kernel connects clients before the server has accepted them.
      while (report.open < 10_000) {
        child.stdin.write("report\n");
        report = JSON.parse(String((await lines.next()).value)) as typeof report;
      }
      const { open, grownMiB } = report;
      context.diagnostic(`${grownMiB} MiB more`);
      assert.equal(open, 10_000);
      assert.ok(grownMiB < 250, `${grownMiB} MiB more`);
      const asker = connectTcp({ host: address, port });
      asker.write(toFrame(question("www.p.test", "A")));
      const [answer] = (await once(asker, "data")) as [Buffer];
      assert.equal(answer.readUInt16BE(8), 2);
      asker.destroy();
    } finally {
      clients.kill("SIGKILL");
      child.kill("SIGKILL");
    }
  },
);

/** Resolves when the connection is gone, by a reset, too. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.resume();
  });
}

test(
  "a server out of file descriptors goes on answering, and accepts again when there are some",
  { timeout: 60_000 },
  async () => {
    const child = spawn("sh", ["-c", `ulimit -n 100 && exec "${process.execPath}" "${idleServer()}"`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const clients: Socket[] = [];
    try {
      const port = Number((await linesOf(child.stdout).next()).value);
      for (let index = 0; index < 300; index++) {
        const socket = connectTcp({ host: address, port });
        socket.on("error", () => {});
        clients.push(socket);
      }
      // Datagrams need no descriptor of their own.
      assert.equal((await askUdp(port)).readUInt16BE(6), 2);
      for (const socket of clients) socket.destroy();
      const asker = await askTcpUntilAnswered(port);
      assert.equal(asker.readUInt16BE(8), 2);
      assert.equal(child.exitCode, null);
    } finally {
      child.kill("SIGKILL");
    }
  },
);

async function askUdp(port: number): Promise<Buffer> {
  const socket = createSocket("udp4");
  socket.send(question("www.p.test", "A"), port, address);
  const [answer] = (await once(socket, "message")) as [Buffer];
  socket.close();
  return answer;
}

/** While descriptors are short, connections are closed at once. */
async function askTcpUntilAnswered(port: number): Promise<Buffer> {
  for (;;) {
    const socket = connectTcp({ host: address, port });
    socket.write(toFrame(question("www.p.test", "A")));
    const answer = await new Promise<Buffer | undefined>((resolve) => {
      socket.on("data", resolve).on("close", () => resolve(undefined));
      socket.on("error", () => {});
    });
    socket.destroy();
    if (answer !== undefined) return answer;
  }
}

function idleServer(): string {
  return path.join(import.meta.dirname, "../testdata/idle-connections.js");
}

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop()!;
    yield* parts;
  }
}
