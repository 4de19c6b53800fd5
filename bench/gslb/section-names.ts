/** The parts of the balancer's bench, in the order of the report. */
export const gslbSectionNames = ["gslb-change", "gslb-quiet", "gslb-apply", "gslb-start"] as const;

export type GslbSectionName = (typeof gslbSectionNames)[number];
