import type { FleetSettings } from "./fleet/fleet-settings.ts";
import type { Plant } from "./fleet/plant.ts";
import { wrappedRuntime } from "./fleet/wrapped-runtime.ts";
import { answeringAnswers, answeringOnlyEdns } from "./faults/wrong-answers.ts";
import {
  BackingOffClient,
  EmptyHandedClient,
  ForgetfulClient,
  LateHearingClient,
  OneAddressClient,
  RememberingClient,
  SingleFileClient,
  StrictClient,
  StuckSerialClient,
} from "./faults/wrong-clients.ts";
import {
  changingEndpoints,
  droppingRefusals,
  hidingFleetKey,
  forgettingSilence,
  forgettingVersions,
  losingEvents,
  trusting,
  withoutEmptyHosts,
  withoutLabel,
  withoutZeroWeights,
} from "./faults/wrong-handlers.ts";
import { hastyDisk, watchingFromNow } from "./faults/wrong-storage.ts";

/** A fault that somebody might build in, at a seam, and the invariant whose checker must find it. */
export interface PlantedFault {
  readonly name: string;
  readonly invariant: number;
  readonly plant: Plant;
  /** A seed that is known to find it, tried first. */
  readonly seed?: number;
  /** What the fleet must be for the fault to matter. */
  readonly settings?: Partial<FleetSettings>;
}

const nobodyKeyed: Partial<FleetSettings> = { keyed: { eu: false, us: false, za: false } };
const allKeyed: Partial<FleetSettings> = { keyed: { eu: true, us: true, za: true } };
const allOurs: Partial<FleetSettings> = { kinds: { eu: "meridian", us: "meridian", za: "meridian" } };

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "the last answer of a peer that went silent is taken for a new one",
    invariant: 1,
    seed: 2,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new RememberingClient(runtime, { from: dns.address }) },
  },
  {
    name: "an unreachable peer is taken for one that has nothing",
    invariant: 2,
    seed: 8,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new EmptyHandedClient(runtime, { from: dns.address }) },
  },
  {
    name: "of a peer's targets the last one is lost",
    invariant: 3,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new ForgetfulClient(runtime, { from: dns.address }) },
  },
  {
    name: "a restart forgets since when peers are silent",
    invariant: 1,
    seed: 4,
    settings: { ...nobodyKeyed, ...allOurs, periodMs: 5_000, deadlineMs: 500 },
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { handler: forgettingSilence }) },
  },
  {
    name: "the first word of a peer after a start is taken for nothing, so that a restart is a failover",
    invariant: 3,
    seed: 3,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new LateHearingClient(runtime, { from: dns.address }) },
  },
  {
    name: "a peer that failed is left alone for longer and longer",
    invariant: 4,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new BackingOffClient(runtime, { from: dns.address }) },
  },
  {
    name: "all questions wait in one line, behind those to a silent peer",
    invariant: 4,
    seed: 6,
    settings: nobodyKeyed,
    plant: { dnsClient: (runtime, { dns }) => new SingleFileClient(runtime, { from: dns.address }) },
  },
  {
    name: "a watch now and then loses an event",
    invariant: 5,
    plant: {
      runtime: (runtime) => wrappedRuntime(runtime, { handler: (handler) => losingEvents(runtime, handler) }),
    },
  },
  {
    name: "after a broken watch the copy goes on from now instead of from where it was",
    invariant: 5,
    plant: { storage: (storage) => watchingFromNow(storage) },
  },
  {
    name: "the disk says that it has synced before it has",
    invariant: 6,
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { disk: hastyDisk }) },
  },
  {
    name: "a write goes through whatever version it names",
    invariant: 6,
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { handler: forgettingVersions }) },
  },
  {
    name: "the status of a refused object is never written",
    invariant: 7,
    seed: 2,
    plant: {
      runtime: (runtime, tag) =>
        wrappedRuntime(runtime, { handler: (handler) => droppingRefusals(handler, tag) }),
    },
  },
  {
    name: "a request without a token passes for the administrator's",
    invariant: 8,
    plant: {
      runtime: (runtime, tag) => wrappedRuntime(runtime, { handler: (handler) => trusting(handler, tag) }),
    },
  },
  {
    name: "the DNS server answers answers",
    invariant: 8,
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { answer: answeringAnswers }) },
  },
  {
    name: "a host that nobody serves is no name",
    invariant: 2,
    plant: {
      runtime: (runtime) =>
        wrappedRuntime(runtime, { handler: (handler) => changingEndpoints(handler, withoutEmptyHosts) }),
    },
  },
  {
    name: "an answer of k8gb is not believed, since it is not authoritative",
    invariant: 4,
    settings: { ...nobodyKeyed, kinds: { eu: "k8gb", us: "meridian", za: "meridian" } },
    plant: { dnsClient: (runtime, { dns }) => new StrictClient(runtime, { from: dns.address }) },
  },
  {
    name: "who asks without EDNS is sent to TCP, where k8gb never comes",
    invariant: 3,
    settings: { kinds: { eu: "k8gb", us: "meridian", za: "meridian" }, edgePort: 53 },
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { answer: answeringOnlyEdns }) },
  },
  {
    name: "of a peer's addresses only one is asked",
    invariant: 4,
    settings: { ...nobodyKeyed, secondAddress: { eu: true, us: true, za: true } },
    plant: { dnsClient: (runtime, { dns }) => new OneAddressClient(runtime, { from: dns.address }) },
  },
  {
    name: "every client gets all addresses of a geoip host",
    invariant: 3,
    settings: { geoMap: true },
    plant: {
      runtime: (runtime) =>
        wrappedRuntime(runtime, {
          handler: (handler) => changingEndpoints(handler, (entries) => withoutLabel("strategy", entries)),
        }),
    },
  },
  {
    name: "a cluster with the weight 0 is drawn",
    invariant: 3,
    seed: 6,
    plant: {
      runtime: (runtime) =>
        wrappedRuntime(runtime, { handler: (handler) => changingEndpoints(handler, withoutZeroWeights) }),
    },
  },
  {
    name: "the serial of a peer's view stands still",
    invariant: 3,
    settings: { ...allKeyed, ...allOurs },
    plant: { dnsClient: (runtime, { dns }) => new StuckSerialClient(runtime, { from: dns.address }) },
  },
  {
    name: "a host that only peers carry is not answered",
    invariant: 2,
    seed: 4,
    settings: { ...allKeyed, ...allOurs },
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { handler: hidingFleetKey }) },
  },
  {
    name: "a lease does not end",
    invariant: 1,
    seed: 4,
    plant: { operatorDeath: ({ authority }) => authority.lease?.renew(3_600_000) },
  },
];
