/**
 * The client side of the Kubernetes API: a typed client, copies of collections, work queues, controllers and what they need.
 *
 * @module @meridian/controller
 */

export { KubeClient } from "./client/kube-client.ts";
export type { Impersonation, KubeClientOptions } from "./client/client-options.ts";
export { clientFromEnvironment } from "./client/kubeconfig/client-from-environment.ts";
export type { EnvironmentOptions } from "./client/kubeconfig/client-from-environment.ts";
export {
  clientFromKubeconfig,
  connectionFromKubeconfig,
} from "./client/kubeconfig/connection-from-kubeconfig.ts";
export type { KubeconfigOptions } from "./client/kubeconfig/connection-from-kubeconfig.ts";
export { inClusterConnection, isInCluster } from "./client/kubeconfig/in-cluster.ts";
export { loadKubeconfig } from "./client/kubeconfig/load-kubeconfig.ts";
export { mergeKubeconfigs, parseKubeconfig } from "./client/kubeconfig/kubeconfig.ts";
export type { Kubeconfig, KubeconfigSource } from "./client/kubeconfig/kubeconfig.ts";
export type { KubeconfigEntry } from "./client/kubeconfig/kubeconfig-entry.ts";
export { bearerToken, fixedCredential } from "./client/credential.ts";
export type { Credential, CredentialSource } from "./client/credential.ts";
export { TokenFile } from "./client/token-file.ts";
export { TlsFiles } from "./client/tls-source.ts";
export type { TlsFilesOptions, TlsSettings, TlsSource } from "./client/tls-source.ts";
export type { RateLimit } from "./client/request-rate.ts";
export { discover } from "./client/discovery.ts";
export type { ApiDiscovery, ApiResource, ApiSubresource } from "./client/discovery.ts";
export { RestMapper } from "./client/rest-mapper.ts";
export { readScale, scaleTo } from "./client/scale.ts";
export type { Scale } from "./client/scale.ts";
export { waitFor } from "./waiting/wait-for.ts";
export type { WaitForOptions } from "./waiting/wait-for.ts";
export { ApiError, isApiError } from "./client/api-error.ts";
export type { ApiErrorReason, ApiFailure, ClientFailureReason } from "./client/api-error.ts";
export type { RequestSubject } from "./client/request-subject.ts";
export type {
  ApplyOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  RawOptions,
  RequestOptions,
  SelectionOptions,
  UntypedObject,
  WatchEvent,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from "./client/requests.ts";
export type { ObjectRef } from "./client/resource-path.ts";
export { readingOf } from "./client/object-reading.ts";
export type { CompactVersion, ObjectReading, ObjectSpan } from "./client/object-reading.ts";
export type { WireFormat, WireFormatOfKind, WireReader } from "./client/wire-format.ts";
export { unknownFields } from "./client/unknown-fields.ts";
export type { ObjectFormat } from "./client/object-format.ts";
export type { RawWatch } from "./client/watch-stream.ts";
export type { RawWatchEvent } from "./client/watch-event-reader.ts";
export { Informer } from "./informer/informer.ts";
export type {
  InformerOptions,
  InformerRuntime,
  InformerSelection,
  InformerStatus,
} from "./informer/informer.ts";
export { InformerFactory } from "./informer/informer-factory.ts";
export type { InformerFactoryOptions } from "./informer/informer-factory.ts";
export { dropManagedFields } from "./informer/managed-fields.ts";
export { enqueueKeys } from "./informer/informer-handler.ts";
export type {
  HandlerRegistration,
  InformerHandler,
  KeyChange,
  KeyQueue,
} from "./informer/informer-handler.ts";
export type {
  CollectionClient,
  FailureNotice,
  FailureVerdict,
  ReflectorCounts,
} from "./reflector/reflector-options.ts";
export type { IndexFunction, Lister } from "./informer/lister.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type {
  AddOptions,
  TakenKey,
  WorkQueueMeter,
  WorkQueueObserver,
  WorkQueueOptions,
} from "./queue/work-queue.ts";
export type { RetryOptions } from "./queue/retry-delays.ts";
export { Controller } from "./controller/controller.ts";
export type {
  ControllerCounts,
  ControllerMeter,
  ControllerObserver,
  ControllerOptions,
  Reconcile,
  ReconcileResult,
  ReconcileRun,
} from "./controller/controller.ts";
export { watchMapped, watchObjects, watchOwned } from "./controller/source.ts";
export type { Source, SourceInformer, SourceOptions } from "./controller/source.ts";
export { ownerKeys } from "./controller/owner-keys.ts";
export type { OwnerOptions } from "./controller/owner-keys.ts";
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
} from "./controller/predicate.ts";
export type { Predicate } from "./controller/predicate.ts";
export { errorText, isTerminal, terminalError } from "./controller/reconcile-error.ts";
export { createOrUpdate, withDesired } from "./writing/create-or-update.ts";
export type { CreateOrUpdateOptions, CreateOrUpdateResult } from "./writing/create-or-update.ts";
export { setControllerReference } from "./writing/controller-reference.ts";
export { writeStatus } from "./writing/write-status.ts";
export type { WithStatus, WriteStatusOptions, WriteStatusResult } from "./writing/write-status.ts";
export { ensureFinalizer, removeFinalizer } from "./writing/finalizers.ts";
export type { FinalizerOptions } from "./writing/finalizers.ts";
export { retryOnConflict } from "./writing/retry-on-conflict.ts";
export type { ConflictRetryOptions } from "./writing/retry-on-conflict.ts";
export { EventRecorder } from "./events/event-recorder.ts";
export type { EventRecorderOptions } from "./events/event-recorder.ts";
export type { EventNote } from "./events/event-correlation.ts";
export { LeaderElector } from "./leader/leader-elector.ts";
export type { LeaderElectionRuntime, LeaderStatus } from "./leader/leader-elector.ts";
export type { LeaderElectionOptions } from "./leader/election-options.ts";
export type { LeaderTerm } from "./leader/leader-term.ts";
export { runControllers } from "./program/run-controllers.ts";
export type { ControllerProgram, HealthOptions } from "./program/run-controllers.ts";
export { freshness, liveness } from "./program/health.ts";
export type { StalenessOptions } from "./program/health.ts";
export { ControllerMetrics } from "./metrics/controller-metrics.ts";
export { WorkQueueMetrics } from "./metrics/work-queue-metrics.ts";
export { registerElectionMetrics } from "./metrics/election-metrics.ts";
export { registerInformerMetrics } from "./metrics/informer-metrics.ts";
export { meterRequests } from "./metrics/rest-client-metrics.ts";
export { ControllerError } from "./controller-error.ts";
export type { ControllerErrorCode } from "./controller-error.ts";
