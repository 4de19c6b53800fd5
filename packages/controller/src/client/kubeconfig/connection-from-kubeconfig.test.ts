import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import { fakeSystem } from "../../testdata/fake-system.ts";
import { keyPairs } from "../../testdata/key-pairs.ts";
import { json, scriptedWorld } from "../../testdata/scripted-http.ts";
import { clientFromEnvironment } from "./client-from-environment.ts";
import { clientFromKubeconfig, connectionFromKubeconfig } from "./connection-from-kubeconfig.ts";
import { inClusterConnection } from "./in-cluster.ts";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import { loadKubeconfig } from "./load-kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const { runtime } = scriptedWorld(() => json({}));

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: eu
contexts:
- {name: eu, context: {cluster: eu, user: admin, namespace: shop}}
- {name: files, context: {cluster: files, user: files}}
- {name: plain, context: {cluster: plain}}
- {name: bare, context: {cluster: bare}}
- {name: exec, context: {cluster: plain, user: exec}}
- {name: person, context: {cluster: plain, user: person}}
- {name: old, context: {cluster: plain, user: old}}
- {name: basic, context: {cluster: plain, user: basic}}
- {name: two, context: {cluster: plain, user: two}}
- {name: half, context: {cluster: plain, user: half}}
- {name: groups, context: {cluster: plain, user: groups}}
- {name: number, context: {cluster: plain, user: number}}
- {name: lost, context: {cluster: nowhere, user: admin}}
- {name: proxied, context: {cluster: proxied}}
- {name: badproxy, context: {cluster: badproxy}}
- {name: as, context: {cluster: plain, user: as}}
clusters:
- {name: eu, cluster: {server: "https://127.0.1.1:6443", certificate-authority-data: ${base64("CA")}, tls-server-name: api}}
- {name: files, cluster: {server: "https://h:1", certificate-authority: ca.pem, insecure-skip-tls-verify: true}}
- {name: plain, cluster: {server: "http://h:1"}}
- {name: bare, cluster: {server: "h:1", certificate-authority-data: ${base64("CA")}}}
- {name: proxied, cluster: {server: "https://h:1", proxy-url: "socks5://p:1080"}}
- {name: badproxy, cluster: {server: "https://h:1", proxy-url: "ftp://p"}}
users:
- {name: admin, user: {token: abc, client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}}
- {name: files, user: {tokenFile: token, client-certificate: certs/cert.pem, client-key: /abs/key.pem}}
- {name: exec, user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}}}
- {name: person, user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}}}
- {name: old, user: {auth-provider: {name: gcp}}}
- {name: basic, user: {username: me, password: hunter2}}
- {name: two, user: {token: hunter2, username: me, password: hunter2}}
- {name: half, user: {client-certificate-data: ${base64("CERT")}}}
- {name: groups, user: {token: abc, as-groups: [x]}}
- {name: number, user: {token: 12345}}
- {name: as, user: {token: abc, as: eve, as-groups: [g1, g2], as-uid: u, as-user-extra: {scopes/x: [a, b]}}}
`;

test("the current context gives address, namespace, CA and credentials", () => {
  assert.deepEqual(connectionFromKubeconfig(runtime, kubeconfig), {
    origin: "https://127.0.1.1:6443",
    namespace: "shop",
    token: "abc",
    tls: { caPem: "CA", certificatePem: "CERT", privateKeyPem: "KEY", serverName: "api" },
  });
});

test("a context needs no user, a server with a CA no scheme, and a cluster may have a proxy", () => {
  const connection = (context: string): object => connectionFromKubeconfig(runtime, kubeconfig, { context });
  assert.deepEqual(connection("plain"), { origin: "http://h:1", namespace: "default" });
  assert.deepEqual(connection("bare"), { origin: "https://h:1", namespace: "default", tls: { caPem: "CA" } });
  assert.deepEqual(connection("proxied"), {
    origin: "https://h:1",
    namespace: "default",
    proxyUrl: "socks5://p:1080",
  });
});

test("files are relative to the kubeconfig, and followed when they are replaced", async () => {
  const [one, two] = keyPairs;
  const system = fakeSystem({
    files: {
      "/k/ca.pem": "CA",
      "/k/certs/cert.pem": one.certificatePem,
      "/abs/key.pem": one.privateKeyPem,
      "/k/token": "token 1",
    },
  });
  const world = scriptedWorld(() => json({ metadata: { name: "a" } }));
  const { simulation, clientOptions, requests } = world;
  const config = parseKubeconfig(kubeconfig, { path: "/k/config" });
  await using client = clientFromKubeconfig(world.runtime, config, { context: "files", system });
  const get = (): Promise<unknown> =>
    simulation.complete(client.get(configMapType, { namespace: "n", name: "a" }));
  await get();
  await get();
  system.files.set("/k/certs/cert.pem", two.certificatePem);
  system.files.set("/k/token", "token 2");
  await get();
  await simulation.run({ untilMs: 61_000 });
  await get(); // the certificate has come, and its key has not
  system.files.set("/abs/key.pem", two.privateKeyPem);
  await simulation.run({ untilMs: 63_000 });
  await get();
  const tls = { insecureSkipVerify: true, caPem: "CA" };
  assert.deepEqual(clientOptions, [
    { origin: "https://h:1", tls: { ...tls, ...one } },
    { origin: "https://h:1", tls: { ...tls, ...two } },
  ]);
  assert.deepEqual(
    requests.map(({ headers }) => headers?.["authorization"]),
    ["Bearer token 1", "Bearer token 1", "Bearer token 1", "Bearer token 2", "Bearer token 2"],
  );
});

test("the proxy of the environment is taken where the kubeconfig names none", () => {
  const system = fakeSystem({ environment: { HTTPS_PROXY: "http://env:1", NO_PROXY: "127.0.1.1" } });
  const proxyOf = (context: string): string | undefined =>
    connectionFromKubeconfig(runtime, kubeconfig, { context, system }).proxyUrl;
  assert.deepEqual(["bare", "proxied", "eu"].map(proxyOf), ["http://env:1", "socks5://p:1080", undefined]);
});

test("who acts for somebody else says so with each request, group by group", async () => {
  const world = scriptedWorld(() => json({ metadata: { name: "a" } }));
  await using client = clientFromKubeconfig(world.runtime, kubeconfig, { context: "as" });
  await client.get(configMapType, { namespace: "n", name: "a" });
  const { accept: _accept, ...headers } = world.requests[0]?.headers ?? {};
  assert.deepEqual(headers, {
    authorization: "Bearer abc",
    "user-agent": "meridian",
    "impersonate-user": "eve",
    "impersonate-uid": "u",
    "impersonate-group": ["g1", "g2"],
    "impersonate-extra-scopes%2fx": ["a", "b"],
  });
});

test("a name and a password are sent as they are asked for", async () => {
  const world = scriptedWorld(() => json({ metadata: { name: "a" } }));
  await using client = clientFromKubeconfig(world.runtime, kubeconfig, { context: "basic" });
  await client.get(configMapType, { namespace: "n", name: "a" });
  assert.equal(world.requests[0]?.headers?.["authorization"], `Basic ${base64("me:hunter2")}`);
});

const single = (server: string): string =>
  `{current-context: a, contexts: [{name: a, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "${server}"}}]}`;

const failures: readonly (readonly [string, string, string | undefined, RegExp])[] = [
  ["a context that is not there", kubeconfig, "us", /contexts has no "us"; it has: eu, files/],
  ["a cluster that is not there", kubeconfig, "lost", /clusters has no "nowhere"/],
  ["files without a system", kubeconfig, "files", /names the file ca.pem; give the option system/],
  ["no current context", "clusters: []", undefined, /no current context/],
  ["another kind of text", "- a", undefined, /no YAML mapping/],
  ["a plugin without a system", kubeconfig, "exec", /names an exec plugin; give the option system/],
  ["a plugin for people", kubeconfig, "person", /must talk to a person/],
  ["a provider that is gone", kubeconfig, "old", /auth provider "gcp", which Kubernetes has dropped/],
  ["two ways to log in", kubeconfig, "two", /user "two": it logs in with a token and with a name/],
  ["half a certificate", kubeconfig, "half", /client certificate without its key/],
  ["groups of nobody", kubeconfig, "groups", /as-groups or as-user-extra without as/],
  ["a number as a token", kubeconfig, "number", /user "number": token is no text; put it in quotes/],
  ["a proxy of no known kind", kubeconfig, "badproxy", /cluster "badproxy": proxy-url is no address/],
  [
    "a password in the address",
    single("https://me:hunter2@host"),
    undefined,
    /server holds a name or a pass/,
  ],
  ["a password in no address", single("me:hunter2@@"), undefined, /server holds a name or a password/],
  ["broken YAML", "users: [{token: hunter2", undefined, /not YAML/],
  ["an item without a name", "clusters: [{cluster: {}}]", undefined, /an item of clusters has no name/],
];
for (const [name, text, context, message] of failures) {
  test(`${name} is an error that says what to do, without secrets`, () => {
    const options = {
      ...(context === undefined ? {} : { context }),
      ...(context === "person" ? { system: fakeSystem() } : {}),
    };
    assert.throws(
      () => connectionFromKubeconfig(runtime, text, options),
      (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!error.message.includes("hunter2"));
        return true;
      },
    );
  });
}

test("of several kubeconfigs the first to name something has named it", () => {
  const one = `
