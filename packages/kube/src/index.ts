/**
 * What Kubernetes says about objects, without any I/O: metadata, kinds, statuses, selectors, patches, schemas, conditions.
 *
 * @module @meridian/kube
 */

export type { KubeList, KubeObject, ListMeta, ObjectMeta, OwnerReference } from "./metadata.ts";
export { controllerOf, ownerReferenceTo } from "./owner-reference.ts";
export { apiVersionOf, objectKey, parseApiVersion, parseObjectKey } from "./group-version.ts";
export type { GroupVersionResource, ResourceType } from "./group-version.ts";

export { isJsonArray, isJsonObject, jsonText, jsonTypeOf, ownField, setField } from "./json.ts";
export type { Json, JsonObject } from "./json.ts";
export { deepEqual, freeze } from "./deep-equal.ts";

export { StatusError } from "./status.ts";
export type { StatusFailure } from "./status-error-checks.ts";
export type { Status, StatusCause, StatusDetails, StatusReason } from "./status.ts";
export {
  accessDenied,
  alreadyExists,
  applyConflict,
  badRequest,
  causesText,
  conflict,
  expired,
  forbidden,
  generateNameConflict,
  internalError,
  invalid,
  methodNotAllowed,
  methodNotAllowedHere,
  namespaceTerminating,
  notAcceptable,
  notFound,
  requestEntityTooLarge,
  serverTimeout,
  serviceUnavailable,
  staleObjectMessage,
  statusOf,
  successStatus,
  timeout,
  tooLargeResourceVersion,
  tooManyRequests,
  tooOldResourceVersion,
  unauthorized,
  unknownPath,
  unprocessable,
  unsupportedMediaType,
} from "./status-errors.ts";
export {
  isAlreadyExists,
  isConflict,
  isExpired,
  isNotFound,
  isStatusError,
  isTooLargeResourceVersion,
} from "./status-error-checks.ts";
export type { AccessAttempt, GroupKind, GroupResource } from "./status-errors.ts";
export {
  childPath,
  duplicate,
  forbiddenField,
  goQuote,
  internalFieldError,
  invalidType,
  invalidValue,
  itemPath,
  notSupported,
  omitted,
  required,
  tooLong,
  tooMany,
} from "./field-error.ts";

export {
  generatedName,
  utf8Length,
  validateConfigMapKey,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateFinalizerName,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedName,
  validateWildcardDns1123Subdomain,
} from "./names.ts";
export {
  annotationsBytesMax,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "./object-meta-validation.ts";
export type { ObjectMetaRules } from "./object-meta-validation.ts";

export {
  formatLabelSelector,
  labelSelectorFromSpec,
  matchesLabels,
  parseLabelSelector,
  validateLabelSelectorSpec,
} from "./label-selector.ts";
export type { LabelRequirement, LabelSelector, LabelSelectorSpec } from "./label-selector.ts";
export { formatFieldSelector, matchesFields, parseFieldSelector } from "./field-selector.ts";
export type { FieldRequirement, FieldSelector } from "./field-selector.ts";

export { applyMergePatch, createMergePatch } from "./merge-patch.ts";
export { applyJsonPatch, jsonPatchCopiedCharactersMax, jsonPatchOperationsMax } from "./json-patch.ts";
export type { JsonPatchOperation } from "./json-patch.ts";
export { applyStrategicMergePatch } from "./strategic-merge-patch.ts";
export type { PatchSchema } from "./strategic-merge-patch.ts";

export { compileSchema } from "./schema/compile-schema.ts";
export type { CompileSchemaOptions, CompiledSchema, ValidateOptions } from "./schema/compile-schema.ts";
export type { StructuralSchema, ValidationRule } from "./schema/structural-schema.ts";
export { validateStructuralSchema } from "./schema/validate-structural-schema.ts";
export { objectMetaSchema } from "./schema/object-meta-schema.ts";
export { PatternError, compilePattern } from "./schema/pattern.ts";
export type { Pattern } from "./schema/pattern.ts";
export {
  defaultCustomResourceDefinition,
  validateCustomResourceDefinition,
} from "./custom-resource-definition-validation.ts";
export { compareKubeVersions } from "./kube-version.ts";

export { compileJsonPath } from "./json-path.ts";
export type { JsonPath } from "./json-path.ts";
export { humanDuration } from "./human-duration.ts";
export { ageOf, compileTableCell, tableCell } from "./table-cell.ts";
export type { TableCell, TableColumn } from "./table-cell.ts";

export { cidrContains, isCidr, isIpv4, isIpv6, parseCidr, parseIpAddress } from "./ip-address.ts";
export type { Cidr } from "./ip-address.ts";
export { parseQuantity } from "./quantity.ts";
export type { Quantity } from "./quantity.ts";
export { formatMicroTime, formatTime, parseTime } from "./timestamp.ts";
export { findCondition, isConditionTrue, setCondition } from "./conditions.ts";
export type { Condition } from "./conditions.ts";

export type {
  ConfigMap,
  Event,
  Namespace,
  NamespaceCondition,
  ObjectReference,
  Pod,
  Secret,
} from "./kinds/core.ts";
export type {
  EndpointSlice,
  Ingress,
  IngressBackend,
  IngressRule,
  LoadBalancerIngress,
  Service,
  ServicePort,
  SliceEndpoint,
} from "./kinds/network.ts";
export {
  configMapType,
  customResourceDefinitionType,
  endpointSliceType,
  eventType,
  leaseType,
  ingressType,
  namespaceType,
  podType,
  secretType,
  seriesEventType,
  serviceType,
} from "./kinds/resource-types.ts";
export type { Lease } from "./kinds/lease.ts";
export type { EventSeries, SeriesEvent } from "./kinds/event.ts";
export type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceNames,
  CustomResourceVersion,
  PrinterColumn,
} from "./kinds/custom-resource-definition.ts";
