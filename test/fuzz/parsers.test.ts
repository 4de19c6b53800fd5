import assert from "node:assert/strict";
import { test } from "node:test";
import { ControllerError, KubeClient, connectionFromKubeconfig, isApiError } from "@meridian/controller";
import { parseZoneFile } from "@meridian/dns";
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  compileJsonPath,
  compileSchema,
  createMergePatch,
  deepEqual,
  formatFieldSelector,
  formatLabelSelector,
  isStatusError,
  parseFieldSelector,
  parseLabelSelector,
  parseQuantity,
  parseTime,
  validateStructuralSchema,
  type Json,
  type PatchSchema,
  type ResourceType,
  type StructuralSchema,
} from "@meridian/kube";
import type { Runtime } from "@meridian/runtime";
import { nodeLocalSystem } from "@meridian/runtime/node";
import { Simulation } from "@meridian/runtime/sim";
import { handWritten } from "../conformance/differential-zones.ts";
import { apiSamples, widgetDefinition } from "./api-samples.ts";
import { fuzzRuns, fuzzSeed, pick, seededIntegers } from "./fuzz-seed.ts";
import { mutateJson } from "./json-mutator.ts";
import { mutateOctets, mutateText } from "./octet-mutator.ts";

const samples = apiSamples.map(({ object }) => object as unknown as Json);

/** What one mutated input does; it throws only what the parser's owner announces. */
interface Parser {
  readonly name: string;
  readonly runs: number;
  /** How many of the inputs must still be sound, so that the mutations are not too wild. */
  readonly soundMin: number;
  /** True for a sound input. */
  readonly parse: (integer: (limit: number) => number) => boolean | Promise<boolean>;
  readonly isOwnError: (error: unknown) => boolean;
}

const labelSelectors = [
  "app=web,tier!=db,!old",
  "env in (a, b),env notin (c),x",
  "example.com/name==v1.2",
  "a=,b!=",
];
const fieldSelectors = ["metadata.name=a,metadata.namespace!=b", "a=\\,\\=\\\\", "status.phase==Running"];
const jsonPaths = [
  ".spec.rules[*].host",
  "$.a['b'].c[0:3]",
  '{.status.conditions[?(@.type=="Ready")].status}',
  "..a",
];
const kubeconfigs = [
  `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: LS0tLS1CRUdJTg==}}]
users:
- name: u
  user: {token: secret, client-certificate-data: QQ==, client-key-data: QQ==}
contexts: [{name: here, context: {cluster: c, user: u, namespace: n}}]
`,
  `current-context: here
clusters: [{name: c, cluster: {server: "api:6443", certificate-authority: ca.crt, tls-server-name: api, proxy-url: "socks5://p:1"}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./login, args: [a], env: [{name: A, value: b}], provideClusterInfo: true}
    as: eve
    as-groups: [g]
    as-user-extra: {scopes: [a, b]}
contexts: [{name: here, context: {cluster: c, user: u}}]
`,
  `current-context: here
clusters: [{name: c, cluster: {server: "https://api", insecure-skip-tls-verify: true}}]
users:
- name: u
  user: {auth-provider: {name: oidc, config: {client-id: k, idp-issuer-url: "https://idp", id-token: a.b.c, refresh-token: r}}}
contexts: [{name: here, context: {cluster: c, user: u}}]
`,
];
const machine = nodeLocalSystem({ HTTPS_PROXY: "http://proxy:1", NO_PROXY: "10.0.0.0/8,[fd00::1]:1,.x" });
const openApiSchema = (
  widgetDefinition as unknown as {
    readonly spec: {
      readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: StructuralSchema } }];
    };
  }
).spec.versions[0].schema.openAPIV3Schema;

/** Lists of a pod and a service that merge by a key, as a set, and with what stays. */
const mergingBy = (key: string): PatchSchema => ({
  "x-kubernetes-patch-strategy": "merge",
  "x-kubernetes-patch-merge-key": key,
  items: {
    properties: { env: { "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name" } },
  },
});
const patchSchema: PatchSchema = {
  properties: {
    metadata: { properties: { finalizers: { "x-kubernetes-patch-strategy": "merge" } } },
    spec: {
      "x-kubernetes-patch-strategy": "retainKeys",
      properties: { containers: mergingBy("name"), ports: mergingBy("port"), rules: mergingBy("host") },
    },
  },
};

