import { configMapType as configMaps, expired, internalError, serviceUnavailable, tooManyRequests } from "@meridian/kube";
import type { ConfigMap, StatusError } from "@meridian/kube";
import type { HttpHandler, Runtime } from "@meridian/runtime";
import { FaultyHttp } from "../testing/faults/faulty-http.ts";
import { ApiTruth } from "../testing/truth/api-truth.ts";

/** ConfigMaps of namespace `n` in the testing kit's API, in the words of the tests of copies. */
export class TruthServer {
  readonly api: ApiTruth;
  /** To be put before the clients. */
  readonly box: FaultyHttp;
  /** The next requests are answered by these, oldest first. */
  readonly refusals: StatusError[] = [];
  /** Every request is answered 503. */
  isAway = false;

  constructor(runtime: Pick<Runtime, "clock" | "random">) {
    this.api = new ApiTruth({ types: [configMaps], clock: runtime.clock });
    this.box = new FaultyHttp(runtime);
  }

  get version(): number {
    return this.api.version;
  }

  get lists(): number {
    return this.api.counts.list;
  }

  get watchesOpened(): number {
    return this.api.counts.watch;
  }

  get objects(): ReadonlyMap<string, ConfigMap> {
    return this.stateAt(Infinity);
  }

  /** The collection as it was at a version. */
  stateAt(version: number): ReadonlyMap<string, ConfigMap> {
    const objects = this.api.list<ConfigMap>(configMaps, version);
    return new Map(objects.map((object) => [`n/${object.metadata.name}`, object]));
  }

  /** Creates or changes an object. */
  put(name: string, data: Readonly<Record<string, string>>): void {
    const metadata = { namespace: "n", name };
    this.api.put<ConfigMap>({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
  }

  remove(name: string): void {
    this.api.remove(configMaps, { namespace: "n", name });
  }

  /** A write to some other collection of the same store. */
  tick(): void {
    this.api.tick();
  }

  /** Loses the history up to now. */
  compact(): void {
    this.api.compact();
  }

  bookmark(): void {
    this.api.bookmark();
  }

  /** Delivers a change of the past to all watches once more: the last one, or one so many before it. */
  repeat(back: number): void {
    this.box.repeat(back);
  }

  /** Ends all watches; with `inside`, in the middle of a document. */
  endWatches(options: { readonly inside?: boolean } = {}): void {
    if (options.inside === true) this.box.cutWatches("inside");
    else this.api.endWatches();
  }

  /** Ends all watches by an ERROR event. */
  failWatches({ status }: StatusError): void {
    const { code, reason, message } = status;
    this.box.failWatches({
      code,
      ...(reason === undefined ? {} : { reason }),
      ...(message === undefined ? {} : { message }),
    });
  }

  readonly handler: HttpHandler = async (request) => {
    const refusal = this.refusals.shift() ?? (this.isAway ? serviceUnavailable("the server is away") : undefined);
    if (refusal === undefined) return this.api.handler(request);
    const body = new TextEncoder().encode(JSON.stringify(refusal.status));
    return { status: refusal.status.code, headers: { "content-type": "application/json" }, body };
  };
}

/** Some refusals that a server under stress gives. */
export const refusals: Readonly<Record<string, () => StatusError>> = {
  busy: () => tooManyRequests("later", 1),
  broken: () => internalError("etcd is away"),
  gone: () => expired("gone"),
};
