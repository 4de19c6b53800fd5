/** What one round measured of one server. */
export interface Sample {
  readonly section: SectionName;
  /** Which load and size, in words; samples of one case are compared. */
  readonly case: string;
  readonly server: string;
  readonly round: number;
  readonly values: Readonly<Record<string, number>>;
}

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

/** A figure of a section, as the report shows it. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly digits: number;
  /** Whether the report sets it in ratio to gdnsd's and BIND's of the same run. */
  readonly compared: boolean;
}
