import { Authority, parseZoneFile, serveDns } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";

/** The parent's zone file and where it is served. */
export interface ParentOptions {
  readonly zoneText: string;
  readonly dns: Endpoint;
}

/** Starts the DNS server of the zone that delegates to the clusters. Disposing it closes the server. */
export async function startParent(runtime: Runtime, options: ParentOptions): Promise<AsyncDisposable> {
  const parsed = parseZoneFile(options.zoneText);
  if (parsed.zone === undefined) {
    const problems = parsed.problems.map(({ line, message }) => `line ${line}: ${message}`);
    throw new MeridianError("BadFile", `the parent zone cannot be read: ${problems.join("; ")}`);
  }
  const authority = new Authority({ random: runtime.random, clock: runtime.clock });
  authority.setZone(parsed.zone);
  return serveDns(runtime, { authority, listen: [options.dns] });
}
