import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { fakeSystem, missing } from "../../testdata/fake-system.ts";
import type { FakeSystem, FakeSystemOptions } from "../../testdata/fake-system.ts";
import { json, scriptedWorld } from "../../testdata/scripted-http.ts";
import type { Script, ScriptedWorld } from "../../testdata/scripted-http.ts";
import type { KubeClient } from "../kube-client.ts";
import { clientFromKubeconfig } from "./connection-from-kubeconfig.ts";
import { parseKubeconfig } from "./kubeconfig.ts";

const apiVersion = "client.authentication.k8s.io/v1";
const printed = (status: object): string => JSON.stringify({ apiVersion, kind: "ExecCredential", status });
const ok = json({ metadata: { name: "a" } });

interface World extends ScriptedWorld {
  readonly system: FakeSystem;
  readonly client: KubeClient;
  readonly get: () => Promise<unknown>;
  readonly pass: (ms: number) => Promise<void>;
  readonly sent: () => readonly string[];
}

function world(run: FakeSystemOptions["run"], options: { script?: Script; exec?: string } = {}): World {
  const scripted = scriptedWorld(options.script ?? (() => ok));
  const system = fakeSystem({ environment: { PATH: "/bin" }, ...(run === undefined ? {} : { run }) });
  const text = `
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://10.0.0.2:6443", certificate-authority-data: Q0E=,
  extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]}}]
users: [{name: u, user: {exec: {command: login, args: [get-token], apiVersion: ${apiVersion}, interactiveMode: IfAvailable,
  installHint: "get it from example.org", env: [{name: PROFILE, value: p}], ${options.exec ?? ""}}}}]`;
  const kubeconfig = parseKubeconfig(text, { path: "/home/ada/.kube/config" });
  const client = clientFromKubeconfig(scripted.runtime, kubeconfig, { system });
  const { simulation } = scripted;
  return {
    ...scripted,
    system,
    client,
    get: () => simulation.complete(client.get(configMapType, { namespace: "n", name: "a" })),
    pass: (ms) => simulation.run({ untilMs: simulation.nowMs + ms }),
    sent: () => scripted.requests.map(({ headers }) => String(headers?.["authorization"])),
  };
}

const wallTime = (runtime: World["runtime"], afterMs: number): string =>
  new Date(runtime.clock.now() + afterMs).toISOString();

test("a plugin runs again before its token ends, and not before that (kubernetes-client/javascript#228)", async () => {
  const five = 5 * 60_000;
  const made = world(async (_, count) =>
    printed({ token: `t${count}`, expirationTimestamp: wallTime(made.runtime, five) }),
  );
  for (let minute = 0; minute < 12; minute++) {
    await made.get();
    await made.pass(60_000);
  }
  // Asked at 0, at 5 (nine tenths of five minutes are over after 4.5) and at 10 minutes.
  assert.equal(made.system.ran.length, 3);
  assert.deepEqual([...new Set(made.sent())], ["Bearer t0", "Bearer t1", "Bearer t2"]);
});

test("a plugin runs again after a 401, and the request is repeated (kubernetes-client/javascript#228)", async () => {
  const script: Script = ({ headers }) =>
    headers?.["authorization"] === "Bearer t0" ? json({ kind: "Status", code: 401 }, 401) : ok;
  const { get, sent, system } = world(async (_, count) => printed({ token: `t${count}` }), { script });
  await get();
  await get();
  assert.deepEqual(sent(), ["Bearer t0", "Bearer t1", "Bearer t1"]);
  assert.equal(system.ran.length, 2);
});

test("a server that refuses whatever a plugin says does not have it run for each request", async () => {
  const refusing: Script = () => json({ kind: "Status", code: 401 }, 401);
  const { get, sent, system, pass } = world(async (_, count) => printed({ token: `t${count}` }), {
    script: refusing,
  });
  for (let count = 0; count < 10; count++) await assert.rejects(get(), { code: 401 });
  assert.equal(system.ran.length, 2);
  assert.equal(sent().length, 11);
  await pass(1000);
  await assert.rejects(get(), { code: 401 });
  assert.equal(system.ran.length, 3);
});

test("a token without an end is kept until it is refused (kubernetes-client/javascript#2666)", async () => {
  for (const none of [{}, { expirationTimestamp: null }, { expirationTimestamp: "" }]) {
    let refused = "";
    const script: Script = ({ headers }) =>
      headers?.["authorization"] === refused ? json({ kind: "Status", code: 401 }, 401) : ok;
    const made = world(async (_, count) => printed({ token: `t${count}`, ...none }), { script });
    for (let day = 0; day < 3; day++) {
      await made.get();
      await made.pass(86_400_000);
    }
    assert.equal(made.system.ran.length, 1);
    refused = "Bearer t0";
    await made.get();
    assert.deepEqual(made.sent().slice(-2), ["Bearer t0", "Bearer t1"]);
  }
});

