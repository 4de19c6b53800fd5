import { Authority } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import type { AnswerModes } from "../decide/answer-modes.ts";
import { PeerViews } from "../peers/peer-views.ts";
import { Peers } from "../peers/peers.ts";
import type { DnsEndpoint, DnsEndpointRecord } from "../resources/dns-endpoint.ts";
import { TaskScope } from "../tasks/task-scope.ts";
import { SerialStore } from "../zones/serial-store.ts";
import { ZoneFeeder } from "../zones/zone-feeder.ts";
import { FakeObjects } from "./fake-objects.ts";

/** A feeder and the DNS server that it feeds; DNSEndpoints named `own…` count as those of Gslbs. */
export interface FeederWorld {
  readonly simulation: Simulation;
  readonly authority: Authority;
  readonly feeder: ZoneFeeder;
  readonly objects: Map<string, readonly DnsEndpointRecord[]>;
  readonly notes: string[];
  readonly put: (key: string, records: readonly DnsEndpointRecord[] | undefined) => void;
}

/** Opens a world without zones. */
export function openFeederWorld(answerModes?: AnswerModes): FeederWorld {
  const simulation = new Simulation({ seed: 1 });
  const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
  const authority = new Authority({ random: runtime.random });
  const tasks = new TaskScope(silentLogger);
  const views = new PeerViews(runtime.clock, { get: () => undefined, set() {}, retain() {} }, () => {});
  const query = async (): Promise<{ readonly state: "unreachable"; readonly reason: string }> => ({
    state: "unreachable",
    reason: "nobody",
  });
  const peers = new Peers(runtime, {
    dnsClient: { query },
    views,
    tasks,
    geoTag: "eu",
    peerGeoTags: ["us"],
    nameServerPrefix: "gslb-ns-",
    deadlineMs: 1,
    periodMs: 1,
  });
  const objects = new Map<string, readonly DnsEndpointRecord[]>();
  const notes: string[] = [];
  const feeder = new ZoneFeeder(runtime, {
    authority,
    dnsClient: { notify: async () => [] },
    store: new SerialStore(new FakeObjects().client, "k8gb"),
    peers,
    events: { record: (about, { message }) => notes.push(`${about.metadata.name} ${message}`) },
    tasks,
    geoTag: "eu",
    geoTags: ["eu", "us"],
    nameServerPrefix: "gslb-ns-",
    nameServerTtlSeconds: 30,
    notify: false,
    ...(answerModes === undefined ? {} : { answerModes }),
    read: (key) => {
      const records = objects.get(key);
      if (records === undefined) return undefined;
      const object: DnsEndpoint = {
        apiVersion: "externaldns.k8s.io/v1alpha1",
        kind: "DNSEndpoint",
        metadata: { namespace: "demo", name: key },
      };
      return {
        booked: {
          ...{ key, since: "2026-01-01T00:00:00Z", records },
          ...(key.startsWith("own")
            ? { isOwn: true, policyText: '"v=1" "strategy=roundRobin"' }
            : { isOwn: false }),
        },
        object,
      };
    },
  });
  const put = (key: string, records: readonly DnsEndpointRecord[] | undefined): void => {
    if (records === undefined) objects.delete(key);
    else objects.set(key, records);
    feeder.touch(key);
  };
  return { simulation, authority, feeder, objects, notes, put };
}
