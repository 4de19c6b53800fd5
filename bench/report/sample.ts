/** What one round measured of one of the programs that are compared. */
export interface Sample<Section extends string = string> {
  /** The part of the bench, which can be run alone. */
  readonly section: Section;
  /** Which load and size, in words; samples of one case are compared. */
  readonly case: string;
  /** The server or client. */
  readonly server: string;
  readonly round: number;
  readonly values: Readonly<Record<string, number>>;
}

/** A figure of a section, as the report shows it. */
export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly digits: number;
  /** Whether the report sets it in ratio to those of the references in the same run. */
  readonly compared: boolean;
}

/** A program that the others are compared with. */
export interface Reference {
  readonly server: string;
  /** How the report heads the column of the ratios. */
  readonly sign: string;
}
