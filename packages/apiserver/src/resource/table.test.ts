import assert from "node:assert/strict";
import { test } from "node:test";
import {
  configMap,
  configMapsPath,
  definitionsPath,
  TestApi,
  widget,
  widgetDefinition,
  widgetsPath,
} from "../test-api.ts";

const table = {
  accept:
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
};

interface Table {
  readonly kind: string;
  readonly apiVersion: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly kind: string } | null;
  }[];
  readonly metadata: { readonly resourceVersion: string };
}
const tableOf = (body: unknown): Table => body as Table;

const ns = "/api/v1/namespaces/default";
const kinds: readonly {
  readonly path: string;
  readonly body: unknown;
  readonly columns: readonly string[];
  readonly cells: readonly unknown[];
}[] = [
  {
    path: configMapsPath,
    body: configMap("a", { k: "v" }),
    columns: ["Name", "Data", "Age"],
    cells: ["a", "1", "0s"],
  },
  {
    path: `${ns}/secrets`,
    body: { metadata: { name: "s" }, data: { a: "eA==" } },
    columns: ["Name", "Type", "Data", "Age"],
    cells: ["s", "Opaque", 1, "0s"],
  },
  {
    path: `${ns}/services`,
    body: {
      metadata: { name: "s" },
      spec: {
        ports: [
          { name: "a", port: 80, nodePort: 30_080 },
          { name: "b", port: 53, protocol: "UDP" },
        ],
        selector: { a: "b" },
      },
    },
    columns: ["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age", "Selector"],
    cells: ["s", "ClusterIP", "<none>", "<none>", "80:30080/TCP,53/UDP", "0s", "a=b"],
  },
  {
    path: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    body: {
      metadata: { name: "s" },
      addressType: "IPv4",
      endpoints: [
        { addresses: ["10.0.0.1"] },
        { addresses: ["10.0.0.2"] },
        { addresses: ["10.0.0.3"] },
        { addresses: ["10.0.0.4"] },
      ],
      ports: [{ port: 80 }],
    },
    columns: ["Name", "AddressType", "Ports", "Endpoints", "Age"],
    cells: ["s", "IPv4", "80", "10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...", "0s"],
  },
  {
    path: "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    body: {
      metadata: { name: "i" },
      spec: {
        ingressClassName: "nginx",
        tls: [{ hosts: ["a.example"] }],
        rules: [{ host: "a.example" }, { host: "b.example" }],
      },
    },
    columns: ["Name", "Class", "Hosts", "Address", "Ports", "Age"],
    cells: ["i", "nginx", "a.example,b.example", "", "80, 443", "0s"],
  },
  {
    path: `${ns}/pods`,
    body: { metadata: { name: "p" }, spec: { containers: [{ name: "c" }] } },
    columns: [
      "Name",
      "Ready",
      "Status",
      "Restarts",
      "Age",
      "IP",
      "Node",
      "Nominated Node",
      "Readiness Gates",
    ],
    cells: ["p", "0/1", "Pending", "0", "0s", "<none>", "<none>", "<none>", "<none>"],
  },
  {
    path: "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    body: { metadata: { name: "l" }, spec: { holderIdentity: "me" } },
    columns: ["Name", "Holder", "Age"],
    cells: ["l", "me", "0s"],
  },
  {
    path: `${ns}/events`,
    body: {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p" },
      type: "Warning",
      reason: "Bad",
      message: "it broke",
      lastTimestamp: "2025-12-31T23:59:00Z",
    },
    columns: [
      "Last Seen",
      "Type",
      "Reason",
      "Object",
      "Subobject",
      "Source",
      "Message",
      "First Seen",
      "Count",
      "Name",
    ],
    cells: ["60s", "Warning", "Bad", "pod/p", null, null, "it broke", "0s", 1, "e"],
  },
];

