import {
  formatEndpoint,
  NetworkError,
  type Endpoint,
  type Network,
  type NetworkErrorCode,
  type TcpListener,
} from "@meridian/runtime";
import { MeridianError } from "../meridian-error.ts";
import { fleetLayout, singleAddressStep, type Addressing, type FleetLayout } from "./fleet-layout.ts";

/** What a person, or an earlier start, wants of the places. */
export interface LayoutWish {
  readonly clusterCount: number;
  /** As the person gave it; otherwise 5300, and with a single address the next free ones. */
  readonly dnsPort?: number;
  readonly singleAddress: boolean;
  /** What the same data folder used before: tried first, so that addresses in scripts and certificates stay. */
  readonly remembered?: Addressing;
}

/** The places found, and the claim on them. */
export interface ChosenLayout {
  readonly layout: FleetLayout;
  /** Holds the places against other fleets; close it at the end. */
  readonly claim: TcpListener;
  /** Why this is not what was wished or remembered, for people. */
  readonly notes: readonly string[];
}

const defaultDnsPort = 5300;
const networkMin = 10;
const networkMax = 250;
const offsetsMax = 10;

/**
 * Finds places where nothing listens yet, and claims them.
 *
 * @throws MeridianError `PortTaken`, `PermissionDenied` or `AddressMissing`
 */
export async function chooseLayout(network: Network, wish: LayoutWish): Promise<ChosenLayout> {
  const notes: string[] = [];
  let taken: Occupied | undefined;
  let takenByFleet = true;
  for (const addressing of candidates(wish)) {
    const dnsPort =
      wish.dnsPort ?? defaultDnsPort + (addressing.kind === "single-address" ? addressing.offset : 0);
    const layout = fleetLayout(addressing, { clusterCount: wish.clusterCount, dnsPort });
    const outcome = await claimIfFree(network, layout);
    if (outcome.kind === "free") return { layout, claim: outcome.claim, notes };
    if (outcome.code === "PermissionDenied") throw permissionDenied(outcome);
    if (outcome.code === "AddressNotAvailable") {
      if (addressing.kind === "single-address") throw addressMissing(outcome);
      const rest = await chooseLayout(network, { ...wish, singleAddress: true });
      return {
        ...rest,
        notes: [`this system has no address ${outcome.at.address}: using 127.0.0.1 only`, ...rest.notes],
      };
    }
    if (takenByFleet) {
      // Other fleets have their networks by right; what a person must hear of is what stands in the way of the rest.
      taken = outcome;
      takenByFleet = outcome.at === layout.claim;
    }
    if (sameAddressing(addressing, wish.remembered))
      notes.push(`${describe(outcome)} is taken: using other addresses than before`);
  }
  throw portTaken(taken, wish);
}

function* candidates(wish: LayoutWish): Generator<Addressing> {
  const { remembered } = wish;
  const kind = wish.singleAddress ? "single-address" : "own-addresses";
  if (remembered?.kind === kind) yield remembered;
  if (wish.singleAddress) {
    for (let step = 0; step < offsetsMax; step++)
      yield { kind: "single-address", offset: step * singleAddressStep };
    return;
  }
  for (let network = networkMin; network <= networkMax; network++) yield { kind: "own-addresses", network };
}

function sameAddressing(one: Addressing, other: Addressing | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Occupied {
  readonly kind: "occupied";
  readonly at: Endpoint;
  readonly transport: "udp" | "tcp";
  readonly code: NetworkErrorCode;
  readonly cause: unknown;
}

/** The claim comes first: whoever has it is alone in looking at the other places. */
async function claimIfFree(
  network: Network,
  layout: FleetLayout,
): Promise<Occupied | { readonly kind: "free"; readonly claim: TcpListener }> {
  const claim = await attempt(layout.claim, "tcp", () => listen(network, layout.claim));
  if ("kind" in claim) return claim;
  const dns = [layout.parent.dns, ...layout.clusters.map((cluster) => cluster.dns)];
  const tcp = [
    ...dns,
    ...layout.clusters.flatMap((cluster) => [cluster.apiServer, cluster.operator, cluster.metrics]),
  ];
  const probes = [
    ...dns.map((at) => ({
      at,
      transport: "udp" as const,
      open: () => network.bindUdp({ ...at, onDatagram() {} }),
    })),
    ...tcp.map((at) => ({ at, transport: "tcp" as const, open: () => listen(network, at) })),
  ];
  for (const { at, transport, open } of probes) {
    const opened = await attempt<AsyncDisposable>(at, transport, open);
    if ("kind" in opened) {
      await claim[Symbol.asyncDispose]();
      return opened;
    }
    await opened[Symbol.asyncDispose]();
  }
  return { kind: "free", claim };
}

function listen(network: Network, at: Endpoint): Promise<TcpListener> {
  return network.listenTcp({ ...at, onConnection: (connection) => connection.destroy() });
}

async function attempt<T>(
  at: Endpoint,
  transport: "udp" | "tcp",
  open: () => Promise<T>,
): Promise<T | Occupied> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    return { kind: "occupied", at, transport, code: error.code, cause: error };
  }
}

function describe(occupied: Occupied): string {
  return `${formatEndpoint(occupied.at)}/${occupied.transport}`;
}

function permissionDenied(occupied: Occupied): MeridianError {
  return new MeridianError(
    "PermissionDenied",
    `no permission to listen on ${describe(occupied)}: ports below 1024 belong to root; ` +
      `use sudo, or a higher port, for example --port ${defaultDnsPort}`,
    { cause: occupied.cause },
  );
}

function addressMissing(occupied: Occupied): MeridianError {
  return new MeridianError(
    "AddressMissing",
    `cannot listen on ${describe(occupied)}: this system has no such address; bring its loopback interface up`,
    { cause: occupied.cause },
  );
}

function portTaken(occupied: Occupied | undefined, wish: LayoutWish): MeridianError {
  if (occupied === undefined) return new MeridianError("PortTaken", "no free addresses");
  const { port } = occupied.at;
  const look = occupied.transport === "udp" ? "ss -lnup" : "ss -lntp";
  const tried = wish.singleAddress ? "" : ` and on 127.0.${networkMin}.* to 127.0.${networkMax}.*`;
  return new MeridianError(
    "PortTaken",
    `${describe(occupied)} is taken${tried}, perhaps by another fleet or a DNS server that listens on all addresses ` +
      `("${look} 'sport = :${port}'" shows it): stop it, or choose another port with --port`,
    { cause: occupied.cause },
  );
}
