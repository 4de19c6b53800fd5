import type { KubeList, KubeObject, ResourceType, Status } from "@meridian/kube";
import type { HttpClientOptions, Runtime } from "@meridian/runtime";
import type {
  DeleteOptions,
  ListOptions,
  PatchOptions,
  RequestOptions,
  WatchOptions,
  WatchStream,
  WriteOptions,
} from "./requests.ts";
import type { ObjectRef } from "./resource-path.ts";

/** Reads a file that a kubeconfig or a Pod's service account names. Only the composition root knows files. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Where the API server is, and as whom to speak to it. */
export interface KubeClientOptions {
  /** `https://address:port`, with a base path where the server is behind one. */
  readonly origin: string;
  readonly tls?: NonNullable<HttpClientOptions["tls"]>;
  /** A bearer token. Never logged. */
  readonly token?: string;
  /** A file with the token, read again each minute and after a 401; needs `readFile`. */
  readonly tokenFile?: string;
  readonly readFile?: ReadFile;
  /** Default `meridian`. */
  readonly userAgent?: string;
  /** Bound on each request. Default 30,000. */
  readonly deadlineMs?: number;
}

/** A client of one API server. */
export class KubeClient implements AsyncDisposable {
  readonly origin: string;

  constructor(_runtime: Pick<Runtime, "clock" | "random" | "network">, options: KubeClientOptions) {
    this.origin = options.origin;
  }

  get<T extends KubeObject = KubeObject>(_type: ResourceType, _ref: ObjectRef, _options?: RequestOptions): Promise<T> {
    throw new Error("unbuilt");
  }
  list<T extends KubeObject = KubeObject>(_type: ResourceType, _options?: ListOptions): Promise<KubeList<T>> {
    throw new Error("unbuilt");
  }
  watch<T extends KubeObject = KubeObject>(_type: ResourceType, _options?: WatchOptions): Promise<WatchStream<T>> {
    throw new Error("unbuilt");
  }
  create<T extends KubeObject = KubeObject>(_type: ResourceType, _object: T, _options?: WriteOptions): Promise<T> {
    throw new Error("unbuilt");
  }
  update<T extends KubeObject = KubeObject>(_type: ResourceType, _object: T, _options?: WriteOptions): Promise<T> {
    throw new Error("unbuilt");
  }
  updateStatus<T extends KubeObject = KubeObject>(_type: ResourceType, _object: T, _options?: WriteOptions): Promise<T> {
    throw new Error("unbuilt");
  }
  patch<T extends KubeObject = KubeObject>(_type: ResourceType, _ref: ObjectRef, _patch: PatchOptions): Promise<T> {
    throw new Error("unbuilt");
  }
  /** Resolves with the API's Status, or with the object where finalizers keep it. */
  delete(_type: ResourceType, _ref: ObjectRef, _options?: DeleteOptions): Promise<Status | KubeObject> {
    throw new Error("unbuilt");
  }
  /** Reads any path, for example `/version` or `/readyz`: the parsed JSON, or the text where it is none. */
  getRaw(_path: string, _options?: RequestOptions): Promise<unknown> {
    throw new Error("unbuilt");
  }
  async [Symbol.asyncDispose](): Promise<void> {}
}
