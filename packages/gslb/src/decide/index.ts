export { answeredTargets, decide } from "./strategy.ts";
export type { DecideInput, Decision, LocalTargets, Reason, ReasonRule, Strategy } from "./strategy.ts";
export { addressFamilies, familyOf, hasTargets, isIpv4, isIpv6, noTargets, splitFamilies } from "./address-family.ts";
export type { AddressFamily, FamilyTargets } from "./address-family.ts";
export { afterAnswer, expiresAt, rememberedView, sameView, unknownView, usableTargets, viewAt } from "./peer-view.ts";
export type { PeerAnswer, PeerMemoryEntry, PeerState, PeerView } from "./peer-view.ts";
export { hostHealth, readyEndpoints } from "./health.ts";
export type { BackendHealth, HostHealth, ServiceHealthPolicy, SliceEndpoints } from "./health.ts";
export type { ExplainedPeer, ExplainedService, Explanation } from "./explanation.ts";
