import assert from "node:assert/strict";
import { test } from "node:test";
import { connectionFromKubeconfig } from "./kubeconfig.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: eu
contexts:
- {name: eu, context: {cluster: eu, user: admin, namespace: shop}}
- {name: files, context: {cluster: files, user: files}}
- {name: plain, context: {cluster: plain}}
- {name: exec, context: {cluster: plain, user: exec}}
- {name: basic, context: {cluster: plain, user: basic}}
- {name: lost, context: {cluster: nowhere, user: admin}}
clusters:
- {name: eu, cluster: {server: "https://127.0.1.1:6443", certificate-authority-data: ${base64("CA")}, tls-server-name: api}}
- {name: files, cluster: {server: "https://h:1", certificate-authority: ca.pem, insecure-skip-tls-verify: true}}
- {name: plain, cluster: {server: "http://h:1"}}
users:
- {name: admin, user: {token: abc, client-certificate-data: ${base64("CERT")}, client-key-data: ${base64("KEY")}}}
- {name: files, user: {tokenFile: token, client-certificate: cert.pem, client-key: key.pem}}
- {name: exec, user: {exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}}}
- {name: basic, user: {username: me, password: hunter2}}
`;

test("the current context gives address, namespace, CA and credentials", async () => {
  assert.deepEqual(await connectionFromKubeconfig(kubeconfig), {
    origin: "https://127.0.1.1:6443",
    namespace: "shop",
    token: "abc",
    tls: { caPem: "CA", certificatePem: "CERT", privateKeyPem: "KEY", serverName: "api" },
  });
});

test("files are read by the reader that was given", async () => {
  const readFile = async (path: string): Promise<Uint8Array> => new TextEncoder().encode(`<${path}>`);
  assert.deepEqual(await connectionFromKubeconfig(kubeconfig, { context: "files", readFile }), {
    origin: "https://h:1",
    namespace: "default",
    tokenFile: "token",
    readFile,
    tls: {
      caPem: "<ca.pem>",
      certificatePem: "<cert.pem>",
      privateKeyPem: "<key.pem>",
      insecureSkipVerify: true,
    },
  });
});

test("a context needs no user", async () => {
  assert.deepEqual(await connectionFromKubeconfig(kubeconfig, { context: "plain" }), {
    origin: "http://h:1",
    namespace: "default",
  });
});

const failures: readonly (readonly [string, string, string | undefined, RegExp])[] = [
  ["a context that is not there", kubeconfig, "us", /contexts has no "us"; it has: eu, files/],
  ["a cluster that is not there", kubeconfig, "lost", /clusters has no "nowhere"/],
  ["files without a reader", kubeconfig, "files", /names the file ca.pem/],
  ["no current context", "clusters: []", undefined, /no current context/],
  ["another kind of text", "- a", undefined, /no YAML mapping/],
  ["an exec plugin", kubeconfig, "exec", /user "exec".*exec plugin \(aws\)/],
  ["a password", kubeconfig, "basic", /a name and a password, which is not supported/],
  ["broken YAML", "users: [{token: hunter2", undefined, /not YAML/],
];
for (const [name, text, context, message] of failures) {
  test(`${name} is an error that says what to do, without secrets`, async () => {
    const options = context === undefined ? {} : { context };
    await assert.rejects(connectionFromKubeconfig(text, options), (error: Error) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes("hunter2"));
      return true;
    });
  });
}
