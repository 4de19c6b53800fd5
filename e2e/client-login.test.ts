import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import {
  KubeClient,
  clientFromEnvironment,
  clientFromKubeconfig,
  parseKubeconfig,
  type UntypedObject,
} from "@meridian/controller";
import { configMapType, secretType, type KubeObject, type ResourceType, type Secret } from "@meridian/kube";
import { silentLogger, type LocalSystem, type Runtime } from "@meridian/runtime";
import { nodeLocalSystem, nodeRuntime } from "@meridian/runtime/node";
import { realControlPlaneAbsence, startRealControlPlane } from "./harness/real-control-plane.ts";
import type { RealControlPlane } from "./harness/real-control-plane.ts";

// How clients log in to a real kube-apiserver: as a Pod whose token is replaced and revoked, and by an exec plugin.

const serviceAccountType: ResourceType = {
  ...{ group: "", version: "v1", plural: "serviceaccounts" },
  ...{ kind: "ServiceAccount", namespaced: true },
};
const selfReviewType: ResourceType<SelfReview> = {
  ...{ group: "authentication.k8s.io", version: "v1", plural: "selfsubjectreviews" },
  ...{ kind: "SelfSubjectReview", namespaced: false },
};
interface SelfReview extends KubeObject {
  readonly status?: {
    readonly userInfo?: {
      readonly username?: string;
      readonly groups?: readonly string[];
      readonly extra?: Readonly<Record<string, readonly string[]>>;
    };
  };
}
interface TokenRequest extends KubeObject {
  readonly status?: { readonly token?: string };
}

const namespace = "default";
const absence = await realControlPlaneAbsence();

/** As whom a client counts, and by which of its credentials. */
async function whoAmI(
  client: KubeClient,
): Promise<{ readonly username: string; readonly credential: string }> {
  const { status } = await client.create<SelfReview>(selfReviewType, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "SelfSubjectReview",
    metadata: {},
  });
  const { username = "", extra = {} } = status?.userInfo ?? {};
  return { username, credential: extra["authentication.kubernetes.io/credential-id"]?.[0] ?? "" };
}

describe("logging in to a kube-apiserver", { skip: absence ?? false }, () => {
  let plane: RealControlPlane;
  let runtime: Runtime;
  let folder: string;
  let admin: KubeClient;

  before(async () => {
    plane = await startRealControlPlane();
    folder = await mkdtemp(path.join(tmpdir(), "meridian-login-"));
    runtime = nodeRuntime({ dataFolder: folder, log: silentLogger });
    admin = clientFromKubeconfig(runtime, plane.kubeconfig());
  });
  after(async () => {
    await admin[Symbol.asyncDispose]();
    await plane[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** A token of the service account that is good as long as a Secret is there. */
  async function boundToken(name: string): Promise<string> {
    const metadata = { namespace, name };
    const secret = await admin.create<Secret>(secretType, { apiVersion: "v1", kind: "Secret", metadata });
    const request: TokenRequest & UntypedObject = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { namespace, name: "pod" },
      spec: { boundObjectRef: { apiVersion: "v1", kind: "Secret", name, uid: secret.metadata.uid } },
    };
    const made: TokenRequest = await admin.create(serviceAccountType, request, { subresource: "token" });
    return made.status?.token ?? "";
  }

  it("a Pod goes on without a failed request when its token is replaced and the old one revoked", async () => {
    const metadata = { namespace, name: "pod" };
    await admin.create(serviceAccountType, { apiVersion: "v1", kind: "ServiceAccount", metadata });
    const file = (name: string): string => path.join(folder, name);
    await writeFile(file("namespace"), "shop\n");
    await writeFile(file("ca.crt"), plane.caPem);
    await writeFile(file("token"), await boundToken("first"));
    const { hostname, port } = new URL(plane.url);
    const machine = nodeLocalSystem({ KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port });
    // kubelet's folder, elsewhere.
    const account = "/var/run/secrets/kubernetes.io/serviceaccount/";
    const system: LocalSystem = {
      ...machine,
      readFile: (asked) => machine.readFile(file(asked.replace(account, ""))),
    };
    await using client = await clientFromEnvironment(runtime, { system });
    assert.equal(client.namespace, "shop");
    const first = await whoAmI(client);
    assert.equal(first.username, "system:serviceaccount:default:pod");
    await assert.rejects(client.list(configMapType, { namespace }), {
      reason: "Forbidden",
      message: /^cannot list configmaps default: .*User "system:serviceaccount:default:pod" cannot list/,
    });

    await writeFile(file("token"), await boundToken("second"));
    await admin.delete(secretType, { namespace, name: "first" });
    // The server believes in a token that it has seen for some seconds more.
    const endsAtMs = runtime.clock.monotonicMs() + 60_000;
    let last = first;
    while (last.credential === first.credential) {
      assert.ok(runtime.clock.monotonicMs() < endsAtMs, "the old token was never refused");
      await runtime.clock.sleep(250);
      last = await whoAmI(client);
    }
    assert.equal(last.username, first.username);
  });

  it("an exec plugin's certificate and token log in", async () => {
    const config = JSON.parse(plane.kubeconfig()) as {
      readonly users: { user: Record<string, unknown> }[];
    };
    const [entry] = config.users;
    const pem = (field: string): string => Buffer.from(String(entry?.user[field]), "base64").toString();
    const answers = {
      certificate: {
        clientCertificateData: pem("client-certificate-data"),
        clientKeyData: pem("client-key-data"),
      },
      token: { token: plane.tokens.restricted },
    };
    for (const [name, status] of Object.entries(answers)) {
      const answer = path.join(folder, `${name}.json`);
      const apiVersion = "client.authentication.k8s.io/v1";
      await writeFile(answer, JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
      entry!.user = { exec: { apiVersion, command: "cat", args: [answer], interactiveMode: "Never" } };
      const kubeconfig = parseKubeconfig(JSON.stringify(config));
      await using client = clientFromKubeconfig(runtime, kubeconfig, { system: nodeLocalSystem() });
      const { username } = await whoAmI(client);
      assert.equal(username, name === "certificate" ? "admin" : "restricted");
    }
  });
});
