import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { HttpClientRequest } from "@meridian/runtime";
import { fakeSystem } from "../../testdata/fake-system.ts";
import type { FakeSystem } from "../../testdata/fake-system.ts";
import { json, scriptedWorld } from "../../testdata/scripted-http.ts";
import type { ScriptedAnswer, ScriptedWorld } from "../../testdata/scripted-http.ts";
import type { KubeClient } from "../kube-client.ts";
import { clientFromKubeconfig } from "./connection-from-kubeconfig.ts";
import { parseKubeconfig } from "./kubeconfig.ts";

const path = "/home/ada/.kube/config";
const ref = { namespace: "n", name: "a" };

/** An unsigned token that ends at `endsAtMs`. */
const idToken = (endsAtMs: number, name: string): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ exp: Math.floor(endsAtMs / 1000), name })}.`;
};

interface World extends ScriptedWorld {
  readonly system: FakeSystem;
  /** Refresh tokens that were used, in order; each may be used once. */
  readonly used: string[];
  /** Another process that reads the same kubeconfig. */
  readonly open: () => Promise<KubeClient>;
  readonly ask: (client: KubeClient) => Promise<unknown>;
}

/** An OpenID provider that takes each refresh token once, a kubeconfig, and processes that read it. */
function world(options: { readonly idTokenEndsMs?: number } = {}): World {
  const used: string[] = [];
  const scripted = scriptedWorld((request) => answer(request));
  const { simulation, runtime } = scripted;
  const system = fakeSystem({
    files: {
      [path]: `# kept
current-context: c
contexts: [{name: c, context: {cluster: c, user: ada}}]
clusters: [{name: c, cluster: {server: "https://10.0.0.2:6443"}}]
users:
- name: ada
  user:
    auth-provider:
      name: oidc
      config:
        client-id: kube
        client-secret: s3cr3t
        idp-issuer-url: https://idp/realm
        id-token: ${idToken(runtime.clock.now() + (options.idTokenEndsMs ?? 60_000), "first")}
        refresh-token: r0
`,
    },
  });

  function answer({ target, body }: HttpClientRequest): ScriptedAnswer {
    if (target === "/realm/.well-known/openid-configuration")
      return json({ token_endpoint: "https://idp/token" });
    if (target !== "/token") return json({ metadata: ref });
    const form = new URLSearchParams(new TextDecoder().decode(body));
    const refreshToken = form.get("refresh_token") ?? "";
    assert.equal(form.get("client_secret"), "s3cr3t");
    used.push(refreshToken);
    if (refreshToken !== `r${used.length - 1}`) return json({ error: "invalid_grant" }, 400);
    const fresh = idToken(runtime.clock.now() + 60_000, `number ${used.length}`);
    return { ...json({ id_token: fresh, refresh_token: `r${used.length}` }), delayMs: 200 };
  }

  return {
    ...scripted,
    system,
    used,
    async open() {
      const text = new TextDecoder().decode(await system.readFile(path));
      return clientFromKubeconfig(runtime, parseKubeconfig(text, { path }), { system });
    },
    ask: (client) => simulation.complete(client.get(configMapType, ref)),
  };
}

test("a token is used until it ends, and is then renewed once for all requests (kubernetes-client/javascript#399)", async () => {
  const { open, ask, used, simulation, system } = world();
  const client = await open();
  await ask(client);
  assert.deepEqual(used, []);
  await simulation.run({ untilMs: 60_000 });
  await simulation.complete(Promise.all(Array.from({ length: 10 }, () => client.get(configMapType, ref))));
  assert.deepEqual(used, ["r0"]);
  const kept = system.files.get(path) ?? "";
  assert.match(kept, /^# kept\n/);
  assert.match(kept, /refresh-token: r1\n/);
  assert.equal(system.files.has(`${path}.lock`), false);
});

test("processes with one kubeconfig never use a refresh token twice (kubernetes-client/javascript#399)", async () => {
  const { open, simulation, used } = world({ idTokenEndsMs: 0 });
  const clients = [await open(), await open(), await open()];
  const asking = clients.map((client) => client.get(configMapType, ref));
  await simulation.complete(Promise.all(asking));
  assert.deepEqual(used, ["r0"]);
  await simulation.run({ untilMs: simulation.nowMs + 60_000 });
  await simulation.complete(Promise.all(clients.map((client) => client.get(configMapType, ref))));
  assert.deepEqual(used, ["r0", "r1"]);
});

test("a refresh token that could not be written to the kubeconfig is used next, not the one that is used up", async () => {
  const { open, ask, used, simulation, system } = world({ idTokenEndsMs: 0 });
  const replaceFile = system.replaceFile.bind(system);
  const client = await open();
  Object.assign(system, { replaceFile: () => Promise.reject(new Error("no space left on device")) });
  await assert.rejects(ask(client), /no space left on device/);
  await ask(client);
  Object.assign(system, { replaceFile });
  await simulation.run({ untilMs: simulation.nowMs + 120_000 });
  await ask(client);
  assert.deepEqual(used, ["r0", "r1"]);
  assert.match(system.files.get(path) ?? "", /refresh-token: r2\n/);
});

test("a refresh token that somebody has used is told of, without tokens", async () => {
  const { open, ask, used } = world({ idTokenEndsMs: 0 });
  used.push("r0");
  const client = await open();
  for (let count = 0; count < 5; count++) {
    await assert.rejects(ask(client), {
      reason: "CredentialUnavailable",
      message:
        'cannot get configmaps n/a: cannot renew the id token of user "ada": https://idp/token answered HTTP 400: invalid_grant (CredentialUnavailable)',
    });
  }
  assert.deepEqual(used, ["r0", "r0"]); // the provider was asked once
});

test("tokens that have no file are never renewed: the new ones would be lost", async () => {
  const { system, runtime, ask, used } = world({ idTokenEndsMs: 0 });
  const client = clientFromKubeconfig(runtime, parseKubeconfig(system.files.get(path) ?? ""), { system });
  await assert.rejects(ask(client), /could not be kept; read the kubeconfig from its file/);
  assert.deepEqual(used, []);
});

test("a lock that nobody takes away is told of", async () => {
  const { open, ask, system } = world({ idTokenEndsMs: 0 });
  system.files.set(`${path}.lock`, "");
  await assert.rejects(ask(await open()), /config\.lock has been there for 10 s; remove it/);
});
