export { answeredTargets, decide } from "./strategy.ts";
export type { DecideInput, Decision, LocalTargets, Reason, ReasonRule, Strategy } from "./strategy.ts";
export { addressFamilies, familyOf, hasTargets, noTargets, splitFamilies } from "./address-family.ts";
export type { AddressFamily, FamilyTargets } from "./address-family.ts";
export {
  afterAnswer,
  expiresAt,
  rememberedView,
  sameView,
  unknownView,
  usableTargets,
  viewAt,
} from "./peer-view.ts";
export type { PeerAnswer, PeerMemoryEntry, PeerState, PeerView } from "./peer-view.ts";
export { hostHealth, readyEndpoints } from "./health.ts";
export type { BackendHealth, HostHealth, ServiceHealthPolicy, SliceEndpoints } from "./health.ts";
export type { ExplainedPeer, ExplainedService, Explanation } from "./explanation.ts";
export { canonicalName, hostNameProblem, isInZone, zoneOf } from "./dns-name.ts";
export { balancedHostProblem, isLocalTargetsName, localTargetsName } from "./local-targets-name.ts";
export {
  defaultNameServerPrefix,
  geoTagOfNameServer,
  localTargetsZone,
  nameServerName,
  nameServerProblem,
  zoneObjectName,
  zoneOfLocalTargetsZone,
} from "./zone-names.ts";
export type { ZonePair } from "./zone-names.ts";
export { parseGslbPolicy, policyWarnings } from "./gslb-policy.ts";
export type { GslbPolicy, ParsedPolicy, PolicyProblem } from "./gslb-policy.ts";
export { weightGroups, weightLabels } from "./weight-labels.ts";
export type { WeightGroup } from "./weight-labels.ts";
export { decidedRecords, heldRecords, storedHosts } from "./host-records.ts";
export type { StoredHost } from "./host-records.ts";
export { planGslb } from "./plan-gslb.ts";
export type { GslbPlan } from "./plan-gslb.ts";
export type { HostPlan, RefusedHost } from "./host-plan.ts";
export type {
  BackendState,
  ExposedOutcome,
  GslbSnapshot,
  ReferenceFailure,
  ReferenceOutcome,
  Server,
  ServiceRef,
} from "./gslb-snapshot.ts";
export type { ConditionOutcome, GslbConditionType } from "./gslb-conditions.ts";
