import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { customResourceDefinitions } from "@meridian/gslb";
import { backendManifest, ingressRules } from "./harness/application.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";

// The legacy group as users see it: k8gb's scenarios of the move to the present one, by kubectl and dig, in a cluster that runs
// already when the legacy definition comes.

const address = "192.0.2.21";
const legacyGslb = "gslbs.k8gb.absa.oss";
const canonicalGslb = "gslbs.k8gb.io";
const request = "k8gb.io/migration-requested";
const done = "k8gb.io/migrated-to-k8gb-io";
const hostOf = (name: string): string => `${name}.cloud.example.com`;

let fleet: Fleet;

before(async () => {
  fleet = await Fleet.start({ args: ["--ephemeral", "--no-examples", "--no-lab", "--clusters", "1"] });
  const definition = customResourceDefinitions.find(({ metadata }) => metadata.name === legacyGslb);
  await apply(JSON.stringify(definition));
  await fleet.kubectl("eu", ["wait", "--for=condition=Established", "--timeout=30s", `crd/${legacyGslb}`]);
  await apply("{ apiVersion: v1, kind: Namespace, metadata: { name: e2e } }");
});
after(async () => {
  await fleet?.stop();
});

async function apply(manifest: string): Promise<void> {
  await fleet.kubectl("eu", ["apply", "-f", "-"], { stdin: manifest });
}

const kubectl = (...args: readonly string[]): Promise<string> => fleet.kubectl("eu", ["-n", "e2e", ...args]);
const read = (kind: string, name: string, query: string): Promise<string> =>
  kubectl("get", kind, name, "-o", `jsonpath=${query}`);
const exists = async (kind: string, name: string): Promise<boolean> =>
  (await kubectl("get", kind, name, "--ignore-not-found", "-o", "name")) !== "";

const plainIngress = (name: string): string => `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: ${name}, namespace: e2e }
spec: { ingressClassName: nginx, ${ingressRules(name)} }
---`;

const legacy = (name: string, fields: { spec?: string; metadata?: string } = {}): string => `
apiVersion: k8gb.absa.oss/v1beta1
kind: Gslb
metadata: { name: ${name}, namespace: e2e${fields.metadata ?? ""} }
spec:
  strategy: { type: roundRobin, dnsTtlSeconds: 5 }
  ${fields.spec ?? `ingress: { ingressClassName: nginx, ${ingressRules(name)} }`}
---`;

/** An object's status gets the address that a controller of its class would write. */
async function exposed(kind: string, name: string): Promise<void> {
  await eventually(`${kind} ${name} is there`, async () => assert.ok(await exists(kind, name)));
  const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: address }] } } });
  await kubectl("patch", kind, name, "--subresource=status", "--type=merge", "-p", status);
}

async function assertOwner(name: string, gslb: string): Promise<void> {
  const uid = await read(gslb, name, "{.metadata.uid}");
  assert.equal(await read("dnsendpoint", name, "{.metadata.ownerReferences[*].uid}"), uid);
}

const migrated = (name: string): Promise<void> =>
  eventually(`${name} is migrated`, async () => {
    const labels = JSON.parse(await read(legacyGslb, name, "{.metadata.labels}")) as Record<string, string>;
    assert.deepEqual([labels[request], labels[done]], ["true", "true"]);
    await assertOwner(name, canonicalGslb);
  });

/** Deletes the legacy Gslb; its successor and all that it needs are left. */
async function deleteLegacy(name: string): Promise<void> {
  const uids = async (): Promise<readonly string[]> =>
    Promise.all(["ingress", "dnsendpoint", canonicalGslb].map((kind) => read(kind, name, "{.metadata.uid}")));
  const before = await uids();
  await kubectl("delete", legacyGslb, name, "--cascade=foreground", "--timeout=60s");
  assert.deepEqual(await uids(), before);
  await fleet.answers(hostOf(name), [address]);
}

test("legacy-migration-embedded", async () => {
  const name = "legacy-migration-embedded";
  await apply(backendManifest(name) + plainIngress(name));
  await exposed("ingress", name);
  await apply(legacy(name, { metadata: `, labels: { ${request}: "true" }` }));
  await migrated(name);
  const query = "{.spec.resourceRef.kind}/{.spec.resourceRef.name}{.spec.ingress}";
  assert.equal(await read(canonicalGslb, name, query), `Ingress/${name}`);
  assert.doesNotMatch(await read("ingress", name, "{.metadata.ownerReferences}"), /k8gb\.absa\.oss/);
  await fleet.answers(hostOf(name), [address]);
  await deleteLegacy(name);
});

