import {
  Controller,
  ensureFinalizer,
  removeFinalizer,
  type ControllerMeter,
  type EventNote,
  type EventRecorder,
  type KubeClient,
} from "@meridian/controller";
import {
  ingressType,
  isAlreadyExists,
  isNotFound,
  objectKey,
  parseObjectKey,
  type Ingress,
  type KubeObject,
} from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { decideMigration, type MigrationStep } from "../decide/legacy-migration.ts";
import { canonicalGslb, isEmbedding, specDifferences } from "../references/canonical-gslb.ts";
import { embeddedIngress } from "../references/embedded-ingress.ts";
import type { Gslb } from "../resources/gslb.ts";
import {
  isMigrated,
  isMigrationRequested,
  legacyGslbs,
  migratedLabel,
  migrationFinalizer,
} from "../resources/legacy-gslb.ts";
import { kindName } from "../resources/object-kind.ts";
import { gslbType, legacyGslbType } from "../resources/resource-types.ts";
import type { ClusterCopies } from "./cluster-copies.ts";
import { isRefusal, refusedMs } from "./refusal.ts";

/** What legacy Gslbs are migrated with. */
export interface LegacyMigrationOptions {
  readonly client: Pick<KubeClient, "get" | "create" | "patch">;
  readonly copies: Pick<
    ClusterCopies,
    "canonicalGslbs" | "legacyGslbs" | "endpoints" | "ingresses" | "optional"
  >;
  readonly events: Pick<EventRecorder, "record">;
  readonly meter?: ControllerMeter;
  /** Whether this replica writes. Default: it does. */
  readonly isWriting?: () => boolean;
}

/**
 * Leads legacy Gslbs over to the present group when their users ask for it. Each run takes the next step from what the copies
 * show: what they do not show yet is waited for, and their change comes back here. So a successor is in effect before
 * anything is handed to it, and the legacy object is marked, or let go, only when it owns nothing more that its successor
 * needs. The DNSEndpoint is handed over by the successor's own reconcile, in one write with its records.
 */
export class LegacyMigrationController {
  readonly controller: Controller;
  readonly #options: LegacyMigrationOptions;
  readonly #log: Runtime["log"];
  /** What users were last told. */
  readonly #told = new Map<string, string>();

