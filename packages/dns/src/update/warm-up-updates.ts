import { ReusedClient, silentLogger, type Disk, type Runtime } from "@meridian/runtime";
import { Authority } from "../server/authority.ts";
import { createRequestPipeline } from "../server/request-pipeline.ts";
import { SignedRequest } from "../tsig/signed-request.ts";
import { parseTsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { WorkSlices } from "../zone/work-slices.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import { composeUpdate } from "./compose-update.ts";
import { UpdateServer } from "./update-server.ts";

const origin = "warm.invalid";
const zoneText = "@ 30 SOA ns host 1 7200 1800 86400 30\n@ 30 NS ns\nns 30 A 192.0.2.1\n";
/** No secret: what it signs goes nowhere. */
const key = parseTsigKey({ name: "warm", algorithm: "hmac-sha256", secret: "bWVyaWRpYW4gd2FybXMgdXA=" });
const updatesMax = 800;
const budgetMs = 400;

/** A disk that is always well and keeps nothing. */
const nowhere: Disk = {
  read: async () => undefined,
  replace: async () => {},
  openLog: async () => ({
    sizeBytes: 0,
    append: async () => {},
    sync: async () => {},
    truncate: async () => {},
    close: async () => {},
  }),
  remove: async () => {},
  list: async () => [],
};

/**
 * Makes signed updates of a zone of its own until V8 has compiled what makes them, in slices, so that the first of real
 * clients do not meet it interpreted, several times slower. No zone, counter, file or log of the server is touched.
 *
 * @param signal ends it early
 */
export async function warmUpUpdates(
  { random, clock, network }: Runtime,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const runtime = { random, clock, network, disk: nowhere, log: silentLogger };
  const { zone } = parseZoneFile(zoneText, { origin });
  if (zone === undefined) return;
  const authority = new Authority({ random, clock });
  authority.setZone(zone);
  const rules = [{ key: key.name, match: "subdomain" }] as const;
  await using updates = await UpdateServer.open(runtime, {
    authority,
    zones: [{ zone, journal: "none", rules }],
  });
  const pipeline = createRequestPipeline({
    ...{ clock, log: silentLogger, authority, keyring: new TsigKeyring([key]), update: updates.handle },
  });
  const client = new ReusedClient("udp", { address: "192.0.2.200", port: 53_000 });
  const slices = new WorkSlices(clock);
  const untilMs = clock.monotonicMs() + budgetMs;
  for (let made = 0; made < updatesMax && clock.monotonicMs() < untilMs && !signal.aborted; made++) {
    const name = `host${made % 50}.${origin}`;
    const data = [`192.0.2.${made % 250}`, `198.51.100.${made % 250}`];
    const unsigned = composeUpdate({
      zone: origin,
      prerequisites: [],
      changes: [
        { kind: "deleteSet", name, type: "A" },
        ...data.map((address) => ({ kind: "add" as const, name, type: "A", ttl: 30, data: address })),
      ],
    });
    const { message } = new SignedRequest(unsigned, { key, clock });
    for await (const _answer of pipeline.handle({ message, client, signal }));
    await slices.pause();
  }
}
