import type { EventNote } from "@meridian/controller";
import type { DnsClient, Verdict } from "@meridian/dns";
import { conflict } from "@meridian/kube";
import type { Endpoint } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { parseOperatorConfig } from "../config/operator-config.ts";
import { ServedZones } from "../controllers/served-zones.ts";
import { ZoneDelegationController } from "../controllers/zone-delegation-controller.ts";
import type { ZonePair } from "../decide/zone-names.ts";
import type { DelegatedZone, DelegationProvider } from "../delegation/delegation-provider.ts";
import { FleetLookup } from "../delegation/fleet-lookup.ts";
import type { OwnAddresses } from "../delegation/own-dns-addresses.ts";
import { ZoneMembers } from "../delegation/zone-members.ts";
import { zoneDelegationType } from "../resources/resource-types.ts";
import type { ZoneDelegation, ZoneDelegationStatus } from "../resources/zone-delegation.ts";

/** What the world of some ZoneDelegations has beside them. */
export interface ZoneWorldOptions {
  readonly zones?: readonly ZoneDelegation[];
  readonly settings?: Readonly<Record<string, string>>;
  readonly provider?: DelegationProvider;
  /** Answers what is asked of edge servers and peers; nobody by default. */
  readonly answer?: (question: { readonly name: string; readonly type: string; readonly servers: readonly Endpoint[] }) => Verdict;
  /** What the server keeps of a status that is written. */
  readonly keep?: (status: ZoneDelegationStatus | undefined) => ZoneDelegationStatus | undefined;
}

/** A controller of ZoneDelegations in simulated time, with everything around it in memory. */
export interface ZoneWorld {
  readonly controller: ZoneDelegationController;
  readonly members: ZoneMembers;
  readonly objects: Map<string, ZoneDelegation>;
  /** Every write, as `update name` or `status name`. */
  readonly writes: string[];
  readonly notes: EventNote[];
  /** The zones that are answered, with their NS sets. */
  readonly answered: Map<string, readonly string[]>;
  /** Peers that were told of this cluster. */
  readonly greeted: string[];
  readonly own: { addresses: OwnAddresses; isAnswering: boolean };
  /** Whether the copy, and so what is written, is behind the server. */
  readonly copy: { isBehind: boolean };
  /** Lets time pass. */
  readonly settle: (ms?: number) => Promise<void>;
  /** Changes an object as a person would, and wakes the controller. */
  readonly change: (name: string, change: (zone: ZoneDelegation) => ZoneDelegation | undefined) => void;
  /** Begins deleting. */
  readonly remove: (name: string) => void;
}

