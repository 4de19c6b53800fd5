export { KubeClient } from "./client/kube-client.ts";
export type { KubeClientOptions } from "./client/kube-client.ts";
export type { ReadFile } from "./client/bearer-token.ts";
export { clientFromKubeconfig, connectionFromKubeconfig } from "./client/kubeconfig.ts";
export type { KubeconfigConnection, KubeconfigOptions } from "./client/kubeconfig.ts";
export type {
  DeleteOptions,
  ListOptions,
  PatchOptions,
  RequestOptions,
  WatchEvent,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from "./client/requests.ts";
export type { ObjectRef } from "./client/resource-path.ts";
export { Informer } from "./informer/informer.ts";
export type { InformerOptions, InformerRuntime, InformerStatus } from "./informer/informer.ts";
export { enqueueKeys } from "./informer/informer-handler.ts";
export type { HandlerRegistration, InformerHandler, KeyQueue } from "./informer/informer-handler.ts";
export type { IndexFunction, Lister } from "./informer/lister.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type { WorkQueueOptions } from "./queue/work-queue.ts";
export { Controller } from "./controller/controller.ts";
export type {
  ControllerCounts,
  ControllerOptions,
  Reconcile,
  ReconcileResult,
} from "./controller/controller.ts";
export { createOrUpdate, withDesired } from "./controller/create-or-update.ts";
export type { CreateOrUpdateOptions, CreateOrUpdateResult } from "./controller/create-or-update.ts";
export { retryOnConflict } from "./controller/retry-on-conflict.ts";
export { EventRecorder } from "./events/event-recorder.ts";
export type { EventRecorderOptions } from "./events/event-recorder.ts";
export type { EventNote } from "./events/event-correlation.ts";
export { ControllerError } from "./controller-error.ts";
export type { ControllerErrorCode } from "./controller-error.ts";
