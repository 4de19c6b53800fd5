import assert from "node:assert/strict";
import type { Informer } from "@meridian/controller";
import type { ConfigMap } from "@meridian/kube";

const nameOf = ({ metadata }: ConfigMap): string => metadata.name ?? "";
const stateOf = ({ metadata }: ConfigMap): string => `${metadata.uid}@${metadata.resourceVersion}`;

/** What a handler believes that there is, from what it was told alone. */
export class HandlerMirror {
  readonly #informer: Informer<ConfigMap>;
  readonly #objects = new Map<string, string>();
  #failure: unknown;

  constructor(informer: Informer<ConfigMap>) {
    this.#informer = informer;
    informer.addHandler({
      onAdd: (object) =>
        this.#checked(() => {
          assert.ok(!this.#objects.has(nameOf(object)), `${nameOf(object)} was added twice`);
          this.#objects.set(nameOf(object), stateOf(object));
        }),
      onUpdate: (old, object) =>
        this.#checked(() => {
          assert.equal(this.#objects.get(nameOf(object)), stateOf(old), "old is the state told before");
          this.#objects.set(nameOf(object), stateOf(object));
        }),
      onDelete: (object) =>
        this.#checked(() => {
          assert.ok(this.#objects.delete(nameOf(object)), `${nameOf(object)} was never added`);
        }),
    });
  }

  /** Throws unless the handler was told exactly what the copy holds, each step in order. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    const told = [...this.#objects].map(([name, state]) => `${name} ${state}`).sort();
    const held = this.#informer.lister
      .list()
      .map((object) => `${nameOf(object)} ${stateOf(object)}`)
      .sort();
    assert.deepEqual(told, held, "a handler was told something else than the copy holds");
  }

  #checked(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#failure ??= error;
    }
  }
}
