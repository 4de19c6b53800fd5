import type { Storage } from "@meridian/apiserver";
import { DnsClient, type DnsQuestion, type Verdict } from "@meridian/dns";
import type { KubeObject } from "@meridian/kube";
import type {
  AnswerDatagram,
  Disk,
  DiskLog,
  HttpHandler,
  HttpRequest,
  HttpResponse,
  Runtime,
} from "@meridian/runtime";
import { tokenOf, type Tag } from "./fleet/fleet-map.ts";
import type { Plant } from "./fleet/plant.ts";
import { wrappedRuntime } from "./fleet/wrapped-runtime.ts";

/** A fault that somebody might build in, at a seam, and the invariant whose checker must find it. */
export interface PlantedFault {
  readonly name: string;
  readonly invariant: number;
  readonly plant: Plant;
  /** A seed that is known to find it, tried first. */
  readonly seed?: number;
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "the last answer of a peer that went silent is taken for a new one",
    invariant: 1,
    plant: { dnsClient: (runtime, { dns }) => new RememberingClient(runtime, { from: dns.address }) },
  },
  {
    name: "an unreachable peer is taken for one that has nothing",
    invariant: 2,
    plant: { dnsClient: (runtime, { dns }) => new EmptyHandedClient(runtime, { from: dns.address }) },
  },
  {
    name: "of a peer's targets the last one is lost",
    invariant: 3,
    plant: { dnsClient: (runtime, { dns }) => new ForgetfulClient(runtime, { from: dns.address }) },
  },
  {
    name: "a restart forgets since when peers are silent",
    invariant: 1,
    seed: 22,
    plant: { runtime: (runtime) => wrappedRuntime(runtime, { handler: forgettingSilence }) },
  },
  {
    name: "the first word of a peer after a start is taken for nothing, so that a restart is a failover",
    invariant: 3,
    plant: { dnsClient: (runtime, { dns }) => new LateHearingClient(runtime, { from: dns.address }) },
  },
  {
    name: "a peer that failed is left alone for longer and longer",
    invariant: 4,
    plant: { dnsClient: (runtime, { dns }) => new BackingOffClient(runtime, { from: dns.address }) },
  },
  {
    name: "all questions wait in one line, behind those to a silent peer",
    invariant: 4,
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
];

class RememberingClient extends DnsClient {
  readonly #last = new Map<string, Verdict>();

  override async query(question: DnsQuestion): Promise<Verdict> {
    const key = `${question.name} ${question.type} ${question.servers[0]?.address}`;
    const verdict = await super.query(question);
    if (verdict.state === "answered") this.#last.set(key, verdict);
    return verdict.state === "unreachable" ? (this.#last.get(key) ?? verdict) : verdict;
  }
}

class EmptyHandedClient extends DnsClient {
  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const [server] = question.servers;
    if (verdict.state === "answered" || server === undefined) return verdict;
    const nothing = { records: [], authority: [], additional: [] };
    return { state: "answered", outcome: "nxdomain", authoritative: true, server, ...nothing };
  }
}

class ForgetfulClient extends DnsClient {
  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const isPeers = question.name.startsWith("localtargets-");
    if (!isPeers || verdict.state !== "answered" || verdict.records.length < 2) return verdict;
    return { ...verdict, records: verdict.records.slice(0, -1) };
  }
}

class LateHearingClient extends DnsClient {
  readonly #heard = new Set<string>();

  override async query(question: DnsQuestion): Promise<Verdict> {
    const verdict = await super.query(question);
    const key = `${question.name} ${question.servers[0]?.address}`;
    const isFirst = question.name.startsWith("localtargets-") && !this.#heard.has(key);
    this.#heard.add(key);
    return isFirst && verdict.state === "answered" ? { ...verdict, outcome: "nodata", records: [] } : verdict;
  }
}

/** Backs off without a bound, as is right nearly everywhere else. */
class BackingOffClient extends DnsClient {
  readonly #runtime: Runtime;
  readonly #until = new Map<string, { untilMs: number; pauseMs: number }>();

  constructor(runtime: Runtime, options: { readonly from: string }) {
    super(runtime, options);
    this.#runtime = runtime;
  }

  override async query(question: DnsQuestion): Promise<Verdict> {
    const key = question.servers[0]?.address ?? "";
    const nowMs = this.#runtime.clock.monotonicMs();
    const pause = this.#until.get(key);
    if (pause !== undefined && nowMs < pause.untilMs) return { state: "unreachable", reason: "left alone" };
    const verdict = await super.query(question);
    if (verdict.state !== "unreachable") this.#until.delete(key);
    else {
      const pauseMs = Math.min(120_000, (pause?.pauseMs ?? 5_000) * 2);
      this.#until.set(key, { pauseMs, untilMs: nowMs + pauseMs });
    }
    return verdict;
  }
}

