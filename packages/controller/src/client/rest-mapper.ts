import { parseApiVersion } from "@meridian/kube";
import type { Clock } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { discover } from "./discovery.ts";
import type { ApiDiscovery, ApiResource } from "./discovery.ts";
import type { KubeClient } from "./kube-client.ts";
import type { RequestOptions } from "./requests.ts";

/** What is asked again where something is missing: a definition may have just been made; but not for each question. */
const pauseMs = 2_000;

/**
 * Finds the resource that an object, a kind or a word of a person means, by what the server says that it serves. It asks
 * when it is first needed, and again for what it does not know, at most every two seconds.
 *
 *     const mapper = new RestMapper(runtime, client);
 *     for (const object of manifests) {
 *       await client.apply(await mapper.typeOf(object), object, { fieldManager: "setup" });
 *     }
 */
export class RestMapper {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #client: KubeClient;
  #known: ApiDiscovery | undefined;
  #asking: Promise<ApiDiscovery> | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;

  constructor(runtime: { readonly clock: Pick<Clock, "monotonicMs"> }, client: KubeClient) {
    this.#clock = runtime.clock;
    this.#client = client;
  }

  /** All that the server serves, asked for once. */
  async resources(options: RequestOptions = {}): Promise<readonly ApiResource[]> {
    return (this.#known ?? (await this.#ask(options))).resources;
  }

  /**
   * The resource of an object, or of anything else that has its `apiVersion` and `kind`.
   *
   * @throws ControllerError `UnknownKind`; ApiError
   */
  async typeOf(
    object: { readonly apiVersion: string; readonly kind: string },
    options: RequestOptions = {},
  ): Promise<ApiResource> {
    const { group, version } = parseApiVersion(object.apiVersion);
    const label = `kind ${object.kind} of ${object.apiVersion}`;
    return this.#find(label, options, ({ resources }) =>
      resources.find(
        (resource) =>
          resource.kind === object.kind && resource.group === group && resource.version === version,
      ),
    );
  }

  /** The resource of a kind of a group, in the version that the server prefers. @throws as `typeOf` */
  async typeOfKind(
    of: { readonly group: string; readonly kind: string },
    options: RequestOptions = {},
  ): Promise<ApiResource> {
    const label = `kind ${of.kind} of group ${JSON.stringify(of.group)}`;
    return this.#find(label, options, ({ resources }) =>
      resources.find(({ group, kind }) => kind === of.kind && group === of.group),
    );
  }

  /**
   * The resource that a person means, as kubectl takes it: `deployments`, `deployment`, `deploy`, `Deployment`, and with a
   * group or a version and a group behind a dot, `gslbs.k8gb.io`, `deployments.v1.apps`. Of several the first counts, the
   * core group before all.
   *
   * @throws as `typeOf`
   */
  async typeOfWord(word: string, options: RequestOptions = {}): Promise<ApiResource> {
    const [name = "", ...rest] = word.split(".");
    const suffix = rest.join(".");
    return this.#find(`resource ${JSON.stringify(word)}`, options, ({ resources }) => {
      const fitting = resources.filter(
        ({ group, version }) => suffix === "" || suffix === group || suffix === `${version}.${group}`,
      );
      return (
        fitting.find(({ plural, singular }) => name === plural || name === singular) ??
        fitting.find(({ shortNames }) => shortNames.includes(name)) ??
        fitting.find(({ kind }) => kind.toLowerCase() === name.toLowerCase())
      );
    });
  }

  /** Forgets what the server said. */
  reset(): void {
    this.#known = undefined;
    this.#askedAtMs = Number.NEGATIVE_INFINITY;
  }

  async #find(
    label: string,
    options: RequestOptions,
    look: (known: ApiDiscovery) => ApiResource | undefined,
  ): Promise<ApiResource> {
    let known = this.#known ?? (await this.#ask(options));
    let found = look(known);
    if (found === undefined && this.#clock.monotonicMs() - this.#askedAtMs >= pauseMs) {
      known = await this.#ask(options);
      found = look(known);
    }
    if (found !== undefined) return found;
    const missing = known.failures.map(({ groupVersion }) => groupVersion);
    const doubt = missing.length === 0 ? "" : `; it could not say what is in ${missing.join(", ")}`;
    throw new ControllerError(
      "UnknownKind",
      `the server at ${this.#client.origin} serves no ${label}${doubt}; see that its definition is installed`,
    );
  }

  async #ask(options: RequestOptions): Promise<ApiDiscovery> {
    // Those who ask at once share the answer, unless one of them may give up before the others.
    const shared = options.signal === undefined && options.deadlineMs === undefined;
    if (!shared) return this.#keep(await discover(this.#client, options));
    this.#asking ??= discover(this.#client)
      .then((discovery) => this.#keep(discovery))
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #keep(discovery: ApiDiscovery): ApiDiscovery {
    this.#known = discovery;
    this.#askedAtMs = this.#clock.monotonicMs();
    return discovery;
  }
}
