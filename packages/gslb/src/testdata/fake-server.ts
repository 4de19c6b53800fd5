import type { KubeClient } from "@meridian/controller";
import type { KubeObject } from "@meridian/kube";

interface FakeEvent {
  readonly type: "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

/** An API server of one collection, that has some objects at first and tells of changes later. */
export class FakeServer {
  readonly #items: readonly KubeObject[];
  #tell: (event: FakeEvent) => void = () => {};

  constructor(...items: readonly KubeObject[]) {
    this.#items = items;
  }

  /** Sends an object as it is now, or that it is gone. */
  tell(object: KubeObject, type: "MODIFIED" | "DELETED" = "MODIFIED"): void {
    this.#tell({ type, object });
  }

  readonly client: Pick<KubeClient, "list" | "watch"> = {
    list: async () =>
      ({
        apiVersion: "v1",
        kind: "List",
        metadata: { resourceVersion: "1" },
        items: this.#items,
      }) as never,
    watch: ((): AsyncIterable<unknown> => {
      const told: FakeEvent[] = [];
      let wake = (): void => {};
      this.#tell = (event) => {
        told.push(event);
        wake();
      };
      return (async function* () {
        for (;;) {
          yield* told.splice(0);
          await new Promise<void>((resolve) => (wake = resolve));
        }
      })();
    }) as never,
  };
}