  constructor(runtime: Pick<Runtime, "clock" | "log">, options: LegacyMigrationOptions) {
    this.#options = options;
    this.#log = runtime.log;
    this.controller = new Controller(runtime, {
      name: "legacy-migration",
      retryMsMax: 30_000,
      ...(options.meter === undefined ? {} : { meter: options.meter }),
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
  }

  /** Looks at every legacy Gslb, and from now on at each that something changes about. */
  start(): void {
    const { canonicalGslbs, legacyGslbs: legacy, endpoints, ingresses, optional } = this.#options.copies;
    // That one was migrated was told when it was, and is no news at every start.
    for (const gslb of legacy.list())
      if (isMigrated(gslb) && canonicalGslbs.lister.has(objectKey(gslb.metadata)))
        this.#told.set(objectKey(gslb.metadata), sayingOf("replaced", gslb));
    this.enqueueAll();
    optional.onChange((kind, { old, now }) => {
      if (kindName(kind) === kindName(legacyGslbs) && !saySame(old, now))
        this.controller.enqueue(objectKey((now ?? old)?.metadata ?? {}));
    });
    for (const copy of [canonicalGslbs, endpoints, ingresses])
      copy.addHandler({
        onKey: ({ key, initial }) => {
          if (!initial && legacy.get(key) !== undefined) this.controller.enqueue(key);
        },
      });
  }

  /** Looks at every legacy Gslb again. */
  enqueueAll(): void {
    for (const { metadata } of this.#options.copies.legacyGslbs.list())
      this.controller.enqueue(objectKey(metadata));
  }

  async #reconcile(
    key: string,
    signal: AbortSignal,
  ): Promise<{ readonly requeueAfterMs?: number } | undefined> {
    const { client, copies, isWriting } = this.#options;
    const legacy = copies.legacyGslbs.get(key);
    if (legacy === undefined) {
      this.#told.delete(key);
      return undefined;
    }
    if (isWriting?.() === false) return undefined;
    const successor = copies.canonicalGslbs.lister.get(key);
    const step = decideMigration({
      key,
      isDeleting: legacy.metadata.deletionTimestamp !== undefined,
      isRequested: isMigrationRequested(legacy),
      isMigrated: isMigrated(legacy),
      ...(successor === undefined ? {} : { successor: { differences: specDifferences(legacy, successor) } }),
    });
    const ours = { object: legacy, finalizer: migrationFinalizer, signal };
    if (step.finalizer === "keep") {
      const kept = await ensureFinalizer(client, legacyGslbType, ours);
      // Gone or going, which the copy will show.
      if (kept?.metadata.deletionTimestamp !== undefined || kept === undefined) return undefined;
    }
    if (step.creates) return this.#create(legacy, signal);
    if (step.handsOver) {
      await this.#detachIngress(legacy, signal);
      const endpoint = copies.endpoints.lister.get(key);
      const isWaiting = successor !== undefined && endpoint !== undefined && isOwnedBy(endpoint, legacy);
      if (isWaiting) return undefined;
    }
    if (step.marksMigrated) await this.#mark(legacy, signal);
    this.#tell(legacy, step.tells);
    if (step.finalizer === "drop") await removeFinalizer(client, legacyGslbType, ours);
    return undefined;
  }

  /**
   * Once there is a successor the Ingress must not go with the legacy Gslb, which may be deleted at any moment; and without
   * one it must. So it is let go right before, when the API server has said that it would take the successor.
   */
  async #create(legacy: Gslb, signal: AbortSignal): Promise<{ readonly requeueAfterMs: number } | undefined> {
    const { client } = this.#options;
    const key = objectKey(legacy.metadata);
    const successor = canonicalGslb(legacy);
    try {
      await client.create(gslbType, successor, { dryRun: true, signal });
      await this.#makeIngress(legacy, signal);
      await this.#detachIngress(legacy, signal);
      await client.create(gslbType, successor, { signal });
      this.#log.info("made a Gslb from one of the legacy group", { gslb: key });
    } catch (error) {
      // The copy will show it.
      if (isAlreadyExists(error)) return undefined;
      if (!isRefusal(error)) throw error;
      const message = `the API server refuses what would follow in the group k8gb.io: ${error.status.message ?? error.message}; this one goes on with the DNSEndpoint that it has`;
      const note: EventNote = { type: "Warning", reason: "LegacyMigrationRefused", message };
      this.#tell(legacy, { once: message, note });
      return { requeueAfterMs: refusedMs };
    }
    return undefined;
  }

  /** One that was never reconciled has none yet, and its successor will only refer to it. */
  async #makeIngress(legacy: Gslb, signal: AbortSignal): Promise<void> {
    if (!isEmbedding(legacy) || (await this.#ingress(legacy, signal)) !== undefined) return;
    const { metadata, ...rest } = embeddedIngress(legacy);
    const { ownerReferences: _nobody, ...ours } = metadata;
    await this.#options.client.create<Ingress>(ingressType, { ...rest, metadata: ours }, { signal });
  }

  /** Takes the legacy Gslb off the owners of the Ingress that was made of it, which from now on is its user's. */
  async #detachIngress(legacy: Gslb, signal: AbortSignal): Promise<void> {
    const ingress = isEmbedding(legacy) ? await this.#ingress(legacy, signal) : undefined;
    if (ingress === undefined || !isOwnedBy(ingress, legacy)) return;
    const { resourceVersion, ownerReferences = [] } = ingress.metadata;
    const others = ownerReferences.filter(({ uid }) => uid !== legacy.metadata.uid);
    await this.#patch(ingressType, ingress, {
      body: { metadata: { resourceVersion, ownerReferences: others } },
      signal,
    });
  }

  /** The Ingress of its name; one that was made a moment ago is not in the copy yet. */
  async #ingress(legacy: Gslb, signal: AbortSignal): Promise<Ingress | undefined> {
    const key = objectKey(legacy.metadata);
    const copied = this.#options.copies.ingresses.lister.get(key);
    if (copied !== undefined) return copied;
    try {
      return await this.#options.client.get<Ingress>(ingressType, parseObjectKey(key), { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #mark(legacy: Gslb, signal: AbortSignal): Promise<void> {
    await this.#patch(legacyGslbType, legacy, {
      body: { metadata: { labels: { [migratedLabel]: "true" } } },
      signal,
    });
    this.#log.info("a Gslb of the legacy group was migrated", { gslb: objectKey(legacy.metadata) });
  }

  async #patch(
    type: typeof legacyGslbType,
    { metadata }: KubeObject,
    { body, signal }: { readonly body: object; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      await this.#options.client.patch(type, parseObjectKey(objectKey(metadata)), {
        ...{ type: "merge", body, signal },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #tell(
    legacy: Gslb,
    tells: MigrationStep["tells"] | { readonly once: string; readonly note: EventNote },
  ): void {
    if (tells === undefined) return;
    const key = objectKey(legacy.metadata);
    const saying = sayingOf(tells.once, legacy);
    if (this.#told.get(key) === saying) return;
    this.#told.set(key, saying);
    this.#options.events.record(legacy, tells.note);
  }
}

/** The same of a Gslb until its user edits it, which in one that is ignored is worth a word. */
function sayingOf(once: string, { metadata }: Gslb): string {
  return `${once} ${metadata.uid} ${metadata.generation}`;
}

function isOwnedBy(object: KubeObject, { metadata }: Gslb): boolean {
  return (object.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid);
}

/** Whether a change of a legacy Gslb is none that its migration goes by, as with each write of its status. */
function saySame(old: Gslb | undefined, now: Gslb | undefined): boolean {
  if (old === undefined || now === undefined) return false;
  return saidBy(old) === saidBy(now);
}

function saidBy(legacy: Gslb): string {
  const { uid, generation, deletionTimestamp, finalizers } = legacy.metadata;
  return JSON.stringify([
    ...[uid, generation, deletionTimestamp, finalizers?.includes(migrationFinalizer)],
    ...[isMigrationRequested(legacy), isMigrated(legacy)],
  ]);
}