current-context: a
contexts: [{name: a, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: "https://one"}}]`;
  const two = `
current-context: b
contexts: [{name: a, context: {cluster: d}}, {name: b, context: {cluster: d}}]
clusters: [{name: c, cluster: {server: "https://two"}}, {name: d, cluster: {server: "https://three"}}]`;
  const merged = mergeKubeconfigs([parseKubeconfig(""), parseKubeconfig(one), parseKubeconfig(two)]);
  const originOf = (context?: string): string =>
    connectionFromKubeconfig(runtime, merged, context === undefined ? {} : { context }).origin;
  assert.deepEqual(
    [originOf(), originOf("a"), originOf("b")],
    ["https://one", "https://one", "https://three"],
  );
});

test("kubeconfigs are where kubectl finds them", async () => {
  const files = {
    "/a": single("https://a"),
    "/b": single("https://b"),
    "/home/ada/.kube/config": single("https://home"),
  };
  const originOf = async (variable: string | undefined, path?: string): Promise<string> => {
    const system = fakeSystem({ files, environment: { KUBECONFIG: variable } });
    const config = await loadKubeconfig(system, path === undefined ? {} : { path });
    return connectionFromKubeconfig(runtime, config).origin;
  };
  assert.equal(await originOf(undefined), "https://home");
  assert.equal(await originOf("/missing:/b:/a"), "https://b");
  assert.equal(await originOf("/b", "/a"), "https://a");
  await assert.rejects(originOf("/missing:/gone"), {
    code: "InvalidKubeconfig",
    message: "cannot use the kubeconfig /missing, /gone: KUBECONFIG names no file that exists",
  });
  await assert.rejects(originOf("/b", "/missing"), {
    code: "InvalidKubeconfig",
    message: "cannot use the kubeconfig /missing: there is no such file",
  });
  assert.equal((await loadKubeconfig(fakeSystem())).currentContext, undefined);
});

const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const pod = {
  environment: {
    KUBERNETES_SERVICE_HOST: "fd00::1",
    KUBERNETES_SERVICE_PORT: "443",
    HTTPS_PROXY: "http://p:1",
  },
  files: { [`${account}/token`]: "t\n", [`${account}/ca.crt`]: "CA", [`${account}/namespace`]: "shop" },
};

test("a Pod connects as its service account, in its namespace, without a proxy", async () => {
  const world = scriptedWorld(() => json({ metadata: { name: "a" } }));
  await using client = await clientFromEnvironment(world.runtime, { system: fakeSystem(pod) });
  assert.deepEqual([client.origin, client.namespace], ["https://[fd00::1]:443", "shop"]);
  await client.get(configMapType, { namespace: "n", name: "a" });
  assert.deepEqual(world.clientOptions, [{ origin: "https://[fd00::1]:443", tls: { caPem: "CA" } }]);
  assert.equal(world.requests[0]?.headers?.["authorization"], "Bearer t");
  await assert.rejects(inClusterConnection(world.runtime, fakeSystem()), /this is no Pod/);
});

test("a kubeconfig that was named goes before the Pod, and the Pod before the one at home", async () => {
  const files = { ...pod.files, "/k": single("https://k"), "/home/ada/.kube/config": single("https://home") };
  const originOf = async (environment: Record<string, string>, kubeconfig?: string): Promise<string> => {
    const named = kubeconfig === undefined ? {} : { kubeconfig };
    const system = fakeSystem({ files, environment });
    return (await clientFromEnvironment(runtime, { system, ...named })).origin;
  };
  assert.equal(await originOf({ ...pod.environment, KUBECONFIG: "/k" }), "https://k");
  assert.equal(await originOf(pod.environment, "/k"), "https://k");
  assert.equal(await originOf(pod.environment), "https://[fd00::1]:443");
  assert.equal(await originOf({}), "https://home");
});