/** Opens such a world and starts its controller. */
export function openZoneWorld(options: ZoneWorldOptions = {}): ZoneWorld {
  const { zones = [], settings = {}, provider, keep = (status) => status } = options;
  const config = parseOperatorConfig({
    CLUSTER_GEO_TAG: "eu",
    EDGE_DNS_SERVERS: "192.0.2.53",
    ...settings,
  }).config!;
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const objects = new Map(zones.map((zone) => [zone.metadata.name!, zone]));
  const writes: string[] = [];
  const notes: EventNote[] = [];
  const answered = new Map<string, readonly string[]>();
  const greeted: string[] = [];
  const own: ZoneWorld["own"] = { addresses: { addresses: ["192.0.2.1"] }, isAnswering: true };
  const copy = { isBehind: false };
  const lister = { get: (name: string) => objects.get(name), list: () => [...objects.values()] };
  const { geoTag, peerGeoTags, nameServerPrefix, areGeoTagsDynamic: areDynamic } = config;
  const members = new ZoneMembers({ geoTag, peerGeoTags, nameServerPrefix, areDynamic, onChange() {} });
  const served = new ServedZones({
    feeder: {
      setZone: ({ loadBalancedZone }) => void answered.set(loadBalancedZone, answered.get(loadBalancedZone) ?? []),
      removeZone: (zone) => void answered.delete(zone),
      setNameServers: (zone, names) => void answered.set(zone, names),
    },
    peers: { addZone() {}, removeZone() {}, setPeers() {} },
    ...{ members, config, onChange() {} },
  });
  const dnsClient: Pick<DnsClient, "query"> = {
    query: async (question) => options.answer?.(question) ?? { state: "unreachable", reason: "no network" },
  };
  const fleet = new FleetLookup({
    edgeServers: () => [{ address: "192.0.2.53", port: 53 }],
    ...{ config, dnsClient, members, provider },
  });
  const put = (kind: string, zone: ZoneDelegation): void => {
    const name = zone.metadata.name!;
    writes.push(`${kind} ${name}`);
    const isGone =
      zone.metadata.deletionTimestamp !== undefined && (zone.metadata.finalizers ?? []).length === 0;
    if (isGone) objects.delete(name);
    else objects.set(name, zone);
    controller.controller.enqueue(name);
  };
  const controller: ZoneDelegationController = new ZoneDelegationController(runtime, {
    client: {
      update: async <T>(_type: unknown, object: T): Promise<T> => {
        put("update", object as ZoneDelegation);
        return object;
      },
      updateStatus: async <T>(_type: unknown, object: T): Promise<T> => {
        const zone = object as ZoneDelegation;
        const { status: _status, ...rest } = zone;
        const kept = keep(zone.status);
        const stored = kept === undefined ? rest : { ...rest, status: kept };
        writes.push(`status ${zone.metadata.name}`);
        if (copy.isBehind) throw conflict(zoneDelegationType, zone.metadata.name!, "it was changed");
        objects.set(zone.metadata.name!, stored);
        return stored as T;
      },
    },
    copies: { zones: { lister } },
    peers: { setServers() {} },
    events: { record: (_about, note) => void notes.push(note) },
    ...{ served, config, dnsClient, members, fleet, provider },
    ownAddresses: () => own.addresses,
    isAnswering: () => own.isAnswering,
    greet: (_zone: ZonePair, servers) => void greeted.push(...servers.map(({ address }) => address)),
  });
  void controller.controller.run(new AbortController().signal);
  for (const name of objects.keys()) controller.controller.enqueue(name);
  const change: ZoneWorld["change"] = (name, changed) => {
    const zone = changed(objects.get(name)!);
    if (zone === undefined) objects.delete(name);
    else {
      const { generation = 1 } = zone.metadata;
      objects.set(name, { ...zone, metadata: { ...zone.metadata, generation: generation + 1 } });
    }
    controller.controller.enqueue(name);
  };
  return {
    ...{ controller, members, objects, writes, notes, answered, greeted, own, copy, change },
    settle: (ms = 1000) => simulation.complete(runtime.clock.sleep(ms), { untilMs: simulation.nowMs + ms + 1000 }),
    remove: (name) =>
      change(name, (zone) => {
        if ((zone.metadata.finalizers ?? []).length === 0) return undefined;
        const deletionTimestamp = "2026-01-01T00:00:00Z";
        return { ...zone, metadata: { ...zone.metadata, deletionTimestamp } };
      }),
  };
}

/** A provider that remembers what it was told, and can be made to fail. */
export class FakeProvider implements DelegationProvider {
  readonly name: string = "fake";
  /** What is delegated, by zone. */
  readonly delegated: Map<string, DelegatedZone> = new Map();
  readonly calls: string[] = [];
  failure: Error | undefined;
  waits = false;

  async ensure(zone: DelegatedZone): Promise<void> {
    this.calls.push(`ensure ${zone.parentZone} ${zone.loadBalancedZone}`);
    if (this.failure !== undefined) throw this.failure;
    this.delegated.set(`${zone.parentZone} ${zone.loadBalancedZone}`, zone);
  }

  async withdraw(zone: DelegatedZone): Promise<"withdrawn" | "waiting"> {
    this.calls.push(`withdraw ${zone.parentZone} ${zone.loadBalancedZone}${zone.isLast ? " last" : ""}`);
    if (this.failure !== undefined) throw this.failure;
    if (this.waits) return "waiting";
    this.delegated.delete(`${zone.parentZone} ${zone.loadBalancedZone}`);
    return "withdrawn";
  }
}