test("requests that come at once share one run of the plugin", async () => {
  const made = world(async () => {
    await made.runtime.clock.sleep(500);
    return printed({ token: "t" });
  });
  const { client, simulation, system, sent } = made;
  const asking = Array.from({ length: 20 }, () => client.get(configMapType, { namespace: "n", name: "a" }));
  await simulation.complete(Promise.all(asking));
  assert.equal(system.ran.length, 1);
  assert.equal(sent().length, 20);
});

test("a request that gives up leaves the plugin to those who wait for it, too", async () => {
  const made = world(async () => {
    await made.runtime.clock.sleep(500);
    return printed({ token: "t" });
  });
  const { client, simulation } = made;
  const stop = new AbortController();
  const ref = { namespace: "n", name: "a" };
  const given = client.get(configMapType, ref, { signal: stop.signal });
  const waiting = client.get(configMapType, ref);
  const reason = new Error("enough");
  simulation.schedule(100, () => stop.abort(reason));
  await assert.rejects(simulation.complete(given), reason);
  assert.equal(simulation.nowMs, 100);
  await simulation.complete(waiting);
});

test("a plugin's certificate is what the connection is made with", async () => {
  const { get, clientOptions, sent } = world(async () =>
    printed({ clientCertificateData: "CERT", clientKeyData: "KEY" }),
  );
  await get();
  await get();
  assert.deepEqual(
    clientOptions.map(({ tls }) => tls),
    [{ caPem: "CA", certificatePem: "CERT", privateKeyPem: "KEY" }],
  );
  assert.deepEqual(sent(), ["undefined", "undefined"]);
});

test("a plugin is told what the kubeconfig says, and of the cluster where it wants to know", async () => {
  const { get, system } = world(async () => printed({ token: "t" }), { exec: "provideClusterInfo: true" });
  await get();
  const [command] = system.ran;
  assert.deepEqual([command?.file, command?.args], ["login", ["get-token"]]);
  const { KUBERNETES_EXEC_INFO: question, ...rest } = command?.environment ?? {};
  assert.deepEqual(rest, { PATH: "/bin", PROFILE: "p" });
  assert.deepEqual(JSON.parse(question ?? ""), {
    apiVersion,
    kind: "ExecCredential",
    spec: {
      interactive: false,
      cluster: {
        server: "https://10.0.0.2:6443",
        "certificate-authority-data": "Q0E=",
        config: { audience: "x" },
      },
    },
  });
});

const failures: readonly (readonly [string, FakeSystemOptions["run"], RegExp])[] = [
  [
    "is missing",
    () => Promise.reject(missing("login")),
    /no such command; its author says: get it from example.org/,
  ],
  ["fails", async () => ({ exitCode: 3, stderr: "x\nlog in first\n" }), /exit code 3: log in first/],
  [
    "complains without end",
    async () => ({ exitCode: 1, stderr: "x".repeat(1_000_000) }),
    /exit code 1: x{500} \(/,
  ],
  ["prints no JSON", async () => "s3cr3t", /not JSON/],
  ["prints something else", async () => "{}", /did not print an ExecCredential/],
  ["prints nothing to log in with", async () => printed({}), /neither a token nor a certificate/],
  ["prints half a pair", async () => printed({ clientCertificateData: "C" }), /without its key/],
  ["prints no time", async () => printed({ token: "s3cr3t", expirationTimestamp: "soon" }), /is no time/],
  [
    "speaks another version",
    async () => JSON.stringify({ apiVersion: "v0", kind: "ExecCredential", status: { token: "s3cr3t" } }),
    /speaks v0/,
  ],
];
for (const [name, run, message] of failures) {
  test(`a plugin that ${name} is told of, without what it printed`, async () => {
    const { get, system } = world(run);
    for (let count = 0; count < 3; count++) {
      await assert.rejects(get(), (error: Error) => {
        assert.match(error.message, message);
        assert.match(error.message, /exec plugin login of user "u".*\(CredentialUnavailable\)/);
        assert.ok(!JSON.stringify([error.message, error.cause, String(error.stack)]).includes("s3cr3t"));
        return true;
      });
    }
    // A plugin that fails is not run for each request.
    assert.equal(system.ran.length, 1);
  });
}

test("a plugin that fails when its token is due leaves the token in use", async () => {
  const made = world(async (_, count) => {
    if (count > 0) throw new Error("the cloud is away");
    return printed({ token: "t", expirationTimestamp: wallTime(made.runtime, 100_000) });
  });
  await made.get();
  await made.pass(95_000);
  await made.get();
  assert.deepEqual(made.sent(), ["Bearer t", "Bearer t"]);
  assert.equal(made.system.ran.length, 2);
});
