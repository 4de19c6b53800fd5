import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { deploy } from "./harness/application.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";

// kubectl, as a person uses it, on every kind that the examples use.

const app = { name: "kc", strategy: "{ type: roundRobin, dnsTtlSeconds: 30 }" };
const kinds: readonly {
  readonly resource: string;
  readonly name: string;
  readonly field: string;
  readonly namespaced: boolean;
}[] = [
  { resource: "namespace", name: "e2e", field: "spec", namespaced: false },
  { resource: "service", name: "kc", field: "spec.ports", namespaced: true },
  { resource: "endpointslice", name: "kc-1", field: "endpoints", namespaced: true },
  { resource: "ingress", name: "kc", field: "spec.rules", namespaced: true },
  { resource: "gslb", name: "kc", field: "spec.strategy", namespaced: true },
  { resource: "dnsendpoint", name: "kc", field: "spec.endpoints", namespaced: true },
  { resource: "zonedelegation", name: "cloud-example-com", field: "spec.parentZone", namespaced: false },
];

let fleet: Fleet;
const at = (kind: { readonly namespaced: boolean }): string[] => (kind.namespaced ? ["-n", "e2e"] : []);

before(async () => {
  fleet = await Fleet.start({ args: ["--ephemeral"] });
  await deploy(fleet, app);
  await eventually("the DNSEndpoint is there", () =>
    fleet.kubectl("eu", ["-n", "e2e", "get", "dnsendpoint", "kc"]),
  );
});
after(async () => {
  await fleet.stop();
});

test("get gslb,dnsendpoints,zonedelegations -A shows the examples with k8gb's printer columns", async () => {
  await eventually("the examples have a status", async () => {
    const table = await fleet.kubectl("eu", ["get", "gslb,dnsendpoints,zonedelegations", "-A"]);
    assert.match(table, /NAMESPACE\s+NAME\s+STRATEGY\s+GEOTAG\n/);
    assert.match(table, /gslb\.k8gb\.io\/\S+\s+failover\s+eu\n/);
    assert.match(table, /NAME\s+LOADBALANCEDZONE\s+PARENTZONE\s+NEGTTL\n/);
    assert.match(
      table,
      /zonedelegation\.k8gb\.io\/cloud-example-com\s+cloud\.example\.com\s+example\.com\s+\d+\n/,
    );
    assert.match(table, /dnsendpoint\.externaldns\.k8s\.io\/\S+/);
  });
  const wide = await fleet.kubectl("eu", ["-n", "e2e", "get", "gslb", "kc", "-o", "wide"]);
  assert.match(wide, /STRATEGY\s+GEOTAG\s+HOSTS/);
  assert.match(wide, /kc\s+roundRobin\s+eu\s+kc\.cloud\.example\.com/);
});

