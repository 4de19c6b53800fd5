/** The parts of the DNS bench, in the order in which they run. */
export const sectionNames = [
  "dns-udp",
  "dns-cookies",
  "dns-tcp",
  "dns-two-workers",
  "dns-latency",
  "dns-memory",
  "dns-update",
] as const;

export type SectionName = (typeof sectionNames)[number];