const parsers: readonly Parser[] = [
  {
    name: "zone files",
    runs: 2_000,
    soundMin: 20,
    parse(integer) {
      const lines = handWritten.text.split("\n");
      const at = integer(lines.length);
      lines[at] = mutateText([lines[at]!, pick(lines, integer)], integer);
      const { zone, problems } = parseZoneFile(lines.join("\n"));
      if (zone === undefined) {
        assert.ok(problems.length > 0 && problems.length <= 100);
        for (const { message, line } of problems) assert.ok(message !== "" && line >= 0);
      }
      return zone !== undefined;
    },
    isOwnError: () => false,
  },
  {
    name: "kubeconfigs",
    runs: 2_000,
    soundMin: 50,
    parse(integer) {
      const { runtime } = new Simulation({ seed: 1 }).node({ name: "client", addresses: ["10.0.0.2"] });
      const connection = connectionFromKubeconfig(runtime, mutateText(kubeconfigs, integer), {
        system: machine,
      });
      assert.equal(typeof connection.origin, "string");
      assert.equal(typeof connection.namespace, "string");
      assert.ok(connection.token === undefined || typeof connection.token === "string");
      return true;
    },
    isOwnError: (error) => error instanceof ControllerError,
  },
  {
    name: "label selectors",
    runs: 20_000,
    soundMin: 500,
    parse(integer) {
      const selector = parseLabelSelector(mutateText(labelSelectors, integer));
      const text = formatLabelSelector(selector);
      assert.equal(formatLabelSelector(parseLabelSelector(text)), text);
      return true;
    },
    isOwnError: isStatusError,
  },
  {
    name: "field selectors",
    runs: 20_000,
    soundMin: 500,
    parse(integer) {
      const selector = parseFieldSelector(mutateText(fieldSelectors, integer));
      assert.deepEqual(parseFieldSelector(formatFieldSelector(selector)), selector);
      return true;
    },
    isOwnError: isStatusError,
  },
  {
    name: "JSON paths",
    runs: 20_000,
    soundMin: 500,
    parse(integer) {
      const path = compileJsonPath(mutateText(jsonPaths, integer));
      return path !== undefined;
    },
    isOwnError: isStatusError,
  },
  {
    name: "quantities and times",
    runs: 20_000,
    soundMin: 500,
    parse(integer) {
      const text = mutateText(["100m", "1.5Gi", "1e3", "2026-11-30T10:00:00.123456Z"], integer);
      const quantity = parseQuantity(text);
      const time = parseTime(text);
      assert.ok(time === undefined || Number.isFinite(time));
      return quantity !== undefined || time !== undefined;
    },
    isOwnError: () => false,
  },
  {
    name: "JSON patches",
    runs: 10_000,
    soundMin: 100,
    parse(integer) {
      const target = pick(samples, integer);
      const before = JSON.stringify(target);
      const operation = { op: "replace", path: "/metadata/name", value: "x", from: "/kind" };
      const patch = [0, 1].map(() => ({
        ...operation,
        op: pick(["add", "remove", "replace", "copy", "move", "test"], integer),
      }));
      try {
        applyJsonPatch(target, mutateJson(patch, integer) as Json);
      } finally {
        assert.equal(JSON.stringify(target), before, "the target was changed");
      }
      return true;
    },
    isOwnError: isStatusError,
  },
  {
    name: "merge patches",
    runs: 10_000,
    soundMin: 5_000,
    parse(integer) {
      const from = pick(samples, integer);
      // A merge patch cannot say null, so nothing that it makes may hold one.
      const to = applyMergePatch(undefined, mutateJson(from, integer) as Json);
      const patched = applyMergePatch(from, createMergePatch(from, to));
      assert.ok(deepEqual(patched, to), `${JSON.stringify(patched)} is not ${JSON.stringify(to)}`);
      return true;
    },
    isOwnError: () => false,
  },
  {
    name: "strategic merge patches",
    runs: 10_000,
    soundMin: 1_000,
    parse(integer) {
      const target = pick(samples, integer);
      const before = JSON.stringify(target);
      try {
        applyStrategicMergePatch(target, mutateJson(target, integer) as Json, patchSchema);
      } finally {
        assert.equal(JSON.stringify(target), before, "the target was changed");
      }
      return true;
    },
    isOwnError: isStatusError,
  },
  {
    name: "schemas of definitions",
    runs: 3_000,
    soundMin: 20,
    parse(integer) {
      const schema = mutateJson(openApiSchema, integer) as StructuralSchema;
      if (validateStructuralSchema(schema, "schema").length > 0) return false;
      const compiled = compileSchema(schema);
      for (const sample of samples) {
        const pruned = compiled.prune(mutateJson(sample, integer) as Json);
        assert.deepEqual(compiled.prune(pruned), pruned);
        const defaulted = compiled.applyDefaults(pruned);
        assert.deepEqual(compiled.applyDefaults(defaulted), defaulted);
        compiled.validate(defaulted);
      }
      return true;
    },
    isOwnError: () => false,
  },
];