for (const kind of kinds) {
  test(`${kind.resource}: get, describe, explain, label, patch, edit and apply`, async () => {
    const { resource, name } = kind;
    assert.match(await fleet.kubectl("eu", [...at(kind), "get", resource, name]), new RegExp(name));
    const described = await fleet.kubectl("eu", [...at(kind), "describe", resource, name]);
    assert.match(described, new RegExp(`Name:\\s+${name}`));
    const explained = await fleet.kubectl("eu", ["explain", `${resource}.${kind.field}`]);
    assert.match(explained, /KIND:/);
    assert.match(explained, /FIELD:|DESCRIPTION:/);

    await fleet.kubectl("eu", [...at(kind), "label", resource, name, "colour=blue", "--overwrite"]);
    await fleet.kubectl("eu", [...at(kind), "annotate", resource, name, "note=first", "--overwrite"]);
    await fleet.kubectl("eu", [
      ...at(kind),
      "patch",
      resource,
      name,
      "--type=merge",
      "-p",
      '{"metadata":{"labels":{"shape":"round"}}}',
    ]);
    const object = JSON.parse(
      await fleet.kubectl("eu", [...at(kind), "get", resource, name, "-o", "json"]),
    ) as {
      metadata: {
        labels: Record<string, string>;
        annotations: Record<string, string>;
        resourceVersion: string;
      };
    };
    if (resource !== "dnsendpoint") assert.equal(object.metadata.labels["shape"], "round"); // the operator owns its labels

    const editor = path.join(fleet.dataFolder, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nsed -i "s/note: first/note: edited/" "$1"\n');
    await chmod(editor, 0o755);
    await fleet.kubectl("eu", [...at(kind), "annotate", resource, name, "note=first", "--overwrite"]);
    process.env["KUBE_EDITOR"] = editor;
    await fleet.kubectl("eu", [...at(kind), "edit", resource, name]);
    delete process.env["KUBE_EDITOR"];

    const full = await fleet.kubectl("eu", [...at(kind), "get", resource, name, "-o", "yaml"]);
    await fleet.kubectl("eu", ["apply", "--server-side=false", "-f", "-"], {
      stdin: full.replaceAll(/^ {2}(resourceVersion|uid|generation|creationTimestamp):.*\n/gm, ""),
    });
  });
}

test("get -w streams the changes of a Gslb", async () => {
  const { kubeconfig } = await fleet.cluster("us");
  const child = spawn(
    "kubectl",
    ["--kubeconfig", kubeconfig, "-n", "e2e", "get", "gslb", "kc", "-w", "--output-watch-events"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  try {
    await eventually("the present state is printed", () => assert.match(printed, /ADDED\s+kc\s+roundRobin/));
    await fleet.kubectl("us", [
      "-n",
      "e2e",
      "patch",
      "gslb",
      "kc",
      "--type=merge",
      "-p",
      '{"spec":{"strategy":{"type":"failover","primaryGeoTag":"us"}}}',
    ]);
    await eventually("the change is printed", () => assert.match(printed, /MODIFIED\s+kc\s+failover/));
  } finally {
    const closed = new Promise((resolve) => child.on("close", resolve));
    child.kill("SIGINT");
    await closed;
  }
});

test("delete takes a Gslb, its DNSEndpoint goes by garbage collection, and its name leaves the zone", async () => {
  await deploy(fleet, { name: "gone", strategy: "{ type: roundRobin }" });
  await eventually("the host is answered", async () => {
    assert.equal((await fleet.dig("eu", "gone.cloud.example.com")).addresses.length, 3);
  });
  await fleet.kubectl("eu", ["-n", "e2e", "delete", "gslb", "gone"]);
  await eventually("the DNSEndpoint is collected", async () => {
    const result = await fleet.tryKubectl("eu", ["-n", "e2e", "get", "dnsendpoint", "gone"]);
    assert.match(result.stderr, /NotFound/);
  });
  await eventually("the others answer without eu", async () => {
    assert.equal((await fleet.dig("us", "gone.cloud.example.com")).addresses.length, 2);
  });
});

test("deleting a namespace removes everything in it", async () => {
  await deploy(fleet, { name: "nsgone", namespace: "short-lived", strategy: "{ type: roundRobin }" });
  await fleet.kubectl("za", ["delete", "namespace", "short-lived", "--timeout=30s"], { timeoutMs: 60_000 });
  const left = await fleet.kubectl("za", [
    "get",
    "gslb,service,ingress,endpointslice,dnsendpoint",
    "-A",
    "-o",
    "name",
  ]);
  assert.doesNotMatch(left, /nsgone/);
});

test("api-resources, api-versions, version, cluster-info and auth work", async () => {
  assert.match(
    await fleet.kubectl("eu", ["api-resources"]),
    /zonedelegations\s+zd\s+k8gb\.io\/v1beta1\s+false\s+ZoneDelegation/,
  );
  assert.match(await fleet.kubectl("eu", ["api-versions"]), /externaldns\.k8s\.io\/v1alpha1/);
  assert.match(await fleet.kubectl("eu", ["version"]), /Server Version/);
  assert.match(await fleet.kubectl("eu", ["auth", "can-i", "create", "gslbs.k8gb.io"]), /yes/);
});
