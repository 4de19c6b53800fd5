import { compareKubeVersions } from "@meridian/kube";
import type { ResourceDefinition, ServedResource } from "./definition.ts";

/**
 * The resources that are served now. Definitions come and go; each change replaces the definition as a whole, so
 * whoever holds one sees a consistent kind, and compares by identity to learn that it was replaced.
 */
export class ResourceRegistry {
  readonly #byKey = new Map<string, ResourceDefinition>();
  readonly #listeners = new Set<() => void>();
  #generation = 0;

  constructor(definitions: readonly ResourceDefinition[]) {
    for (const definition of definitions) this.#byKey.set(registryKey(definition), definition);
  }

  /** Rises with each change: caches that derive from all definitions compare it. */
  get generation(): number {
    return this.#generation;
  }

  set(definition: ResourceDefinition): void {
    this.#byKey.set(registryKey(definition), definition);
    this.#changed();
  }

  delete(of: { readonly group: string; readonly plural: string }): void {
    if (this.#byKey.delete(registryKey(of))) this.#changed();
  }

  get(of: { readonly group: string; readonly plural: string }): ResourceDefinition | undefined {
    return this.#byKey.get(registryKey(of));
  }

  /** The resource in a version that is served. */
  served(of: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
  }): ServedResource | undefined {
    const definition = this.get(of);
    const version = definition?.versions.find(({ name, served }) => served && name === of.version);
    return definition !== undefined && version !== undefined ? { definition, version } : undefined;
  }

  /** The resource of a kind, in the version named or else in any: owner references outlive versions. */
  ofKind(of: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }): ServedResource | undefined {
    for (const definition of this.#byKey.values()) {
      if (definition.group !== of.group || definition.kind !== of.kind) continue;
      const versions = definition.versions.filter(({ served }) => served);
      const version = versions.find(({ name }) => name === of.version) ?? versions[0];
      if (version !== undefined) return { definition, version };
    }
    return undefined;
  }

  /** The resource whose objects rest in a folder of the store, in its preferred version. */
  ofFolder(folder: string): ServedResource | undefined {
    for (const definition of this.#byKey.values()) {
      const version = definition.versions[0];
      if (definition.stored.folder === folder && version !== undefined) return { definition, version };
    }
    return undefined;
  }

  all(): readonly ResourceDefinition[] {
    return [...this.#byKey.values()];
  }

  /** Groups with what they serve: built-in groups first, then by name; versions and plurals in their order. */
  groups(): readonly ApiGroup[] {
    const groups = new Map<string, Map<string, ServedResource[]>>();
    for (const definition of this.#byKey.values()) {
      for (const version of definition.versions) {
        if (!version.served) continue;
        const versions = groups.get(definition.group) ?? new Map<string, ServedResource[]>();
        groups.set(definition.group, versions);
        const resources = versions.get(version.name) ?? [];
        versions.set(version.name, resources);
        resources.push({ definition, version });
      }
    }
    return [...groups]
      .map(([name, versions]) => ({
        name,
        custom: [...versions.values()].flat().every(({ definition }) => definition.custom),
        versions: [...versions]
          .sort(([a], [b]) => compareKubeVersions(a, b))
          .map(([version, resources]) => ({
            name: version,
            resources: resources.sort((a, b) => (a.definition.plural < b.definition.plural ? -1 : 1)),
          })),
      }))
      .sort((a, b) => Number(a.custom) - Number(b.custom) || (a.custom && a.name > b.name ? 1 : 0));
  }

  /** Calls `listener` after each change until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    this.#generation++;
    for (const listener of [...this.#listeners]) listener();
  }
}

/** A group as discovery shows it. */
export interface ApiGroup {
  readonly name: string;
  readonly custom: boolean;
  readonly versions: readonly { readonly name: string; readonly resources: readonly ServedResource[] }[];
}

function registryKey(of: { readonly group: string; readonly plural: string }): string {
  return `${of.group}/${of.plural}`;
}
