import { isDeepStrictEqual } from "node:util";
import {
  AnswerSigner,
  Authority,
  createRequestPipeline,
  DnsClient,
  QueryLog,
  RateLimit,
  registerDnsMetrics,
  type GeoProblem,
  type PartCounters,
  serveDns,
  TlsIdentityFiles,
  TransferPolicy,
  TransferServer,
  TsigKeyring,
  UpdateServer,
  warmUpUpdates,
  ZoneNotifier,
  ZoneTransferClient,
  type DnsServer,
} from "@meridian/dns";
import type { UdpWorkers } from "@meridian/dns/workers";
import { formatEndpoint, serveMetrics, type Runtime } from "@meridian/runtime";
import { collectDefaultMetrics, Registry } from "prom-client";
import { ClosingStack } from "../cluster/closing-stack.ts";
import { watchedFile } from "../cluster/watched-file.ts";
import { MeridianError } from "../meridian-error.ts";
import type { DnsSettings } from "./dns-settings.ts";
import { FollowedGeo } from "./followed-geo.ts";
import { openDatapath } from "./open-datapath.ts";
import type { PreparedZone } from "./prepared-zones.ts";
import { QueryLogFile } from "./query-log-file.ts";
import { readMaterials, type DnsMaterials } from "./read-materials.ts";
import { ServedZones } from "./served-zones.ts";

/** Settings that the listeners are made with: others need a restart. */
const fixedSettings = [
  ...(["listen", "datapath", "workers", "answers", "proxies", "tcp", "rateLimit", "https"] as const),
  ...(["metrics", "queryLog"] as const),
];

const zonesListedMax = 10;

interface Prepared {
  readonly settings: DnsSettings;
  readonly materials: DnsMaterials;
  readonly zones: readonly PreparedZone[];
}

