import { clientFromKubeconfig, type KubeClient } from "@meridian/controller";
import type { KubeObject, ResourceType } from "@meridian/kube";
import { silentLogger } from "@meridian/runtime";
import { nodeRuntime } from "@meridian/runtime/node";
import type {
  AllowedAccess,
  CopyForm,
  Credential,
  ServerUnderTest,
  ServerUser,
} from "../../test/conformance/controller/server-under-test.ts";
import type { TcpProxy } from "../../test/conformance/tcp-proxy.ts";
import { startRealControlPlane } from "./real-control-plane.ts";
import type { RealControlPlane, RealControlPlaneOptions } from "./real-control-plane.ts";

const rbac = { group: "rbac.authorization.k8s.io", version: "v1", namespaced: true } as const;
const roles: ResourceType = { ...rbac, plural: "roles", kind: "Role" };
const roleBindings: ResourceType = { ...rbac, plural: "rolebindings", kind: "RoleBinding" };

interface Role extends KubeObject {
  readonly rules: readonly object[];
}

interface RoleBinding extends KubeObject {
  readonly roleRef: object;
  readonly subjects: readonly object[];
}

/** A real kube-apiserver with etcd, for the suite of the controller library. */
export class RealServer implements ServerUnderTest {
  readonly name = "kube-apiserver";
  readonly plane: RealControlPlane;
  readonly copies: CopyForm;
  readonly #client: KubeClient;
  #roles = 0;

  private constructor(plane: RealControlPlane, client: KubeClient, copies: CopyForm) {
    this.copies = copies;
    this.plane = plane;
    this.#client = client;
  }

  static async start(
    options: RealControlPlaneOptions & { readonly copies?: CopyForm } = {},
  ): Promise<RealServer> {
    const plane = await startRealControlPlane(options);
    const runtime = nodeRuntime({ dataFolder: plane.folder, log: silentLogger });
    return new RealServer(
      plane,
      clientFromKubeconfig(runtime, plane.kubeconfig("admin")),
      options.copies ?? {},
    );
  }

  kubeconfig(user: ServerUser, options: { readonly url?: string; readonly by?: Credential } = {}): string {
    return this.plane.kubeconfig(user, options);
  }

  proxy(): Promise<TcpProxy & { readonly url: string }> {
    return this.plane.proxy();
  }

  async allow({ namespace, group, resource, verbs }: AllowedAccess): Promise<void> {
    const name = `allowed-${++this.#roles}`;
    await this.#client.create<Role>(roles, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name, namespace },
      rules: [{ apiGroups: [group], resources: [resource], verbs }],
    });
    await this.#client.create<RoleBinding>(roleBindings, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name, namespace },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "restricted" }],
    });
  }

  async forgetHistory(): Promise<void> {
    await this.plane.compact();
    // Its watch cache would go on to serve the past.
    await this.plane.restart("killed");
  }

  restart(how: "in order" | "killed"): Promise<void> {
    return this.plane.restart(how);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.plane[Symbol.asyncDispose]();
  }
}
