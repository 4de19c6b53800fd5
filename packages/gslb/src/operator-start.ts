import { deepEqual, objectKey } from "@meridian/kube";
import { whileWaiting } from "@meridian/runtime";
import type { Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "./config/operator-config.ts";
import { AnnotatedIngressController } from "./controllers/annotated-ingress-controller.ts";
import { watchCluster } from "./controllers/cluster-triggers.ts";
import { observeAll } from "./controllers/observe-all.ts";
import { ensureNamespace } from "./controllers/own-namespace.ts";
import { applyConfiguredZones } from "./controllers/zone-bootstrap.ts";
import { canonicalName } from "./decide/dns-name.ts";
import { enqueueGslbs, type OperatorOptions, type OperatorParts } from "./operator-parts.ts";
import type { DnsEndpoint } from "./resources/dns-endpoint.ts";
import type { Gslb } from "./resources/gslb.ts";
import { isEnding } from "./resources/legacy-gslb.ts";

/** How long the zones wait for the first round of reconciles, so that nothing known dead is answered after a start. */
const firstRoundMs = 15_000;
/** How long peers wait for the keys in Secrets, which not every operator may read. */
const firstKeysMs = 1_000;
/** After so long a configured ZoneDelegation that was deleted is made again; its zone is answered meanwhile. */
const restoreAfterMs = 1_000;

/**
 * Starts an operator's parts in the order in which they need each other, and resolves when its zones answer. Rejects with the
 * signal's reason when the operator is stopped before that.
 */
export async function bringUp(
  runtime: Runtime,
  parts: OperatorParts,
  options: OperatorOptions,
): Promise<void> {
  const { config } = options;
  const { tasks, copies, feeder, keyExchanges, zones } = parts;
  for (const message of config.deprecations)
    runtime.log.warn("a deprecated setting is in use", { setting: message });
  await readCluster(runtime, parts, options);
  await observeCluster(runtime, parts, options);
  startReconciling(runtime, parts, options);
  await untilDecided(runtime, parts, config);
  for (const endpoint of copies.endpoints.lister.list()) feeder.touch(objectKey(endpoint.metadata));
  feeder.flush();
  feeder.open();
  tasks.start("lease", (signal) => parts.replica.lease.run(signal));
  parts.delegating.start();
  if (keyExchanges !== undefined) tasks.start("keys of peers", (signal) => keyExchanges.run(signal));
  runtime.log.info("the operator is ready", {
    geoTag: config.geoTag,
    gslbs: copies.gslbs.lister.size,
    zones: zones.zones,
  });
}

/** Copies the cluster, and reads what was kept over the restart. */
async function readCluster(
  runtime: Runtime,
  { tasks, copies, events, geo, memory, keys, keyMemory }: OperatorParts,
  { client, config }: OperatorOptions,
): Promise<void> {
  const { signal } = tasks;
  tasks.start("events", (ending) => events.run(ending));
  tasks.start("geo sources", (ending) => geo.run(ending));
  await whileWaiting(copies.start(tasks), signal);
  await retrying(runtime, signal, () => ensureNamespace(client, config.podNamespace, signal));
  await retrying(runtime, signal, () => memory.load(signal));
  tasks.start("peer memory", (ending) => memory.run(ending));
  // Before the first key is there: a zone is never signed without the keys of peers that were known.
  await retrying(runtime, signal, () => keyMemory.load(signal));
  tasks.start("keys in Secrets", (ending) => keys.run(ending));
}

/** Takes note of every zone and every claim before the first reconcile: what is decided must not depend on the order. */
async function observeCluster(
  runtime: Runtime,
  parts: OperatorParts,
  { client, config, authority }: OperatorOptions,
): Promise<void> {
  const { tasks, copies, memory, keys, zones, gslbs } = parts;
  const { fleetHosts, hints } = parts.replica;
  const { signal } = tasks;
  await parts.edgeServers.open(signal);
  await createZones(runtime, parts, { client, config });
  await untilZonesAreThere(runtime, parts, config);
  // A peer that can be copied is not asked for each host first.
  await atMost(runtime, { ms: firstKeysMs, signal }, keys.synced);
  for (const zone of copies.zones.lister.list()) zones.observe(zone);
  const observed = observeAll(copies, gslbs);
  await atMost(runtime, { ms: firstRoundMs, signal }, observed);
  fleetHosts.load();
  // However long that takes: until all claims are known, any host may be a Gslb's.
  tasks.start("forgetting hosts of peers", async () => {
    await whileWaiting(observed, signal);
    memory.retain((host) => gslbs.claims.holder(host) !== undefined || fleetHosts.has(host));
  });
  if (config.notify) authority.onNotify = (hint) => hints.take(hint);
}

function startReconciling(runtime: Runtime, parts: OperatorParts, options: OperatorOptions): void {
  const { client, meter } = options;
  const { tasks, copies, events, zones, gslbs } = parts;
  parts.observing.watch(copies, gslbs);
  watchCluster(parts, async () => {
    // Not at once: kubectl waits for ever for an object to be gone that is there again before it looks.
    await runtime.clock.sleep(restoreAfterMs, tasks.signal);
    await createZones(runtime, parts, options);
  });
  zones.enqueueAll();
  enqueueGslbs(copies, gslbs);
  tasks.start("zone delegations", (signal) => zones.controller.run(signal));
  parts.replica.start();
  parts.legacy.start();
  tasks.start(
    "gslbs",
    parts.replica.lease.vital("the reconciling of Gslbs", (signal) => gslbs.controller.run(signal)),
  );
  const annotated = new AnnotatedIngressController(runtime, {
    ...{ client, copies, events },
    ...(meter === undefined ? {} : { meter }),
  });
  tasks.start("annotated ingresses", (signal) => annotated.controller.run(signal));
}

/** Until everything was decided once, so that nothing known dead is answered; not for ever, since what is stored may be right. */
async function untilDecided(runtime: Runtime, parts: OperatorParts, config: OperatorConfig): Promise<void> {
  const all = Promise.all([firstRound(runtime, parts), parts.geo.opened, firstKeys(runtime, parts, config)]);
  await atMost(runtime, { ms: firstRoundMs, signal: parts.tasks.signal }, all);
}

/** Waits for something, but no longer than this. Rejects with the signal's reason. */
async function atMost(
  { clock }: Pick<Runtime, "clock">,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  awaited: Promise<unknown>,
): Promise<void> {
  await whileWaiting(Promise.race([awaited, clock.sleep(ms, signal).catch(() => {})]), signal);
}

function createZones(
  runtime: Runtime,
  { copies, tasks: { signal } }: OperatorParts,
  { client, config }: Pick<OperatorOptions, "client" | "config">,
): Promise<void> {
  const present = () => copies.zones.lister.list();
  return retrying(runtime, signal, () =>
    applyConfiguredZones({ client, zones: config.zones, present, log: runtime.log, signal }),
  );
}

/** Until the zones are signed with the keys in Secrets, and peers told their own keys and which hosts they carry. */
async function firstKeys(
  { clock }: Pick<Runtime, "clock">,
  { tasks: { signal }, keys, keyExchanges, peers }: OperatorParts,
  { peerDeadlineMs }: OperatorConfig,
): Promise<void> {
  await keys.synced;
  await Promise.all([
    keyExchanges?.round(signal),
    // A name that peers carry must not be denied before they could tell of it.
    Promise.race([peers.heard(), clock.sleep(2 * peerDeadlineMs, signal).catch(() => {})]),
  ]);
}

/** Until each Gslb was reconciled once and the copy shows what was written for it; looks no longer than anybody waits. */
async function firstRound(runtime: Runtime, { copies, gslbs, tasks }: OperatorParts): Promise<void> {
  const untilMs = runtime.clock.monotonicMs() + firstRoundMs;
  await gslbs.controller.idle();
  const isBehind = (key: string): boolean => {
    const wanted = gslbs.wantedRecords(key);
    const stored = copies.endpoints.lister.get(key);
    if (wanted === undefined || deepEqual(wanted, stored?.spec?.endpoints ?? [])) return false;
    const gslb = copies.gslbs.lister.get(key);
    return gslb !== undefined && !isLeftAsIs(gslb, stored);
  };
  let behind = copies.gslbs.lister.list().map(({ metadata }) => objectKey(metadata));
  for (;;) {
    behind = behind.filter(isBehind);
    if (behind.length === 0 || tasks.signal.aborted || runtime.clock.monotonicMs() >= untilMs) return;
    await runtime.clock.sleep(20, tasks.signal).catch(() => {});
  }
}

/** Whether waiting brings a Gslb no other records: the API server refuses them, or it is going and gets none any more. */
function isLeftAsIs(gslb: Gslb, stored: DnsEndpoint | undefined): boolean {
  const isRefused = gslb.status?.conditions?.some(({ reason }) => reason === "WriteRefused") ?? false;
  return isRefused || (stored === undefined && isEnding(gslb));
}

/** Waits until the copy shows the ZoneDelegations that were just created, so that no host looks homeless meanwhile. */
async function untilZonesAreThere(
  runtime: Runtime,
  { copies, tasks }: OperatorParts,
  config: OperatorConfig,
): Promise<void> {
  const served = (): ReadonlySet<string> =>
    new Set(copies.zones.lister.list().map((zone) => canonicalName(zone.spec?.loadBalancedZone ?? "")));
  for (let waitedMs = 0; waitedMs < firstRoundMs; waitedMs += 20) {
    const there = served();
    if (config.zones.every(({ loadBalancedZone }) => there.has(canonicalName(loadBalancedZone)))) return;
    await runtime.clock.sleep(20, tasks.signal);
  }
}

/** Runs what an API server that is not up yet makes fail, until it succeeds or the signal aborts. */
async function retrying(runtime: Runtime, signal: AbortSignal, attempt: () => Promise<void>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      runtime.log.warn("a step of the start failed; trying again", { error });
      await runtime.clock.sleep(Math.min(5000, 100 * 2 ** failures), signal);
    }
  }
}
