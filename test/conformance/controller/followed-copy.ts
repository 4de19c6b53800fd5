import assert from "node:assert/strict";
import type { Informer, InformerOptions } from "@meridian/controller";
import { HandlerHistory } from "@meridian/controller/testing";
import { configMapType, type ConfigMap } from "@meridian/kube";
import type { CaseWorld } from "./case-world.ts";

/** An informer of ConfigMaps with a handler that checks each step it is told, both to be held against the server. */
export class FollowedCopy {
  readonly informer: Informer<ConfigMap>;
  readonly #history = new HandlerHistory<ConfigMap>();
  readonly #world: CaseWorld;
  readonly #selection: Pick<InformerOptions<ConfigMap>, "namespace" | "labelSelector" | "fieldSelector">;

  constructor(world: CaseWorld, options: Partial<InformerOptions<ConfigMap>>) {
    this.#world = world;
    const { labelSelector, fieldSelector, namespace = world.namespace } = options;
    this.#selection = {
      namespace,
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    this.informer = world.inform<ConfigMap>({ ...options, namespace, type: configMapType });
    this.informer.addHandler(this.#history.handler);
  }

  /**
   * Waits until the copy holds exactly what the server does, and checks that its handler was told of each step. Nobody may
   * write meanwhile.
   */
  async catchUp(): Promise<void> {
    const { items } = await this.#world.client.list<ConfigMap>(configMapType, this.#selection);
    const expected = statesOf(items);
    await this.#world.eventually("the copy is what the server holds", () => {
      assert.deepEqual(statesOf(this.informer.lister.list()), expected);
      // A handler is told after the copy has changed.
      this.#history.check(this.informer.lister.list());
    });
    assert.equal(this.informer.status.handlerErrors, 0);
  }

  /** Checks that the copy, at whatever version it is now, holds exactly what the server held at that version. */
  async checkAtItsVersion(): Promise<void> {
    const [resourceVersion, held] = [this.informer.version, statesOf(this.informer.lister.list())];
    const { items } = await this.#world.client.list<ConfigMap>(configMapType, {
      ...{ ...this.#selection, resourceVersion, resourceVersionMatch: "Exact" },
    });
    assert.deepEqual(held, statesOf(items), `the copy is not what the server held at ${resourceVersion}`);
  }
}

/** Everything of ConfigMaps that their writers decide, with the versions the server gave them. */
function statesOf(objects: readonly ConfigMap[]): readonly string[] {
  return objects
    .map(({ metadata, data }) => {
      const { namespace, name, uid, resourceVersion, labels } = metadata;
      return JSON.stringify([namespace, name, uid, resourceVersion, labels, data]);
    })
    .sort();
}