/** Everything that `meridian dns` serves: listeners, zones, keys, and what tells of them. */
export class DnsService implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #closing = new ClosingStack();
  readonly #keyring = new TsigKeyring();
  readonly #authority: Authority;
  readonly #geo: FollowedGeo;
  #zones!: ServedZones;
  #server!: DnsServer;
  #metricsAt: string | undefined;
  #queryLogFile: QueryLogFile | undefined;
  #identityFiles: TlsIdentityFiles | undefined;
  #parts: PartCounters = {};
  #settings: DnsSettings;
  #changing: Promise<unknown> = Promise.resolve();

  private constructor(runtime: Runtime, settings: DnsSettings) {
    const { random, clock } = runtime;
    this.#runtime = runtime;
    this.#settings = settings;
    this.#authority = new Authority({
      ...{ random, clock, ...settings.answers },
      rateLimit:
        settings.rateLimit !== "off" && RateLimit.create({ ...settings.rateLimit, seed: random.uint32() }),
    });
    this.#geo = new FollowedGeo(runtime, this.#authority);
  }

  /**
   * Reads everything, then binds, then answers.
   *
   * @param stopping ends the start where it may be long, with its reason
   * @throws MeridianError `BadFile` with a line for each problem; NetworkError when an endpoint cannot be bound
   */
  static async start(runtime: Runtime, settings: DnsSettings, stopping?: AbortSignal): Promise<DnsService> {
    const service = new DnsService(runtime, settings);
    try {
      await service.#start(stopping);
    } catch (error) {
      await service.#closing.close().catch(() => {}); // the first failure says more
      throw error;
    }
    return service;
  }

  /**
   * Reads and checks everything that the settings name.
   *
   * @returns a line for each zone, and for what no start fails for: journals with a torn end, geo files that are not there
   * @throws MeridianError `BadFile` with a line for each problem
   */
  static async check(runtime: Runtime, settings: DnsSettings): Promise<readonly string[]> {
    const service = new DnsService(runtime, settings);
    try {
      await service.#openZones(undefined);
      const { zones } = await service.#prepare(settings);
      const problems: string[] = [];
      const torn = await service.#zones.checkJournals(zones, problems);
      if (problems.length > 0) throw new MeridianError("BadFile", problems.join("\n"));
      const geoProblems = await service.#geo.check(settings.geo);
      const damaged = geoProblems.filter(({ reason }) => reason.endsWith("Unusable"));
      if (damaged.length > 0) throw new MeridianError("BadFile", damaged.map(geoLine).join("\n"));
      return [
        ...zones.map((zone) =>
          "zone" in zone ? `${zone.zone.origin}, serial ${zone.zone.serial}: well` : `${zone.origin}: well`,
        ),
        ...torn,
        ...geoProblems.map(geoLine),
      ];
    } finally {
      await service.#closing.close();
    }
  }

  /** One line for each thing that is served and where. */
  get summary(): readonly string[] {
    const { local, localTls, localHttps } = this.#server;
    const origins = this.#authority.zones.map(({ origin }) => origin);
    const { https } = this.#settings;
    return [
      `Serving ${shortList(origins)} at ${local.map(formatEndpoint).join(", ")}`,
      ...(localTls.length === 0 ? [] : [`Over TLS at ${localTls.map(formatEndpoint).join(", ")}`]),
      ...localHttps.map((at) => `Over HTTPS at https://${formatEndpoint(at)}${https?.path ?? "/dns-query"}`),
      ...(this.#metricsAt === undefined ? [] : [`Metrics at ${this.#metricsAt}`]),
    ];
  }

  /**
   * Takes other settings, and reads all files again. Either everything is as it says then, or nothing has changed.
   *
   * @returns settings that differ and need a restart
   * @throws MeridianError `BadFile` with a line for each problem
   */
  reload(settings: DnsSettings): Promise<readonly string[]> {
    const reloaded = this.#changing.then(async () => {
      const prepared = await this.#prepare(settings);
      // What may fail comes before what changes anything.
      await this.#queryLogFile?.reopen();
      await this.#apply(prepared);
      const changed = fixedSettings.filter((key) => !isDeepStrictEqual(this.#settings[key], settings[key]));
      const tlsListen = !isDeepStrictEqual(this.#settings.tls?.listen, settings.tls?.listen);
      this.#settings = {
        ...settings,
        ...Object.fromEntries(fixedSettings.map((key) => [key, this.#settings[key]])),
      };
      return [...changed.map(nameInFile), ...(tlsListen ? ["tls.listen"] : [])];
    });
    this.#changing = reloaded.catch(() => {});
    return reloaded;
  }

  /** Stops accepting, answers what is due, and closes the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#changing;
    await this.#closing.close();
  }

  async #start(stopping: AbortSignal | undefined): Promise<void> {
    const settings = this.#settings;
    const { queryLog, https, tls, proxies } = settings;
    const log = queryLog && (await this.#openQueryLog(queryLog));
    const workers = openDatapath(this.#runtime, this.#authority, {
      ...{ datapath: settings.datapath, workers: settings.workers, proxies },
      ...(log === undefined ? {} : { queryLog: log }),
    });
    await this.#openZones(workers);
    const prepared = await this.#prepare(settings);
    await this.#apply(prepared, stopping);
    this.#closing.defer(async () => this.#identityFiles?.[Symbol.asyncDispose]());
    const { identity } = prepared.materials;
    // Threads start on another core meanwhile.
    const takesUpdates = settings.zones.some((zone) => zone.kind === "file" && zone.updates !== undefined);
    const [server] = await Promise.all([
      serveDns(this.#runtime, {
        authority: this.#authority,
        ...{ listen: settings.listen, tcp: settings.tcp, proxies },
        ...(identity === undefined || tls === undefined ? {} : { tls: { listen: tls.listen, identity } }),
        ...(identity === undefined || https === undefined ? {} : { https: { ...https, identity } }),
        ...(log === undefined ? {} : { answer: log.noting(this.#authority.answer) }),
        ...(workers === undefined ? {} : { serveUdp: workers.serveUdp }),
      }),
      takesUpdates ? warmUpUpdates(this.#runtime, stopping) : undefined,
    ]);
    this.#server = this.#closing.use(server);
    this.#followIdentity(settings, prepared.materials);
    if (settings.metrics !== undefined) await this.#serveMetrics(workers, log);
  }

  async #openZones(workers: UdpWorkers | undefined): Promise<void> {
    const runtime = this.#runtime;
    const authority = this.#authority;
    const { clock, log } = runtime;
    const client = this.#closing.use(new DnsClient(runtime));
    const notifier = this.#closing.use(new ZoneNotifier(runtime, { client }));
    const updates = await UpdateServer.open(runtime, { authority, zones: [] });
    const transfers = new TransferServer({ clock, zones: authority, policy: new TransferPolicy([]) });
    const transferClient = new ZoneTransferClient(runtime);
    const answers = new AnswerSigner({ clock });
    this.#parts = {
      updates,
      transfersOut: transfers,
      transfersIn: transferClient,
      notifier,
      signer: answers,
    };
    this.#closing.use(this.#geo);
    this.#zones = this.#closing.use(
      new ServedZones(runtime, {
        ...{ authority, updates, transfers, client, notifier, answers, transferClient },
        onSigning: (zone, signing) => {
          if (signing !== undefined) workers?.sign(signing);
          else workers?.unsign(zone.tree.origin);
        },
      }),
    );
    const { rateLimit } = authority;
    authority.requests = createRequestPipeline({
      ...{ clock, log, authority, keyring: this.#keyring },
      ...{ update: updates.handle, transfer: transfers.answer },
      ...(rateLimit === undefined ? {} : { rateLimit }),
    });
  }

  async #prepare(settings: DnsSettings): Promise<Prepared> {
    const problems: string[] = [];
    const materials = await readMaterials(settings, problems);
    const zones = await this.#zones.prepare(settings, materials, problems);
    if (problems.length > 0) throw new MeridianError("BadFile", problems.join("\n"));
    return { settings, materials, zones };
  }

  async #apply({ settings, materials, zones }: Prepared, stopping?: AbortSignal): Promise<void> {
    const problems: string[] = [];
    await this.#zones.openJournals(zones, problems, stopping);
    if (problems.length > 0) throw new MeridianError("BadFile", problems.join("\n"));
    this.#keyring.replace(materials.keys.values());
    if (materials.cookies !== undefined) this.#authority.cookieSecrets.set(materials.cookies);
    await this.#geo.follow(settings.geo);
    await this.#zones.apply(zones);
    if (this.#server !== undefined) this.#followIdentity(settings, materials);
  }

  /** Serves the certificate as it is now, and as it will be in the same files. */
  #followIdentity({ tls }: DnsSettings, { identity }: DnsMaterials): void {
    const before = this.#identityFiles;
    this.#identityFiles = undefined;
    if (before !== undefined) {
      void before[Symbol.asyncDispose]();
      if (identity !== undefined) this.#server.setIdentity(identity);
    }
    if (tls === undefined || identity === undefined) return;
    const files = new TlsIdentityFiles(this.#runtime, {
      certificate: watchedFile(tls.certificate.path),
      privateKey: watchedFile(tls.privateKey.path),
      served: identity,
      onIdentity: (renewed) => this.#server.setIdentity(renewed),
    });
    this.#identityFiles = files;
  }

  async #openQueryLog({ path, ...options }: NonNullable<DnsSettings["queryLog"]>): Promise<QueryLog> {
    const file = this.#closing.use(await QueryLogFile.open(path));
    this.#queryLogFile = file;
    return this.#closing.use(
      new QueryLog(this.#runtime, { ...options, write: (lines) => file.write(lines) }),
    );
  }

  async #serveMetrics(workers: UdpWorkers | undefined, queryLog: QueryLog | undefined): Promise<void> {
    const { metrics: listen } = this.#settings;
    const authority = this.#authority;
    const { rateLimit } = authority;
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    registerDnsMetrics(registry, {
      ...{ authority, server: this.#server, geo: () => this.#geo.status, parts: this.#parts },
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(queryLog === undefined ? {} : { queryLog }),
      ...(workers === undefined ? {} : { threads: () => workers.counters }),
    });
    const ready = (): true | string => {
      const waiting = authority.zones.filter((zone) => !zone.ready).map(({ origin }) => origin);
      if (waiting.length === 0) return true;
      return `no content yet, or expired, of ${shortList(waiting)}; the log says why`;
    };
    const served = this.#closing.use(await serveMetrics(this.#runtime, { listen: listen!, registry, ready }));
    this.#metricsAt = `http://${formatEndpoint(served.local)}/metrics`;
  }
}

function shortList(origins: readonly string[]): string {
  const more = origins.length > zonesListedMax ? ` and ${origins.length - zonesListedMax} more` : "";
  return `${origins.slice(0, zonesListedMax).join(", ")}${more}`;
}

function geoLine({ message }: GeoProblem): string {
  return `geo: ${message}`;
}

/** Settings as a user knows them. */
function nameInFile(key: (typeof fixedSettings)[number]): string {
  return key === "answers" ? "udpPayloadBytes, version, serverId, ednsSubnet or badCookie" : key;
}
