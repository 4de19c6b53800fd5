import { EventRecorder, type ControllerMeter, type KubeClient } from "@meridian/controller";
import type { Runtime } from "@meridian/runtime";
import type { ClusterCopies } from "./controllers/cluster-copies.ts";
import { LegacyMigrationController } from "./controllers/legacy-migration-controller.ts";
import { isLegacy } from "./resources/legacy-gslb.ts";
import type { TaskScope } from "./tasks/task-scope.ts";

/** What the part of an operator is made of that looks after the legacy group. */
export interface LegacyOptions {
  readonly client: KubeClient;
  readonly copies: ClusterCopies;
  readonly tasks: TaskScope;
  readonly meter?: ControllerMeter;
  /** Who tells of Gslbs of the present group. */
  readonly events: Pick<EventRecorder, "record">;
  readonly isWriting: () => boolean;
}

/** What an operator has for the legacy group, beside the reconciling that it has for all Gslbs. */
export interface Legacy {
  readonly migration: LegacyMigrationController;
  /** Tells of Gslbs of either group, of legacy ones under the name that k8gb does it by. */
  readonly events: Pick<EventRecorder, "record">;
  start(): void;
}

/** Puts it together; nothing runs before `start`. */
export function assembleLegacy(runtime: Runtime, options: LegacyOptions): Legacy {
  const { client, copies, tasks, meter, events, isWriting } = options;
  const recorders = ["legacy-gslb-controller", "legacy-gslb-migrator"].map(
    (component) => new EventRecorder(runtime, { client, component }),
  );
  const [ofRuntime, ofMigration] = recorders as [EventRecorder, EventRecorder];
  const migration = new LegacyMigrationController(runtime, {
    ...{ client, copies, events: ofMigration, isWriting },
    ...(meter === undefined ? {} : { meter }),
  });
  return {
    migration,
    events: { record: (about, note) => (isLegacy(about) ? ofRuntime : events).record(about, note) },
    start() {
      for (const recorder of recorders)
        tasks.start("events of legacy Gslbs", (signal) => recorder.run(signal));
      migration.start();
      tasks.start("migration of legacy Gslbs", (signal) => migration.controller.run(signal));
    },
  };
}
