/** What every bench is run with, beside what it measures. */
export interface BenchRunOptions<Settings> {
  readonly settings: Settings;
  /** A cut that shows that the bench works; its figures are no results. */
  readonly smoke: boolean;
  readonly resume: boolean;
  readonly machine: string;
  /** The command that measures the same again. */
  readonly command: string;
  /** Where the results go, as JSON and as text; sections that are not measured now are kept in them. */
  readonly resultFolder: string;
  /** Where samples are kept until the next run. */
  readonly journalFile: string;
}
