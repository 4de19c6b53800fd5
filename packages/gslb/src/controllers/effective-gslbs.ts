import type { Informer, InformerHandler, Lister } from "@meridian/controller";
import { objectKey } from "@meridian/kube";
import type { Gslb } from "../resources/gslb.ts";
import { isMigrated } from "../resources/legacy-gslb.ts";
import type { OptionalCopy } from "./optional-copy.ts";

/** The copies of both groups. */
export interface GslbGroups {
  readonly canonical: Pick<Informer<Gslb>, "lister" | "addHandler">;
  readonly legacy: Pick<OptionalCopy<Gslb>, "get" | "list" | "addHandler" | "state">;
}

/**
 * The Gslbs that are in effect, at most one of a name: those of the present group, and those of the legacy group that were not
 * migrated and have no successor. Who reads them need not care of which group one is. A successor takes over in one
 * step: handlers are told of an update from the one object to the other, and never that the name is gone.
 */
export class EffectiveGslbs {
  readonly lister: Pick<Lister<Gslb>, "get" | "list" | "keys" | "size">;
  readonly #groups: GslbGroups;
  readonly #handlers: InformerHandler<Gslb>[] = [];

  constructor(groups: GslbGroups) {
    this.#groups = groups;
    const { canonical, legacy } = groups;
    const list = (namespace?: string): readonly Gslb[] => [
      ...canonical.lister.list(namespace),
      ...this.#legacy(namespace),
    ];
    this.lister = {
      get: (key) => canonical.lister.get(key) ?? inEffect(legacy.get(key)),
      list,
      *keys() {
        yield* canonical.lister.keys();
        for (const { metadata } of list().slice(canonical.lister.size)) yield objectKey(metadata);
      },
      get size() {
        return list().length;
      },
    };
    this.#followLegacy();
  }

  /** Whether it cannot be told which legacy Gslbs there are. */
  get isLegacyUnknown(): boolean {
    const { is } = this.#groups.legacy.state;
    return is === "waiting" || is === "unreadable";
  }

  /** Adds a handler, which is told of what there is first. */
  addHandler(handler: InformerHandler<Gslb>): void {
    const { canonical, legacy } = this.#groups;
    for (const gslb of this.#legacy()) void handler.onAdd?.(gslb, { initial: true });
    this.#handlers.push(handler);
    canonical.addHandler({
      onAdd(gslb, about) {
        const before = inEffect(legacy.get(objectKey(gslb.metadata)));
        return before === undefined || about.initial
          ? handler.onAdd?.(gslb, about)
          : handler.onUpdate?.(before, gslb, { resync: false });
      },
      onUpdate: (old, gslb, about) => handler.onUpdate?.(old, gslb, about),
      onDelete(gslb, about) {
        const next = inEffect(legacy.get(objectKey(gslb.metadata)));
        return next === undefined
          ? handler.onDelete?.(gslb, about)
          : handler.onUpdate?.(gslb, next, { resync: false });
      },
    });
  }

  #followLegacy(): void {
    const { canonical, legacy } = this.#groups;
    const tell = async (old: Gslb | undefined, gslb: Gslb | undefined): Promise<void> => {
      const about = old ?? gslb;
      if (about === undefined || canonical.lister.get(objectKey(about.metadata)) !== undefined) return;
      for (const handler of this.#handlers) {
        if (old === undefined) await handler.onAdd?.(about, { initial: false });
        else if (gslb === undefined) await handler.onDelete?.(old, { missed: false });
        else await handler.onUpdate?.(old, gslb, { resync: false });
      }
    };
    legacy.addHandler({
      onAdd: (gslb) => tell(undefined, inEffect(gslb)),
      onUpdate: (old, gslb) => tell(inEffect(old), inEffect(gslb)),
      onDelete: (gslb) => tell(inEffect(gslb), undefined),
    });
  }

  #legacy(namespace?: string): readonly Gslb[] {
    const { canonical, legacy } = this.#groups;
    return legacy
      .list(namespace)
      .filter((gslb) => !isMigrated(gslb) && !canonical.lister.has(objectKey(gslb.metadata)));
  }
}

function inEffect(legacy: Gslb | undefined): Gslb | undefined {
  return legacy === undefined || isMigrated(legacy) ? undefined : legacy;
}
