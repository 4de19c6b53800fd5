import assert from "node:assert/strict";
import { test } from "node:test";
import {
  defaultCustomResourceDefinition,
  validateCustomResourceDefinition,
} from "./custom-resource-definition-validation.ts";
import type { CustomResourceDefinition } from "./kinds/custom-resource-definition.ts";
import { compareKubeVersions } from "./kube-version.ts";

const definition = defaultCustomResourceDefinition({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gslbs.k8gb.io" },
  spec: {
    group: "k8gb.io",
    scope: "Namespaced",
    names: { plural: "gslbs", kind: "Gslb" },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: { type: "object", properties: { size: { type: "integer" }, mode: { type: "string" } } },
            },
          },
        },
      },
    ],
  },
});

test("a definition gets its singular name and list kind", () => {
  assert.equal(definition.spec.names.singular, "gslb");
  assert.equal(definition.spec.names.listKind, "GslbList");
  assert.deepEqual(validateCustomResourceDefinition(definition), []);
});

type Spec = CustomResourceDefinition["spec"];
const [version] = definition.spec.versions;
assert.ok(version);
const withSpec = (spec: Partial<Spec>): CustomResourceDefinition => ({
  ...definition,
  spec: { ...definition.spec, ...spec },
});
const withVersion = (more: Partial<Spec["versions"][number]>): CustomResourceDefinition =>
  withSpec({ versions: [{ ...version, ...more }] });

const faults: readonly [name: string, definition: CustomResourceDefinition, expected: RegExp][] = [
  [
    "another name",
    { ...definition, metadata: { name: "x" } },
    /^metadata.name: Invalid value: "x": must be spec.names.plural\+"."\+spec.group$/,
  ],
  [
    "an unknown scope",
    withSpec({ scope: "Galaxy" as "Cluster" }),
    /^spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"$/,
  ],
  [
    "two storage versions",
    withSpec({ versions: [version, { ...version, name: "v1" }] }),
    /must have exactly one version marked as storage version/,
  ],
  [
    "the same version twice",
    withSpec({ versions: [version, { ...version, storage: false }] }),
    /must contain unique version names/,
  ],
  [
    "no schema",
    withVersion({ schema: {} }),
    /^spec.versions\[0\].schema.openAPIV3Schema: Required value: schemas are required$/,
  ],
  [
    "no structural schema",
    withVersion({ schema: { openAPIV3Schema: {} } }),
    /^spec.versions\[0\].schema.openAPIV3Schema.type: Required value/,
  ],
  [
    "a column of unknown type",
    withVersion({ additionalPrinterColumns: [{ name: "a", type: "text", jsonPath: ".spec" }] }),
    /must be one of integer,number,string,boolean,date$/,
  ],
  [
    "a column with a bad path",
    withVersion({ additionalPrinterColumns: [{ name: "a", type: "string", jsonPath: ".spec[" }] }),
    /jsonPath: Invalid value: ".spec\["/,
  ],
  [
    "a scale path outside spec",
    withVersion({
      subresources: { scale: { specReplicasPath: ".status.x", statusReplicasPath: ".status.x" } },
    }),
    /should be a json path under .spec$/,
  ],
  [
    "a selectable field that does not exist",
    withVersion({ selectableFields: [{ jsonPath: ".spec.zone" }] }),
    /does not refer to a valid field$/,
  ],
  ["a protected group", withSpec({ group: "x.k8s.io" }), /api-approved.kubernetes.io/],
  [
    "a bad plural",
    withSpec({ names: { ...definition.spec.names, plural: "Gslbs" } }),
    /spec.names.plural: Invalid value: "Gslbs"/,
  ],
  [
    "equal kind and list kind",
    withSpec({ names: { ...definition.spec.names, listKind: "Gslb" } }),
    /kind and listKind may not be the same/,
  ],
  [
    "an unknown conversion",
    withSpec({ conversion: { strategy: "Magic" as "None" } }),
    /^spec.conversion.strategy: Unsupported value: "Magic"/,
  ],
];

for (const [name, broken, expected] of faults) {
  test(`a definition with ${name} is refused`, () => {
    const texts = validateCustomResourceDefinition(broken).map(
      ({ field, message }) => `${field}: ${message}`,
    );
    assert.ok(
      texts.some((text) => expected.test(text)),
      texts.join("\n"),
    );
  });
}

test("a selectable field that exists is taken", () => {
  assert.deepEqual(
    validateCustomResourceDefinition(withVersion({ selectableFields: [{ jsonPath: ".spec.mode" }] })),
    [],
  );
});

const established: CustomResourceDefinition = {
  ...definition,
  status: { conditions: [{ type: "Established", status: "True" }], storedVersions: ["v1beta1"] },
};

test("scope and kind are immutable once established", () => {
  const causes = validateCustomResourceDefinition(withSpec({ scope: "Cluster" }), established);
  assert.deepEqual(
    causes.map(({ field, message }) => `${field}: ${message}`),
    ['spec.scope: Invalid value: "Cluster": field is immutable'],
  );
  assert.deepEqual(validateCustomResourceDefinition(withSpec({ scope: "Cluster" }), definition), []);
});

test("a stored version may not go", () => {
  const renamed = withSpec({ versions: [{ ...version, name: "v1" }] });
  assert.match(
    validateCustomResourceDefinition(renamed, established)[0]?.message ?? "",
    /was previously a storage version/,
  );
});

test("versions are ordered as discovery orders them", () => {
  const ordered = [
    "v10",
    "v2",
    "v1",
    "v11beta2",
    "v10beta3",
    "v3beta1",
    "v12alpha1",
    "v11alpha2",
    "foo1",
    "foo10",
  ];
  assert.deepEqual(ordered.toReversed().toSorted(compareKubeVersions), ordered);
});