class SingleFileClient extends DnsClient {
  #line: Promise<unknown> = Promise.resolve();

  override query(question: DnsQuestion): Promise<Verdict> {
    const result = this.#line.then(() => super.query(question));
    this.#line = result.catch(() => {});
    return result;
  }
}

function losingEvents(runtime: Runtime, handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request);
    if (response.body instanceof Uint8Array || !request.target.includes("watch=")) return response;
    const chunks = response.body;
    async function* body(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) if (runtime.random.float() > 0.02) yield chunk;
    }
    return { ...response, body: body() };
  };
}

function watchingFromNow(storage: Storage): Storage {
  return over(storage, { watch: (options) => storage.watch({ ...options, after: storage.revision() }) });
}

/** Takes the version out of what a client wants to replace: whoever comes last wins. */
function forgettingVersions(handler: HttpHandler): HttpHandler {
  return (request) => {
    if (request.method !== "PUT" || !request.target.includes("/configmaps/")) return handler(request);
    const object = JSON.parse(new TextDecoder().decode(request.body)) as KubeObject;
    const { resourceVersion: _, ...metadata } = object.metadata;
    return handler({ ...request, body: new TextEncoder().encode(JSON.stringify({ ...object, metadata })) });
  };
}

function over(storage: Storage, changed: Partial<Storage>): Storage {
  return {
    revision: () => storage.revision(),
    compactedRevision: () => storage.compactedRevision(),
    get: (key) => storage.get(key),
    list: (options) => storage.list(options),
    watch: (options) => storage.watch(options),
    compact: (revision) => storage.compact(revision),
    create: (key, value) => storage.create(key, value),
    update: (key, value, expected) => storage.update(key, value, expected),
    delete: (key, expected) => storage.delete(key, expected),
    [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    ...changed,
  };
}

function hastyDisk(disk: Disk): Disk {
  const hasty = (log: DiskLog): DiskLog => ({
    get sizeBytes() {
      return log.sizeBytes;
    },
    append: (bytes) => log.append(bytes),
    sync: async () => {},
    truncate: (sizeBytes) => log.truncate(sizeBytes),
    close: () => log.close(),
  });
  return {
    read: (path) => disk.read(path),
    replace: (path, content) => disk.replace(path, content),
    openLog: async (path) => hasty(await disk.openLog(path)),
    remove: (path) => disk.remove(path),
    list: (folder) => disk.list(folder),
  };
}

/** Answers a status write as if it had gone through. */
function droppingRefusals(handler: HttpHandler, tag: Tag): HttpHandler {
  return async (request) => {
    const isStatus = request.method === "PUT" && /\/gslbs\/[^/]+\/status/.test(request.target);
    const text = isStatus ? new TextDecoder().decode(request.body) : "";
    const isRefusal = /"type":"Accepted","status":"False"/.test(text.replaceAll(/\s/g, ""));
    if (!isRefusal) return handler(request);
    const target = request.target.replace("/status", "");
    return handler({
      ...request,
      method: "GET",
      target,
      body: new Uint8Array(),
      headers: withToken(request, tag),
    });
  };
}

/** Leaves the moments of silence out of the lists in which the operator looks for what it remembered. */
function forgettingSilence(handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request);
    const isMemory = request.method === "GET" && request.target.includes("peer-views");
    if (!isMemory || !(response.body instanceof Uint8Array)) return response;
    const text = new TextDecoder().decode(response.body).replaceAll(/,\\"unreachableSince\\":\d+/g, "");
    return { ...response, body: new TextEncoder().encode(text) };
  };
}

function trusting(handler: HttpHandler, tag: Tag): HttpHandler {
  return (request): Promise<HttpResponse> => {
    const isBare = request.headers["authorization"] === undefined;
    return handler(isBare ? { ...request, headers: withToken(request, tag) } : request);
  };
}

function withToken(request: HttpRequest, tag: Tag): HttpRequest["headers"] {
  return { ...request.headers, authorization: `Bearer ${tokenOf(tag)}` };
}

function answeringAnswers(answer: AnswerDatagram): AnswerDatagram {
  // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
  return (input, offset, length, client, output) => {
    if (length < 12 || (input[offset + 2]! & 0x80) === 0)
      return answer(input, offset, length, client, output);
    output.set(input.subarray(offset, offset + 12));
    return 12;
  };
}
