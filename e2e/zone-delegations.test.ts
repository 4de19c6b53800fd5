import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ClusterProcess } from "./harness/cluster-process.ts";
import { DelegatedFleet, nameServerOf } from "./harness/delegated-fleet.ts";
import { DelegationWriter } from "./harness/delegation-writer.ts";
import { dig } from "./harness/dig.ts";
import { eventually } from "./harness/eventually.ts";
import { enterNamespace } from "./harness/namespace.ts";
import { withCommands } from "./harness/with-commands.ts";

// ZoneDelegations whose delegation external-dns writes, from their creation to their end.

interface ZoneObject {
  readonly metadata: { readonly finalizers?: readonly string[]; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly doFinalize: boolean;
    readonly dnsZoneNegTTL: number;
    readonly parentZone: string;
  };
  readonly status?: {
    readonly dnsServers?: readonly { readonly name: string; readonly address: string }[];
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message: string;
    }[];
  };
}

interface EndpointObject {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly endpoints: readonly {
      readonly dnsName: string;
      readonly recordType: string;
      readonly recordTTL: number;
      readonly targets: readonly string[];
    }[];
  };
}

const further = "cloud2.example.com";
const furtherServer = (tag: string): string => `gslb-ns-${tag}-cloud2.example.com`;
const furtherObject = JSON.stringify({
  apiVersion: "k8gb.io/v1beta1",
  kind: "ZoneDelegation",
  metadata: { name: "cloud2-example-com" },
  spec: { loadBalancedZone: further, parentZone: "example.com", dnsZoneNegTTL: 10, doFinalize: true },
});
const app = { name: "exposed", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const settings = { EXTDNS_ENABLED: "true", ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS: "1" };

if (await enterNamespace()) {
  await withCommands(["named", "nsupdate", "tsig-keygen", "dig", "kubectl", "openssl"], {
    subject: "zone delegations from their creation to their end",
    define,
  });
}

function define(): void {
  let fleet: DelegatedFleet;
  let writer: DelegationWriter;
  let [eu, us]: ClusterProcess[] = [];
  const at = (name: string): ClusterProcess => fleet.cluster(name);
  const both = (): readonly ClusterProcess[] => [eu!, us!];
  const write = (): Promise<void> => writer.round([...fleet.clusters.values()]);

  const zone = (cluster: ClusterProcess, name: string): Promise<ZoneObject> =>
    cluster.get<ZoneObject>("zonedelegation", name);
  const isThere = async (cluster: ClusterProcess, ...args: readonly string[]): Promise<boolean> =>
    (await cluster.kubectl([...["get", "--ignore-not-found", "-o", "name"], ...args])).trim() !== "";
  const endpoint = (cluster: ClusterProcess, name: string): Promise<EndpointObject> =>
    cluster.get<EndpointObject>("-n", "k8gb", "dnsendpoint", `k8gb-ns-extdns-${name}`);
  const servers = async (cluster: ClusterProcess, name: string): Promise<readonly string[]> => [
    ...new Set(((await zone(cluster, name)).status?.dnsServers ?? []).map((each) => each.name)),
  ];
  const configured = async (cluster: ClusterProcess): Promise<readonly string[]> => {
    type ConfigMap = { readonly data?: Readonly<Record<string, string>> };
    const { data = {} } = await cluster.get<ConfigMap>("-n", "k8gb", "configmap", "k8gb-zone-delegation");
    for (const [key, value] of Object.entries(data))
      assert.match(value, /^[a-z0-9.]+:5353 \{\n {2}import k8gbplugins\n\}\n$/, key);
    return Object.keys(data);
  };
  const serves = async (cluster: ClusterProcess, name: string): Promise<boolean> =>
    (await cluster.dig(name, "SOA")).flags.includes("aa");

  const published = async (): Promise<{
    readonly exposed: readonly string[] | undefined;
    readonly records: readonly string[];
  }> => {
    type Published = {
      readonly status?: { readonly loadBalancer?: { readonly exposedIps?: readonly string[] } };
    };
    const { status } = await eu!.get<Published>("-n", "e2e", "gslb", app.name);
    const { spec } = await eu!.get<EndpointObject>("-n", "e2e", "dnsendpoint", app.name);
    return {
      exposed: status?.loadBalancer?.exposedIps,
      records: spec.endpoints
        .map(({ dnsName, recordType, targets }) => `${dnsName} ${recordType} ${targets.join()}`)
        .toSorted(),
    };
  };

  before(async () => {
    fleet = await DelegatedFleet.start({ grants: { extdns: ["zonesub ANY"] } });
    writer = new DelegationWriter(fleet.parent, "extdns");
    eu = await fleet.join("eu", { settings, peers: ["us"] });
    us = await fleet.join("us", { settings, peers: ["eu"] });
  });
  after(async () => fleet?.[Symbol.asyncDispose]());

  test("zone-delegation-lifecycle 1/5: a configured zone is delegated to both clusters", async () => {
    await eventually("both know both", async () => {
      await write();
      for (const cluster of both())
        assert.deepEqual(await servers(cluster, "cloud-example-com"), [
          nameServerOf("eu"),
          nameServerOf("us"),
        ]);
    });
    await eventually("the delegation names both", async () => {
      for (const cluster of both()) {
        const { metadata, spec } = await endpoint(cluster, "cloud-example-com");
        assert.equal(metadata.labels["k8gb.io/dnstype"], "extdns");
        assert.equal(metadata.labels["k8gb.absa.oss/dnstype"], "extdns");
        assert.deepEqual(spec.endpoints, [
          {
            ...{ dnsName: "cloud.example.com", recordType: "NS", recordTTL: 2 },
            targets: [nameServerOf("eu"), nameServerOf("us")],
          },
          {
            ...{ dnsName: nameServerOf(cluster.name), recordType: "A", recordTTL: 2 },
            targets: [cluster.address],
          },
        ]);
      }
    });
    for (const cluster of both()) {
      const { metadata, spec } = await zone(cluster, "cloud-example-com");
      assert.deepEqual(metadata.finalizers, ["k8gb.io/finalizer"]);
      assert.equal(spec.doFinalize, false);
      assert.deepEqual(await configured(cluster), ["cloud-example-com.conf"]);
    }
    await write();
    await fleet.delegates(["eu", "us"]);
  });

  test("zone-delegation-lifecycle 2/5: a further zone at one cluster concerns that one only", async () => {
    await eu!.kubectl(["apply", "-f", "-"], furtherObject);
    await eventually("eu delegates it", async () => {
      await write();
      assert.deepEqual(await configured(eu!), ["cloud-example-com.conf", "cloud2-example-com.conf"]);
      assert.deepEqual(await servers(eu!, "cloud2-example-com"), [furtherServer("eu")]);
      assert.deepEqual((await endpoint(eu!, "cloud2-example-com")).spec.endpoints[0]?.targets, [
        furtherServer("eu"),
      ]);
    });
    assert.deepEqual(await configured(us!), ["cloud-example-com.conf"]);
    assert.equal(await isThere(us!, "zonedelegation", "cloud2-example-com"), false);
    assert.equal(await isThere(us!, "-n", "k8gb", "dnsendpoint", "k8gb-ns-extdns-cloud2-example-com"), false);
  });

  test("zone-delegation-lifecycle 3/5: at the other cluster, too, it is delegated to both", async () => {
    await us!.kubectl(["apply", "-f", "-"], furtherObject);
    const names = [furtherServer("eu"), furtherServer("us")];
    await eventually("both delegate it to both", async () => {
      await write();
      for (const cluster of both()) {
        assert.deepEqual(await configured(cluster), ["cloud-example-com.conf", "cloud2-example-com.conf"]);
        assert.deepEqual(await servers(cluster, "cloud2-example-com"), names);
        assert.deepEqual((await endpoint(cluster, "cloud2-example-com")).spec.endpoints[0]?.targets, names);
      }
      assert.deepEqual(await fleet.parent.delegation(further), names);
    });
  });

  test("a delegation and a ConfigMap that somebody deletes come back", async () => {
    await us!.kubectl(["-n", "k8gb", "delete", "dnsendpoint", "k8gb-ns-extdns-cloud2-example-com"]);
    await us!.kubectl(["-n", "k8gb", "delete", "configmap", "k8gb-zone-delegation"]);
    await eventually("both are back", async () => {
      assert.equal((await endpoint(us!, "cloud2-example-com")).spec.endpoints.length, 2);
      assert.deepEqual(await configured(us!), ["cloud-example-com.conf", "cloud2-example-com.conf"]);
    });
  });

  test("zone-delegation-lifecycle 4/5, D29: the delegation goes first, and the zone is answered until it is forgotten", async () => {
    await us!.kubectl(["delete", "zonedelegation", "cloud2-example-com", "--wait=false"]);
    await eventually("us has taken itself out", async () => {
      const { spec } = await endpoint(us!, "cloud2-example-com");
      assert.deepEqual(
        spec.endpoints.map(({ recordType, targets }) => [recordType, ...targets]),
        [["NS", furtherServer("eu")]],
      );
    });
    // external-dns has not come around: the parent still sends resolvers here.
    const { metadata, status } = await zone(us!, "cloud2-example-com");
    assert.deepEqual(metadata.finalizers, ["k8gb.io/finalizer"]);
    assert.notEqual(status?.dnsServers?.length, 0);
    assert.ok((await fleet.parent.delegation(further)).includes(furtherServer("us")));
    assert.ok(await serves(us!, further));
    assert.ok((await configured(us!)).includes("cloud2-example-com.conf"));

    // As by a power cut in the middle: it begins again.
    await us!.kill();
    await us!.restart();
    await eventually("the parent delegates to eu only", async () => {
      await write();
      assert.deepEqual(await fleet.parent.delegation(further), [furtherServer("eu")]);
    });
    await eventually("D30: the object is gone at us, while eu lives on", async () => {
      assert.equal(await isThere(us!, "zonedelegation", "cloud2-example-com"), false);
      assert.deepEqual(await configured(us!), ["cloud-example-com.conf"]);
      assert.equal(await serves(us!, further), false);
    });
    assert.deepEqual((await endpoint(eu!, "cloud2-example-com")).spec.endpoints[0]?.targets, [
      furtherServer("eu"),
    ]);
    assert.deepEqual(await configured(eu!), ["cloud-example-com.conf", "cloud2-example-com.conf"]);
  });

  test("zone-delegation-lifecycle 5/5: after the last cluster nothing is left", async () => {
    await eu!.kubectl(["delete", "zonedelegation", "cloud2-example-com", "--wait=false"]);
    await eventually("nothing is left", async () => {
      await write();
      for (const cluster of both()) {
        assert.equal(await isThere(cluster, "zonedelegation", "cloud2-example-com"), false);
        assert.equal(
          await isThere(cluster, "-n", "k8gb", "dnsendpoint", "k8gb-ns-extdns-cloud2-example-com"),
          false,
        );
        assert.deepEqual(await configured(cluster), ["cloud-example-com.conf"]);
      }
      assert.deepEqual(await fleet.parent.delegation(further), []);
    });
    await fleet.delegates(["eu", "us"]);
  });

  test("D31: an object whose DNSEndpoint was deleted by hand goes all the same", async () => {
    await us!.kubectl(["apply", "-f", "-"], furtherObject);
    await eventually("it is delegated", async () => {
      await write();
      assert.deepEqual(await fleet.parent.delegation(further), [furtherServer("us")]);
    });
    await us!.kubectl(["delete", "zonedelegation", "cloud2-example-com", "--wait=false"]);
    await us!.kubectl([
      "-n",
      "k8gb",
      "delete",
      "--ignore-not-found",
      "dnsendpoint",
      "k8gb-ns-extdns-cloud2-example-com",
    ]);
    await eventually("it is gone", async () => {
      await write();
      assert.equal(await isThere(us!, "zonedelegation", "cloud2-example-com"), false);
    });
  });

  test("cluster-exposed-ips: the override is the glue, and goes with the setting", async () => {
    const override = {
      ...settings,
      MERIDIAN_DNS_ADDRESSES: "",
      CLUSTER_EXPOSED_IPS: "10.53.0.1,2001:db8:53::1",
    };
    const fast = { RECONCILE_REQUEUE_SECONDS: "1", NS_RECORD_TTL: "2" };
    await eu!.kill();
    await eu!.restart({ ...fast, ...override });
    await eventually("both families are published", async () => {
      const { spec } = await endpoint(eu!, "cloud-example-com");
      assert.deepEqual(
        spec.endpoints.slice(1).map(({ recordType, targets }) => [recordType, ...targets]),
        [
          ["A", "10.53.0.1"],
          ["AAAA", "2001:db8:53::1"],
        ],
      );
      const found = (await zone(eu!, "cloud-example-com")).status?.dnsServers ?? [];
      const own = found.filter(({ name }) => name === nameServerOf("eu")).map(({ address }) => address);
      assert.deepEqual(own, ["10.53.0.1", "2001:db8:53::1"]);
    });
    await fleet.deploy(app, ["eu"]);
    await eventually("the application is where the override says", async () => {
      assert.deepEqual(await published(), {
        exposed: ["10.53.0.1", "2001:db8:53::1"],
        records: [
          "exposed.cloud.example.com A 10.53.0.1",
          "exposed.cloud.example.com AAAA 2001:db8:53::1",
          "localtargets-exposed.cloud.example.com A 10.53.0.1",
          "localtargets-exposed.cloud.example.com AAAA 2001:db8:53::1",
        ],
      });
    });
    const annotation = "k8gb.io/exposed-ip-addresses=198.51.100.20";
    await eu!.kubectl(["-n", "e2e", "annotate", "gslb", app.name, annotation]);
    await eventually("or where its annotation says", async () => {
      assert.deepEqual(await published(), {
        exposed: ["198.51.100.20"],
        records: [
          "exposed.cloud.example.com A 198.51.100.20",
          "localtargets-exposed.cloud.example.com A 198.51.100.20",
        ],
      });
    });
    const [, glue] = (await endpoint(eu!, "cloud-example-com")).spec.endpoints;
    assert.deepEqual(glue?.targets, ["10.53.0.1"], "the glue keeps the override");
    await write();
    await eventually("D22: the peer learns both", async () => {
      const found = (await zone(us!, "cloud-example-com")).status?.dnsServers ?? [];
      const addresses = found.filter(({ name }) => name === nameServerOf("eu")).map(({ address }) => address);
      assert.deepEqual(addresses, ["10.53.0.1", "2001:db8:53::1"]);
    });
    await eu!.kill();
    await eu!.restart({ ...fast, ...settings });
    await eventually("the glue is what it was", async () => {
      await write();
      const { spec } = await endpoint(eu!, "cloud-example-com");
      assert.deepEqual(
        spec.endpoints.slice(1).map(({ targets }) => targets),
        [["10.53.0.1"]],
      );
    });
  });

  test("D36: another address of a labelled Ingress is glue at once, not after a period", async () => {
    const found = { MERIDIAN_DNS_ADDRESSES: "", ZONE_DELEGATION_RECONCILE_REQUEUE_SECONDS: "0" };
    await eu!.kill();
    await eu!.restart({ RECONCILE_REQUEUE_SECONDS: "1", NS_RECORD_TTL: "2", ...settings, ...found });
    const ingress = {
      ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress" },
      metadata: { name: "dns-address", namespace: "k8gb", labels: { "k8gb.io/ip-source": "true" } },
      spec: { defaultBackend: { service: { name: "dns", port: { number: 53 } } } },
    };
    await eu!.kubectl(["apply", "-f", "-"], JSON.stringify(ingress));
    for (const ip of ["10.53.0.1", "10.53.0.9"]) {
      const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip }] } } });
      await eu!.kubectl([
        ...["-n", "k8gb", "patch", "ingress", "dns-address", "--subresource=status", "--type=merge"],
        ...["-p", status],
      ]);
      await eventually(`the glue is ${ip}`, async () => {
        const { spec } = await endpoint(eu!, "cloud-example-com");
        assert.deepEqual(
          spec.endpoints.slice(1).map(({ targets }) => targets),
          [[ip]],
        );
      });
    }
    await eu!.kill();
    await eu!.restart({ RECONCILE_REQUEUE_SECONDS: "1", NS_RECORD_TTL: "2", ...settings });
    await eventually("the glue is what it was", async () => {
      const { spec } = await endpoint(eu!, "cloud-example-com");
      assert.deepEqual(
        spec.endpoints.slice(1).map(({ targets }) => targets),
        [["10.53.0.1"]],
      );
    });
  });

  test("D3: an edge server that does not answer takes no cluster out of the delegation", async () => {
    await fleet.parent.kill();
    await eventually("us has noticed", async () => {
      const { status } = await zone(us!, "cloud-example-com");
      assert.ok(status?.conditions?.some(({ type }) => type === "PeersReachable"));
    });
    await us!.kill();
    await us!.restart();
    const names = [nameServerOf("eu"), nameServerOf("us")];
    for (let round = 0; round < 3; round += 1) {
      await us!.kubectl([
        "annotate",
        "--overwrite",
        "zonedelegation",
        "cloud-example-com",
        `test/round=${round}`,
      ]);
      assert.deepEqual((await endpoint(us!, "cloud-example-com")).spec.endpoints[0]?.targets, names);
      assert.deepEqual(await servers(us!, "cloud-example-com"), names);
    }
    await fleet.parent.restart();
  });

  test("D35, D37: a changed DNS_ZONES reaches the object that was made from it, and negative answers", async () => {
    await us!.kill();
    await us!.restart({
      ...{ RECONCILE_REQUEUE_SECONDS: "1", NS_RECORD_TTL: "2", ...settings },
      DNS_ZONES: "example.com:cloud.example.com:77",
    });
    await eventually("the negative TTL is the new one", async () => {
      assert.equal((await zone(us!, "cloud-example-com")).spec.dnsZoneNegTTL, 77);
    });
    const { authority } = await us!.dig("nobody.cloud.example.com");
    assert.match(authority.join("\n"), /^cloud\.example\.com\.\s+77\s/, "it is what negative answers say");
  });

  test("D-05: what is no zone of the server is refused, so that stub resolvers move on", async () => {
    const answer = await dig({ server: us!.address, port: 53, name: "registry.example.org", type: "A" });
    assert.equal(answer.status, "REFUSED");
  });

  test("P-07, D59: a cluster joins without any change at the others", async () => {
    const dynamic = {
      ...settings,
      MERIDIAN_GEO_TAGS: "dynamic",
      RECONCILE_REQUEUE_SECONDS: "1",
      NS_RECORD_TTL: "2",
    };
    for (const cluster of both()) {
      await cluster.kill();
      await cluster.restart(dynamic);
    }
    await fleet.join("za", { settings: dynamic, peers: [] });
    await eventually(
      "every cluster knows all three, and so does the parent",
      async () => {
        await write();
        const names = ["eu", "us", "za"].map((tag) => nameServerOf(tag));
        for (const tag of ["eu", "us", "za"])
          assert.deepEqual(await servers(at(tag), "cloud-example-com"), names, tag);
        assert.deepEqual(await fleet.parent.delegation("cloud.example.com"), names);
      },
      { withinMs: 60_000 },
    );
  });

  test("D30: three clusters leave a zone one after the other, and nothing is left of it", async () => {
    const tags = ["eu", "us", "za"];
    // The one that external-dns let write the NS set leaves first, and last.
    const orders = [tags, tags.toReversed()];
    for (const order of orders) {
      for (const tag of order) await at(tag).kubectl(["apply", "-f", "-"], furtherObject);
      await eventually(
        `all take part before ${order.join(", ")} leave`,
        async () => {
          await write();
          assert.deepEqual(await fleet.parent.delegation(further), tags.map(furtherServer));
        },
        { withinMs: 60_000 },
      );
      for (const [index, tag] of order.entries()) {
        await at(tag).kubectl(["delete", "zonedelegation", "cloud2-example-com", "--wait=false"]);
        const left = order.slice(index + 1).toSorted();
        await eventually(
          `${tag} leaves of ${order.join(", ")}`,
          async () => {
            await write();
            assert.equal(await isThere(at(tag), "zonedelegation", "cloud2-example-com"), false);
            assert.deepEqual(await fleet.parent.delegation(further), left.map(furtherServer));
          },
          { withinMs: 60_000 },
        );
        for (const other of left) assert.ok(await serves(at(other), further), `${other} serves on`);
      }
      await eventually(`nothing is left after ${order.join(", ")}`, async () => {
        await write();
        for (const tag of tags) {
          const object = "k8gb-ns-extdns-cloud2-example-com";
          assert.equal(await isThere(at(tag), "-n", "k8gb", "dnsendpoint", object), false);
          assert.deepEqual((await fleet.parent.dig(furtherServer(tag), "A")).addresses, []);
        }
      });
    }
  });
}
