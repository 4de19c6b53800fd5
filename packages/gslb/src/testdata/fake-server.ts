import { readingOf } from "@meridian/controller";
import type { CollectionClient } from "@meridian/controller";
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

  readonly client: CollectionClient = {
    listRaw: async (_type, _options, onItem) => {
      for (const item of this.#items) onItem(readingOf(item));
      return { resourceVersion: "1" };
    },
    watchRaw: async () => ({
      read: async (onEvent) => {
        const told: FakeEvent[] = [];
        let wake = (): void => {};
        this.#tell = (event) => {
          told.push(event);
          wake();
        };
        for (;;) {
          for (const { type, object } of told.splice(0)) onEvent({ type, reading: readingOf(object) });
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
      close() {},
    }),
  };
}
