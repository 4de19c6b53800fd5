import { describe, test } from "node:test";
import { closings } from "./storage-closings.ts";
import { compactions } from "./storage-compactions.ts";
import { lists } from "./storage-lists.ts";
import { reopenings } from "./storage-reopenings.ts";
import { watches } from "./storage-watches.ts";
import { writes } from "./storage-writes.ts";
import type { StorageSubject } from "./storage-place.ts";

/** What every backend promises, as tests. */
export function describeStorage(subject: StorageSubject): void {
  describe(`storage contract: ${subject.name}`, () => {
    for (const [name, body] of Object.entries({
      ...writes,
      ...lists,
      ...watches,
      ...compactions,
      ...closings,
    })) {
      test(name, () => subject.run(body));
    }
    if (!subject.persistent) return;
    for (const [name, body] of Object.entries(reopenings)) test(name, () => subject.run(body));
  });
}