for (const { name, runs, soundMin, parse, isOwnError } of parsers) {
  const total = runs * fuzzRuns;
  test(`${total} mutated ${name} are read or refused in words (seed ${fuzzSeed})`, async () => {
    const integer = seededIntegers(name);
    let sound = 0;
    for (let index = 0; index < total; index++) {
      try {
        if (await parse(integer)) sound++;
      } catch (error) {
        if (isOwnError(error)) continue;
        throw new Error(`input ${index} of seed ${fuzzSeed}`, { cause: error });
      }
    }
    assert.ok(sound >= soundMin, `only ${sound} of ${total} inputs were sound`);
  });
}

const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** A runtime whose HTTP server answers everything by these octets, in pieces. */
function answering(runtime: Runtime, octets: () => Uint8Array, integer: (limit: number) => number): Runtime {
  async function* body(): AsyncGenerator<Uint8Array> {
    let rest = octets();
    while (rest.length > 0) {
      const cut = 1 + integer(rest.length);
      yield rest.subarray(0, cut);
      rest = rest.subarray(cut);
    }
  }
  const request = async (): ReturnType<ReturnType<Runtime["network"]["httpClient"]>["request"]> => ({
    status: integer(10) === 0 ? 400 + integer(130) : 200,
    headers: { "content-type": "application/json" },
    body: body(),
  });
  const httpClient = (): ReturnType<Runtime["network"]["httpClient"]> => ({
    request,
    [Symbol.asyncDispose]: async () => {},
  });
  const network: unknown = Object.assign(Object.create(runtime.network) as object, { httpClient });
  return { ...runtime, network: network as Runtime["network"] };
}

const streams = [
  { type: "ADDED", object: { metadata: { name: "a", resourceVersion: "1" } } },
  { type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "2" } } },
  { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired", message: "gone" } },
  { kind: "ConfigMapList", metadata: { resourceVersion: "3" }, items: [{ metadata: { name: "é" } }] },
].map((document) => new TextEncoder().encode(`${JSON.stringify(document)}\n`));

test(`what a broken server says, the client reads or refuses in words (seed ${fuzzSeed})`, async () => {
  const simulation = new Simulation({ seed: fuzzSeed });
  const { runtime } = simulation.node({ name: "client", addresses: ["10.0.0.2"] });
  const integer = seededIntegers("broken server");
  let events = 0;
  for (let index = 0; index < 5_000 * fuzzRuns; index++) {
    const octets = (): Uint8Array =>
      integer(3) === 0 ? pick(streams, integer) : mutateOctets(streams, integer);
    const client = new KubeClient(answering(runtime, octets, integer), {
      origin: "http://10.0.0.1:80",
      deadlineMs: 60_000,
    });
    const told: unknown[] = [];
    const calls = [
      async () => {
        for await (const event of await client.watch(configMaps, { namespace: "n" })) told.push(event);
      },
      async () => void told.push(await client.list(configMaps, { namespace: "n" })),
      async () => void told.push(await client.get(configMaps, { namespace: "n", name: "a" })),
    ];
    try {
      await simulation.complete(pick(calls, integer)());
    } catch (error) {
      if (!isApiError(error)) {
        throw new Error(`input ${index} of seed ${fuzzSeed}`, { cause: error });
      }
    }
    events += told.length;
  }
  assert.ok(events > 500, `only ${events} answers could be read`);
});