test("legacy-migration-requested-pauses-runtime", async () => {
  const name = "legacy-migration-requested";
  await apply(backendManifest(name) + plainIngress(name));
  await exposed("ingress", name);
  await apply(legacy(name, { metadata: `, labels: { ${request}: "true" }` }));
  await migrated(name);
  await kubectl("label", legacyGslb, name, "--overwrite", `${done}=false`);
  await migrated(name);
  await deleteLegacy(name);
});

test("legacy-migration-dnsendpoint-handoff", async () => {
  const name = "legacy-migration-handoff";
  await apply(backendManifest(name) + legacy(name));
  await exposed("ingress", name);
  await fleet.answers(hostOf(name), [address]);
  await assertOwner(name, legacyGslb);
  const table = await kubectl("get", legacyGslb, name, "-o", "wide");
  assert.match(
    table,
    /^NAME\s+STRATEGY\s+GEOTAG\s+HOSTS\n\S+\s+roundRobin\s+eu\s+legacy-migration-handoff\./,
  );
  await kubectl("label", legacyGslb, name, `${request}=true`);
  await migrated(name);
  const described = await eventually("the events are there", async () => {
    const text = await kubectl("describe", legacyGslb, name);
    assert.match(text, /Warning\s+LegacyDeprecated\s.*legacy-gslb-migrator/);
    assert.match(text, /Normal\s+LegacyMigrated\s.*legacy-gslb-migrator/);
    return text;
  });
  assert.doesNotMatch(described, /LegacyIgnored/);
  await deleteLegacy(name);
});

test("legacy-service-annotation", async () => {
  const name = "legacy-service-annotation";
  await apply(backendManifest(name, "LoadBalancer"));
  await exposed("service", name);
  const spec = `resourceRef: { apiVersion: v1, kind: Service, name: ${name} }`;
  await apply(legacy(name, { spec, metadata: `, annotations: { k8gb.io/hostname: ${hostOf(name)} }` }));
  await fleet.answers(hostOf(name), [address]);
  await eventually("its status names the host", async () =>
    assert.equal(await read(legacyGslb, name, "{.status.hosts}"), hostOf(name)),
  );
  await assertOwner(name, legacyGslb);
  await kubectl("label", legacyGslb, name, `${request}=true`);
  await migrated(name);
  await eventually("the successor has all of it", async () => {
    const query = "{.metadata.annotations.k8gb\\.io/hostname} {.spec.resourceRef.name} {.status.hosts}";
    assert.equal(await read(canonicalGslb, name, query), `${hostOf(name)} ${name} ${hostOf(name)}`);
  });
});

for (const cascade of ["foreground", "background"])
  test(`D39: a legacy Gslb that was never migrated takes its DNSEndpoint and Ingress along (--cascade=${cascade})`, async () => {
    const name = `never-${cascade}`;
    await apply(backendManifest(name) + legacy(name));
    await exposed("ingress", name);
    await fleet.answers(hostOf(name), [address]);
    await kubectl("delete", legacyGslb, name, `--cascade=${cascade}`, "--timeout=60s");
    await eventually("nothing is left", async () => {
      assert.equal(await exists("ingress", name), false);
      assert.equal(await exists("dnsendpoint", name), false);
      await fleet.answers(hostOf(name), []);
    });
  });

test("a namespace with legacy Gslbs, migrated and not, goes as a whole", async () => {
  const name = "left-in-namespace";
  await apply(backendManifest(name) + legacy(name));
  await exposed("ingress", name);
  await fleet.answers(hostOf(name), [address]);
  const finalizer = await read(legacyGslb, "legacy-service-annotation", "{.metadata.finalizers[0]}");
  assert.equal(finalizer, "k8gb.io/legacy-migration-protection");
  await fleet.kubectl("eu", ["delete", "namespace", "e2e", "--timeout=60s"], { timeoutMs: 90_000 });
  await fleet.answers(hostOf(name), []);
});
