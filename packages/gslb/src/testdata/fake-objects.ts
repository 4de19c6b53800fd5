import type { KubeClient } from "@meridian/controller";
import { alreadyExists, conflict, notFound, type KubeObject, type ResourceType } from "@meridian/kube";

/** An API server's objects in a map: names are taken once, and a write names the version that it saw. */
export class FakeObjects {
  readonly objects: Map<string, KubeObject> = new Map();
  writes = 0;
  /** When set, every request fails with it. */
  failure: Error | undefined;

  readonly client: Pick<KubeClient, "get" | "list" | "create" | "update" | "delete"> = {
    get: async <T extends KubeObject>(type: ResourceType, ref: { readonly namespace?: string; readonly name: string }): Promise<T> => {
      const found = this.#reach(type, ref);
      if (found === undefined) throw notFound(type, ref.name);
      return found as T;
    },
    list: async <T extends KubeObject>(type: ResourceType): Promise<{ apiVersion: string; kind: string; metadata: object; items: readonly T[] }> => {
      if (this.failure !== undefined) throw this.failure;
      const items = [...this.objects].flatMap(([key, object]) => (key.startsWith(`${type.plural} `) ? [object as T] : []));
      return { apiVersion: "v1", kind: "List", metadata: {}, items };
    },
    create: async <T extends KubeObject>(type: ResourceType, object: T): Promise<T> => {
      const name = object.metadata.name ?? "";
      if (this.#reach(type, { ...object.metadata, name }) !== undefined) throw alreadyExists(type, name);
      return this.#put(type, object);
    },
    update: async <T extends KubeObject>(type: ResourceType, object: T): Promise<T> => {
      const name = object.metadata.name ?? "";
      const found = this.#reach(type, { ...object.metadata, name });
      if (found === undefined) throw notFound(type, name);
      if (found.metadata.resourceVersion !== object.metadata.resourceVersion) throw conflict(type, name, "it was changed");
      return this.#put(type, object);
    },
    delete: async (type, ref) => {
      const found = this.#reach(type, ref);
      if (found === undefined) throw notFound(type, ref.name);
      this.writes += 1;
      this.objects.delete(keyOf(type, ref));
      return found;
    },
  };

  #reach(type: ResourceType, ref: { readonly namespace?: string; readonly name: string }): KubeObject | undefined {
    if (this.failure !== undefined) throw this.failure;
    return this.objects.get(keyOf(type, ref));
  }

  #put<T extends KubeObject>(type: ResourceType, object: T): T {
    this.writes += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.writes) } };
    this.objects.set(keyOf(type, { ...object.metadata, name: object.metadata.name ?? "" }), stored);
    return stored;
  }
}

function keyOf(type: ResourceType, { namespace = "", name }: { readonly namespace?: string; readonly name: string }): string {
  return `${type.plural} ${namespace}/${name}`;
}
