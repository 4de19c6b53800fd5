import type { HttpClient, HttpHandler, HttpRequest, HttpResponse } from "@meridian/runtime";

/** A `zone_delegated` object. */
export interface GridZone {
  fqdn: string;
  view: string;
  delegate_to: readonly { readonly name: string; readonly address: string }[];
  comment?: string;
  readonly [field: string]: unknown;
}

/**
 * An Infoblox grid as far as delegated zones go, answering as the WAPI of a real one does: sessions by cookie, whose quoted
 * value has commas and must come back whole, objects by reference, one list per query, errors with `Error`, `code` and `text`.
 */
export class FakeGrid {
  readonly zones: Map<string, GridZone> = new Map();
  /** Every request, as `METHOD path`, without the version. */
  readonly requests: string[] = [];
  readonly views: Set<string> = new Set(["default"]);
  readonly login: string = Buffer.from("admin:secret").toString("base64");
  openSessions = 0;
  logins = 0;
  /** When set, answers in place of the grid. */
  override: ((request: HttpRequest) => HttpResponse | undefined) | undefined;
  /** Runs after each write that succeeded: another cluster's write may come in. */
  onWrite: () => void = () => {};
  #next = 1;
  readonly #sessions = new Set<string>();

  readonly handler: HttpHandler = async (request) => {
    const url = new URL(request.target, "https://grid");
    const [, wapi, version = "", ...rest] = url.pathname.split("/");
    const path = rest.join("/");
    this.requests.push(`${request.method} ${path}`);
    const override = this.override?.(request);
    if (override !== undefined) return override;
    if (wapi !== "wapi" || !/^v\d+(\.\d+)*$/.test(version))
      return failure(400, "AdmConProtoError", `Unknown version ${version}`);
    const session = this.#sessionOf(request);
    if (session === undefined) return { status: 401, headers: {}, body: new Uint8Array() };
    const answer = this.#answer(request, path, url.searchParams);
    return session.isNew
      ? { ...answer, headers: { ...answer.headers, "set-cookie": `${session.cookie}; httponly; Path=/` } }
      : answer;
  };

  /** A client whose requests the grid answers without a network. */
  get client(): HttpClient {
    return {
      request: async ({ method, target, headers = {}, body = new Uint8Array(), signal }) => {
        signal?.throwIfAborted();
        const response = await this.handler({
          ...{ method, target, body, headers: headers as Record<string, string> },
          client: { address: "192.0.2.1", port: 1 },
          signal: signal ?? new AbortController().signal,
        });
        const chunks = response.body instanceof Uint8Array ? [response.body] : response.body;
        return {
          ...response,
          body: {
            async *[Symbol.asyncIterator]() {
              yield* chunks;
            },
          },
        };
      },
      async [Symbol.asyncDispose]() {},
    };
  }

  add(zone: GridZone): string {
    const ref = `zone_delegated/ZG5zLnpvbmUk${this.#next++}:${zone.fqdn}/${zone.view}`;
    this.zones.set(ref, zone);
    return ref;
  }

  #sessionOf({ headers }: HttpRequest): { readonly cookie: string; readonly isNew: boolean } | undefined {
    const { cookie } = headers;
    if (cookie !== undefined) return this.#sessions.has(cookie) ? { cookie, isNew: false } : undefined;
    if (headers["authorization"] !== `Basic ${this.login}`) return undefined;
    this.logins += 1;
    this.openSessions += 1;
    const made = `ibapauth="ip=192.0.2.1,client=API,group=admin-group,ctime=1500000000,user=admin,xOdj${this.logins}"`;
    this.#sessions.add(made);
    return { cookie: made, isNew: true };
  }

  #answer({ method, body }: HttpRequest, path: string, query: URLSearchParams): HttpResponse {
    if (method === "POST" && path === "logout") {
      this.openSessions -= 1;
      return { status: 200, headers: {}, body: new Uint8Array() };
    }
    const given = body.length === 0 ? {} : (JSON.parse(new TextDecoder().decode(body)) as Partial<GridZone>);
    if (method === "GET" && path === "zone_delegated") return json(200, this.#find(query));
    if (method === "POST" && path === "zone_delegated") return this.#create(given);
    const present = this.zones.get(path);
    if (present === undefined)
      return failure(404, "AdmConDataNotFoundError", `Reference ${path} not found`);
    if (method === "PUT") this.zones.set(path, { ...present, ...given });
    else if (method === "DELETE") this.zones.delete(path);
    this.onWrite();
    return json(200, path);
  }

  #find(query: URLSearchParams): readonly unknown[] {
    const isMeant = (zone: GridZone): boolean =>
      zone.fqdn === query.get("fqdn") && (query.get("view") ?? zone.view) === zone.view;
    return [...this.zones].filter(([, zone]) => isMeant(zone)).map(([ref, zone]) => ({ _ref: ref, ...zone }));
  }

  #create(given: Partial<GridZone>): HttpResponse {
    const { fqdn = "", view = "default" } = given;
    if (!this.views.has(view)) return failure(404, "AdmConDataNotFoundError", `View ${view} not found`);
    if ([...this.zones.values()].some((zone) => zone.fqdn === fqdn && zone.view === view))
      return failure(400, "AdmConDataError", `The zone ${fqdn} already exists`);
    const ref = this.add({ delegate_to: [], ...given, fqdn, view });
    this.onWrite();
    return json(201, ref);
  }
}

function json(status: number, content: unknown): HttpResponse {
  const headers = { "content-type": "application/json" };
  return { status, headers, body: new TextEncoder().encode(JSON.stringify(content)) };
}

function failure(status: number, code: string, text: string): HttpResponse {
  return json(status, { Error: `${code}: ${text}`, code: "Client.Ibap.Data", text });
}
