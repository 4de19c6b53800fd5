export { startOperator } from "./operator.ts";
export type { Operator, OperatorOptions } from "./operator.ts";
export { parseOperatorConfig } from "./config/operator-config.ts";
export type { OperatorConfig, ParsedOperatorConfig } from "./config/operator-config.ts";
export type { ConfigProblem, ServerAddress } from "./config/environment-reader.ts";
export type { ConfiguredZone } from "./config/dns-zones.ts";
export { customResourceDefinitions } from "./resources/custom-resource-definitions.ts";
export { dnsEndpointType, gslbType, legacyGslbType, zoneDelegationType } from "./resources/resource-types.ts";
export type { ExplainedPeer, ExplainedService, Explanation } from "./decide/index.ts";
