import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { applicationManifest, exposedAddress, hostOf, type ApplicationOptions } from "./application.ts";
import { ClusterProcess } from "./cluster-process.ts";
import { DynamicParent, type DynamicParentOptions } from "./dynamic-parent.ts";
import { eventually } from "./eventually.ts";
import { TestAuthority } from "./test-authority.ts";

/** Addresses that are no loopback's: Knot Resolver takes no glue that is one. */
const addresses: Readonly<Record<string, string>> = { eu: "10.53.0.1", us: "10.53.0.2", za: "10.53.0.3" };

/** The clusters that there may be. */
export const fleetTags: readonly string[] = Object.keys(addresses);

/** The zone that they balance from their start on, and another that ZoneDelegations may name. */
export const balancedZone = "cloud.example.com";
export const furtherZone = "cloud2.example.com";
const parentZone = "example.com";

/** The name of a cluster's DNS server for a zone; it is in the parent zone. */
export const nameServerOf = (tag: string, zone: string = balancedZone): string => `gslb-ns-${tag}-${zone}`;

/** What BIND lets each cluster's key change: the NS records of the zones, and its own addresses. */
export const ownRecordsOnly: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  fleetTags.map((tag) => [
    `${tag}-key`,
    [balancedZone, furtherZone].flatMap((zone) => [
      `name ${zone} NS`,
      `name ${nameServerOf(tag, zone)} A`,
      `name ${nameServerOf(tag, zone)} AAAA`,
    ]),
  ]),
);

/** A parent zone in BIND, and clusters that write their delegation into it. Runs inside a network namespace. */
export class DelegatedFleet implements AsyncDisposable {
  readonly folder: string;
  readonly parent: DynamicParent;
  readonly clusters: Map<string, ClusterProcess> = new Map();
  readonly #authority: TestAuthority;

  private constructor(parts: { folder: string; parent: DynamicParent; authority: TestAuthority }) {
    this.folder = parts.folder;
    this.parent = parts.parent;
    this.#authority = parts.authority;
  }

  /** Starts the parent; clusters are started by `join`. */
  static async start(options: Pick<DynamicParentOptions, "grants" | "settings">): Promise<DelegatedFleet> {
    const folder = await mkdtemp(path.join(tmpdir(), "meridian-parent-"));
    const authority = await TestAuthority.create(folder);
    const parent = await DynamicParent.start({
      ...options,
      folder,
      zone: parentZone,
      address: "10.53.0.53",
      root: "10.53.0.52",
    });
    return new DelegatedFleet({ folder, parent, authority });
  }

  /** Starts a cluster that knows all others of the fleet, unless `peers` names them. */
  async join(
    name: string,
    options: { readonly settings: Readonly<Record<string, string>>; readonly peers?: readonly string[] },
  ): Promise<ClusterProcess> {
    const cluster = await ClusterProcess.start({
      ...{ name, address: addresses[name]!, folder: this.folder, authority: this.#authority },
      peers: options.peers ?? fleetTags.filter((tag) => tag !== name),
      edge: this.parent.address,
      settings: {
        RECONCILE_REQUEUE_SECONDS: "1",
        ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS: "1",
        NS_RECORD_TTL: "2",
        ...options.settings,
      },
    });
    this.clusters.set(name, cluster);
    return cluster;
  }

  cluster(name: string): ClusterProcess {
    const found = this.clusters.get(name);
    if (found === undefined) throw new Error(`cluster ${name} was not started`);
    return found;
  }

  /** Gives each named cluster, or all, the same application at an address of its own. */
  async deploy(
    application: ApplicationOptions,
    names: Iterable<string> = this.clusters.keys(),
  ): Promise<void> {
    await Promise.all(
      [...names].map(async (name) => {
        const cluster = this.cluster(name);
        await cluster.kubectl(["apply", "-f", "-"], applicationManifest(application));
        await this.expose(name, application.name, [exposedAddress[name]!]);
      }),
    );
  }

  /** Does what an ingress controller does: writes where the application is reached. */
  async expose(name: string, application: string, found: readonly string[]): Promise<void> {
    const ingress = found.map((ip) => ({ ip }));
    await this.cluster(name).kubectl([
      ...["-n", "e2e", "patch", "ingress", application, "--subresource=status", "--type=merge"],
      ...["-p", JSON.stringify({ status: { loadBalancer: { ingress } } })],
    ]);
  }

  /** Marks an application's only endpoint ready or not. */
  async setReady(name: string, application: string, ready: boolean): Promise<void> {
    const patch = [{ op: "replace", path: "/endpoints/0/conditions/ready", value: ready }];
    await this.cluster(name).kubectl([
      ...["-n", "e2e", "patch", "endpointslice", `${application}-1`, "--type=json"],
      ...["-p", JSON.stringify(patch)],
    ]);
  }

  /** Waits until the named clusters, or all, answer exactly these addresses. */
  async answers(
    application: ApplicationOptions,
    wanted: readonly string[],
    names: Iterable<string> = this.clusters.keys(),
  ): Promise<void> {
    const host = hostOf(application);
    await Promise.all(
      [...names].map((name) =>
        eventually(`${host} at ${name} is [${wanted.join(" ")}]`, async () => {
          const { addresses: got } = await this.cluster(name).dig(host);
          if (got.join() !== wanted.toSorted().join()) throw new Error(`got [${got.join(" ")}]`);
        }),
      ),
    );
  }

  /** Gives the named clusters, or all, a ZoneDelegation of the further zone. */
  async serveFurther(
    { doFinalize }: { readonly doFinalize: boolean },
    names: Iterable<string> = this.clusters.keys(),
  ): Promise<void> {
    const zone = {
      apiVersion: "k8gb.io/v1beta1",
      kind: "ZoneDelegation",
      metadata: { name: furtherZone.replaceAll(".", "-") },
      spec: { loadBalancedZone: furtherZone, parentZone, dnsZoneNegTTL: 1, doFinalize },
    };
    for (const name of names) await this.cluster(name).kubectl(["apply", "-f", "-"], JSON.stringify(zone));
  }

  /** Waits until the parent delegates a zone to exactly the named clusters. */
  async delegates(names: readonly string[], zone: string = balancedZone): Promise<void> {
    await eventually(`the parent delegates ${zone} to ${names.join(", ")}`, () =>
      this.delegatesNow(names, zone),
    );
  }

  /** Throws unless the parent delegates a zone to exactly the named clusters. */
  async delegatesNow(names: readonly string[], zone: string = balancedZone): Promise<void> {
    const got = await this.parent.delegation(zone);
    const wanted = names.map((name) => nameServerOf(name, zone)).toSorted();
    if (got.join() !== wanted.join()) throw new Error(`it delegates to ${got.join(", ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cluster of this.clusters.values()) await cluster[Symbol.asyncDispose]();
    await this.parent[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
