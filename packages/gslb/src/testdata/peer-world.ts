import {
  Authority,
  createRequestPipeline,
  DnsClient,
  parseTsigKeyFile,
  serveDns,
  TsigKeyring,
  Zone,
  ZoneTransferClient,
  type RecordSet,
  type TransferServer,
  type TsigKey,
} from "@meridian/dns";
import { silentLogger, type Endpoint } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { localTargetsName } from "../decide/local-targets-name.ts";
import { publishedName, publishedText } from "../decide/published-host.ts";
import { localTargetsZone } from "../decide/zone-names.ts";
import { PeerSession } from "../peers/peer-session.ts";
import { PeerViews } from "../peers/peer-views.ts";
import { TaskScope } from "../tasks/task-scope.ts";
import { viewTransferServer } from "../zones/view-transfer-server.ts";

export const zoneName = "cloud.example.com";
export const periodMs = 30_000;
export const deadlineMs = 2_000;

/** The fleet's key, or one of the same name with another secret. */
export function fleetKey(letter = "A"): TsigKey {
  const secret = Buffer.alloc(32, letter).toString("base64");
  return parseTsigKeyFile(`key "meridian-peers" { algorithm hmac-sha256; secret "${secret}"; };`)[0]!;
}

const soaTimes = { refresh: 30, retry: 5, expire: 86_400, minimum: 30, ttl: 30 };
const policyText = '"v=1" "strategy=roundRobin"';

/** One replica of a peer: a real DNS server in the simulated network, with what it publishes set by hand. */
export class PeerReplica {
  readonly node: SimNode;
  readonly #zone: Zone;
  readonly #view: Zone;
  readonly authority: Authority;
  readonly transfers: TransferServer;
  readonly keyring: TsigKeyring = new TsigKeyring();
  readonly #hasView: boolean;