for (const { body, cells, columns, path } of kinds) {
  test(`${path.split("/").at(-1)} are shown with their columns`, async () => {
    await using api = await TestApi.start();
    await api.given(path, body);
    const shown = tableOf((await api.get(path, table)).body);
    assert.equal(shown.kind, "Table");
    assert.equal(shown.apiVersion, "meta.k8s.io/v1");
    assert.deepEqual(
      shown.columnDefinitions.map(({ name }) => name),
      columns,
    );
    assert.deepEqual(shown.rows[0]?.cells, cells);
    assert.equal(shown.rows[0]?.object?.kind, "PartialObjectMetadata");
    assert.match(shown.metadata.resourceVersion, /^\d+$/);
  });
}

test("custom kinds show their own columns, or their age", async () => {
  await using api = await TestApi.start();
  const columns = [
    { name: "Size", type: "integer", jsonPath: ".spec.size" },
    { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
  ];
  await api.given(definitionsPath, widgetDefinition({ additionalPrinterColumns: columns }));
  await api.advance(10);
  await api.given(widgetsPath, widget("w", { size: 3 }));
  await api.given(widgetsPath, widget("x"));
  const shown = tableOf((await api.get(widgetsPath, table)).body);
  assert.deepEqual(
    shown.columnDefinitions.map(({ name, priority }) => [name, priority]),
    [
      ["Name", 0],
      ["Size", 0],
      ["Color", 1],
    ],
  );
  assert.deepEqual(
    shown.rows.map(({ cells }) => cells),
    [
      ["w", 3, "red"],
      ["x", null, "red"],
    ],
  );
});

test("a custom kind without columns shows its age", async () => {
  await using api = await TestApi.start();
  await api.given(definitionsPath, widgetDefinition());
  await api.advance(10);
  await api.given(widgetsPath, widget("w"));
  await api.advance(125_000);
  const shown = tableOf((await api.get(`${widgetsPath}/w`, table)).body);
  assert.deepEqual(
    shown.columnDefinitions.map(({ name }) => name),
    ["Name", "Age"],
  );
  assert.deepEqual(shown.rows[0]?.cells, ["w", "2m5s"]);
});

test("rows carry as much of the object as is asked for", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a"));
  const kind = async (include: string): Promise<string | undefined> =>
    tableOf((await api.get(`${configMapsPath}?includeObject=${include}`, table)).body).rows[0]?.object?.kind;
  assert.equal(await kind("Object"), "ConfigMap");
  assert.equal(await kind("Metadata"), "PartialObjectMetadata");
  assert.equal(await kind("None"), undefined);
  assert.equal((await api.get(`${configMapsPath}?includeObject=All`, table)).status, 400);
});

test("metadata alone can be asked for", async () => {
  await using api = await TestApi.start();
  await api.given(configMapsPath, configMap("a", { k: "v" }));
  const list = await api.get(configMapsPath, {
    accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  });
  assert.equal(list.body["kind"], "PartialObjectMetadataList");
  assert.deepEqual(Object.keys(list.body["items"]?.[0] ?? {}).sort(), ["apiVersion", "kind", "metadata"]);
});

const accepts: readonly (readonly [accept: string, status: number, contentType: RegExp])[] = [
  ["", 200, /^application\/json$/],
  ["*/*", 200, /^application\/json$/],
  ["application/vnd.kubernetes.protobuf, */*", 200, /^application\/json$/],
  ["application/vnd.kubernetes.protobuf,application/json", 200, /^application\/json$/],
  ["application/yaml", 200, /^application\/yaml$/],
  ["application/vnd.kubernetes.protobuf", 406, /^application\/json$/],
  ["text/html", 406, /^application\/json$/],
  ["text/html, application/json;q=0.5", 200, /^application\/json$/],
  ["application/json;as=Table;v=v2;g=meta.k8s.io", 406, /^application\/json$/],
];
for (const [accept, status, contentType] of accepts) {
  test(`who accepts "${accept}" gets ${status}`, async () => {
    await using api = await TestApi.start();
    const answer = await api.get(configMapsPath, { accept });
    assert.equal(answer.status, status);
    assert.match(answer.headers["content-type"] ?? "", contentType);
    if (status === 406) assert.equal(answer.body["reason"], "NotAcceptable");
  });
}
