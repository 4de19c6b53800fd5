import { createRequire } from "node:module";
import type { ProgramVersion } from "@meridian/gslb";

const manifest = createRequire(import.meta.url)("../../package.json") as {
  readonly version: string;
  /** Written by npm where the package is published. */
  readonly gitHead?: string;
};

/** What runs here, for metrics, traces and logs. */
export const programVersion: ProgramVersion = {
  version: manifest.version,
  commit: manifest.gitHead ?? "unknown",
  runtime: `node ${process.version}`,
  arch: process.arch,
  os: process.platform,
};