  constructor(
    node: SimNode,
    options: { readonly key?: TsigKey | undefined; readonly hasView?: boolean; readonly serial?: number },
  ) {
    const { runtime } = node;
    this.node = node;
    this.#hasView = options.hasView ?? true;
    this.authority = new Authority({ random: runtime.random, clock: runtime.clock, rateLimit: false });
    this.keyring.replace(options.key === undefined ? [] : [options.key]);
    const zone = (origin: string, serial: number): Zone =>
      new Zone({
        ...{ origin, nameServers: ["ns.example.com"], nameServerTtl: 30 },
        soa: { mname: "ns.example.com", rname: "h.example.com", serial, ...soaTimes },
      });
    this.#zone = zone(zoneName, 1);
    this.#view = zone(localTargetsZone(zoneName), options.serial ?? 1);
    this.authority.setZone(this.#zone);
    if (this.#hasView) this.authority.setZone(this.#view);
    this.transfers = viewTransferServer({ clock: runtime.clock, authority: this.authority });
    this.authority.requests = createRequestPipeline({
      ...{ clock: runtime.clock, log: silentLogger, keyring: this.keyring, authority: this.authority },
      transfer: this.transfers.answer,
    });
  }

  get serial(): number {
    return this.#view.serial;
  }

  /** Starts or stops giving the view away. */
  set isViewReady(isReady: boolean) {
    this.#view.setReady(isReady);
  }

  /** Publishes these targets of hosts, in one step; `undefined`: the host is not carried any more. */
  publish(targets: ReadonlyMap<string, readonly string[] | undefined>): void {
    const own = new Map<string, readonly RecordSet[]>();
    const told = new Map<string, readonly RecordSet[]>();
    for (const [host, addresses] of targets) {
      const local = localTargetsName(host);
      const name = publishedName(host, zoneName);
      const set = (owner: string, type: string, data: readonly string[]): RecordSet => ({
        name: owner,
        type,
        ttl: 5,
        data,
      });
      const isServed = addresses !== undefined && addresses.length > 0;
      own.set(local, isServed ? [set(local, "A", addresses)] : []);
      const served = isServed ? [set(name, "A", addresses)] : [];
      told.set(name, addresses === undefined ? [] : [...served, set(name, "TXT", [publishedText(host, zoneName, policyText)])]);
    }
    this.#zone.replace(own);
    this.#view.replace(told);
  }

  /** Serves on the addresses given, which are the node's own. */
  async serve(...addresses: readonly string[]): Promise<void> {
    await serveDns(this.node.runtime, {
      authority: this.authority,
      listen: addresses.map((address) => ({ address, port: 53 })),
    });
  }
}

/** A session with one peer, and a count of what crosses the network. */
export interface PeerWorld {
  readonly simulation: Simulation;
  readonly session: PeerSession;
  readonly views: PeerViews;
  /** Hosts whose views changed, in order. */
  readonly changed: string[];
  /** Each datagram and each message of a connection since it was last emptied. */
  readonly packets: string[];
  /** For each time that the peer's carriage was told to be another: whether it was known. */
  readonly carriages: boolean[];
  /** How often the peer newly proved itself. */
  readonly proofs: { count: number };
  /** `state targets` of a host's A view. */
  readonly seen: (host: string) => string;
  readonly pass: (ms: number) => Promise<void>;
}

export const peerAddress = "10.0.0.2";

/** Opens a session that keeps views of these hosts. */
export function openPeerWorld(
  hosts: readonly string[],
  options: { readonly key?: TsigKey | undefined; readonly requiresProof?: boolean } = {},
): PeerWorld {
  const packets: string[] = [];
  const simulation = new Simulation({
    seed: 1,
    link: { delayMs: { min: 1, max: 2 }, loss: 0, duplication: 0 },
    onTrace: (line) => {
      if (/ (datagram|connection) /.test(line)) packets.push(line);
    },
  });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const changed: string[] = [];
  const carriages: boolean[] = [];
  const proofs = { count: 0 };
  const views = new PeerViews(runtime.clock, { get: () => undefined, set() {}, retain() {} }, (host) =>
    changed.push(host),
  );
  views.setPeers(zoneName, ["us"]);
  for (const host of hosts) views.add(host, { zone: zoneName, thresholdSeconds: 0 });
  const from = "10.0.0.1";
  const session: PeerSession = new PeerSession(runtime, {
    ...{ zone: zoneName, geoTag: "us", deadlineMs, periodMs, views },
    dnsClient: new DnsClient(runtime, { from }),
    transfers: new ZoneTransferClient(runtime, { from, idleMs: deadlineMs }),
    tasks: new TaskScope(silentLogger),
    requiresProof: options.requiresProof ?? false,
    onCarriage: () => carriages.push(session.isCarriageKnown),
    onProved: () => (proofs.count += 1),
  });
  session.setKey(options.key);
  const seen = (host: string): string => {
    const view = views.of(host).find(({ family }) => family === "A");
    return `${view?.state} ${view?.targets.join(" ")}`.trim();
  };
  const pass = (ms: number): Promise<void> => simulation.run({ untilMs: simulation.nowMs + ms });
  return { simulation, session, views, changed, packets, carriages, proofs, seen, pass };
}

/** Where the peer is asked. */
export const peerServer: Endpoint = { address: peerAddress, port: 53 };

/** Starts the peer's only replica. */
export async function startPeer(
  { simulation }: PeerWorld,
  options: ConstructorParameters<typeof PeerReplica>[1] & { readonly addresses?: readonly string[] },
): Promise<PeerReplica> {
  const { addresses = [peerAddress] } = options;
  const replica = new PeerReplica(simulation.node({ name: "us", addresses }), options);
  await simulation.complete(replica.serve(...addresses));
  return replica;
}

/** Serves replicas behind one address: each message goes to the one that is picked. */
export async function startReplicas(
  { simulation }: PeerWorld,
  replicas: readonly PeerReplica[],
  pick: () => PeerReplica,
): Promise<void> {
  const front = replicas[0]!;
  const behind = replicas.map(({ authority }) => authority.requests!);
  front.authority.requests = {
    handle: (request) => behind[replicas.indexOf(pick())]!.handle(request),
  };
  await simulation.complete(
    serveDns(front.node.runtime, {
      authority: front.authority,
      listen: [peerServer],
      // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
      answer: (input, offset, length, client, output) =>
        pick().authority.answer(input, offset, length, client, output),
    }),
  );
}

export function hostNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `h${index}.${zoneName}`);
}
