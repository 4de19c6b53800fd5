import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonTextError } from "../json/json-text.ts";
import { configMapsPath, TestApi } from "../test-api.ts";
import { decodeProtobufObject, UnknownMessageError } from "./decode-object.ts";
import { WireError } from "./wire-reader.ts";

/** Writes messages by hand, so that the decoder is checked against the wire format and not against itself. */
const varint = (value: bigint): number[] => {
  const octets: number[] = [];
  for (let left = BigInt.asUintN(64, value); ; left >>= 7n) {
    if (left < 0x80n) return [...octets, Number(left)];
    octets.push(Number(left & 0x7fn) | 0x80);
  }
};
const octets = (number: number, content: readonly number[]): number[] => [
  ...varint(BigInt(number << 3) | 2n),
  ...varint(BigInt(content.length)),
  ...content,
];
const text = (number: number, content: string): number[] =>
  octets(number, [...new TextEncoder().encode(content)]);
const integer = (number: number, value: bigint): number[] => [
  ...varint(BigInt(number << 3)),
  ...varint(value),
];
const envelope = (apiVersion: string, kind: string, raw: readonly number[]): Uint8Array =>
  Uint8Array.from([
    0x6b,
    0x38,
    0x73,
    0,
    ...octets(1, [...text(1, apiVersion), ...text(2, kind)]),
    ...octets(2, raw),
  ]);

test("a config map comes out as its JSON", () => {
  const metadata = [
    ...text(1, "a"),
    ...text(3, "default"),
    ...octets(8, []),
    ...octets(11, [...text(1, "l"), ...text(2, "x")]),
  ];
  const body = envelope("v1", "ConfigMap", [
    ...octets(1, metadata),
    ...octets(2, [...text(1, "k"), ...text(2, "v")]),
    ...octets(3, [...text(1, "b"), ...octets(2, [0, 255])]),
  ]);
  assert.deepEqual(decodeProtobufObject(body), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "default", labels: { l: "x" } },
    data: { k: "v" },
    binaryData: { b: "AP8=" },
  });
});

test("zero counts where the field may be absent, and not where it is always written", () => {
  const spec = [...integer(1, 0n), ...integer(5, 0n), ...octets(4, [])];
  assert.deepEqual(decodeProtobufObject(envelope("apps/v1", "Deployment", [...octets(2, spec)])), {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { replicas: 0, strategy: {} },
  });
});

test("times, ports, embedded fields and negative numbers have their own forms", () => {
  const lease = octets(2, [
    ...text(1, "me"),
    ...integer(2, 15n),
    ...octets(3, [...integer(1, 1_767_225_600n), ...integer(2, 123_456_000n)]),
  ]);
  assert.deepEqual(decodeProtobufObject(envelope("coordination.k8s.io/v1", "Lease", lease)), {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    spec: { holderIdentity: "me", leaseDurationSeconds: 15, acquireTime: "2026-01-01T00:00:00.123456Z" },
  });
  const port = (target: readonly number[]): number[] => octets(1, [...integer(3, 80n), ...octets(4, target)]);
  const service = octets(2, [
    ...port([...integer(1, 0n), ...integer(2, 8080n)]),
    ...port([...integer(1, 1n), ...text(3, "http")]),
  ]);
  assert.deepEqual(decodeProtobufObject(envelope("v1", "Service", service)), {
    apiVersion: "v1",
    kind: "Service",
    spec: {
      ports: [
        { port: 80, targetPort: 8080 },
        { port: 80, targetPort: "http" },
      ],
    },
  });
  const options = [...integer(1, -1n), ...text(4, "Foreground")];
  assert.deepEqual(decodeProtobufObject(envelope("v1", "DeleteOptions", options)), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    gracePeriodSeconds: -1,
    propagationPolicy: "Foreground",
  });
});

test("unknown fields are passed over, unknown kinds are told", () => {
  const body = envelope("v1", "ConfigMap", [
    ...octets(1, text(1, "a")),
    ...integer(99, 5n),
    0x85 + 0,
    0x06,
    1,
    2,
    3,
    4,
  ]);
  assert.deepEqual(decodeProtobufObject(body), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
  });
  assert.throws(() => decodeProtobufObject(envelope("example.com/v1", "Widget", [])), UnknownMessageError);
});

test("a definition's schema comes out as its JSON, whichever form its parts have", () => {
  const named = (name: string, schema: readonly number[]): number[] =>
    octets(29, [...text(1, name), ...octets(2, schema)]);
  const closed = octets(30, integer(1, 0n));
  const texts = octets(30, [...integer(1, 1n), ...octets(2, text(5, "string"))]);
  const schema = [
    ...text(5, "object"),
    ...named("closed", closed),
    ...named("texts", texts),
    ...named("list", [...octets(24, octets(1, text(5, "integer"))), ...octets(8, text(1, "[1]"))]),
    ...named("flag", octets(8, text(1, "false"))),
    ...named("any", [...integer(38, 0n), ...integer(40, 1n), ...octets(20, text(1, '"x"'))]),
  ];
  const version = [
    ...text(1, "v1"),
    ...integer(2, 0n),
    ...integer(3, 1n),
    ...octets(4, octets(1, schema)),
    ...octets(5, octets(1, [])),
  ];
  const spec = [...text(1, "example.com"), ...octets(7, version), ...integer(10, 0n)];
  const body = envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", octets(2, spec));
  assert.deepEqual((decodeProtobufObject(body) as { readonly spec: unknown }).spec, {
    group: "example.com",
    versions: [
      {
        name: "v1",
        served: false,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              closed: { additionalProperties: false },
              texts: { additionalProperties: { type: "string" } },
              flag: { default: false },
              list: { items: { type: "integer" }, default: [1] },
              any: {
                "x-kubernetes-preserve-unknown-fields": false,
                "x-kubernetes-int-or-string": true,
                enum: ["x"],
              },
            },
          },
        },
      },
    ],
  });
});

test("any octets decode or throw an error of the decoder", () => {
  const message = fc.uint8Array({ maxLength: 64 });
  fc.assert(
    fc.property(
      message,
      fc.constantFrom("Pod", "Service", "Deployment", "Event", "DeleteOptions", "CustomResourceDefinition"),
      (raw, kind) => {
        try {
          decodeProtobufObject(envelope("v1", kind, [...raw]));
        } catch (error) {
          assert.ok(
            error instanceof WireError ||
              error instanceof UnknownMessageError ||
              error instanceof JsonTextError,
            String(error),
          );
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("a client that sends protobuf creates objects as one that sends JSON", async () => {
  await using api = await TestApi.start();
  const body = envelope("v1", "ConfigMap", [
    ...octets(1, text(1, "a")),
    ...octets(2, [...text(1, "k"), ...text(2, "v")]),
  ]);
  const created = await api.request("POST", configMapsPath, {
    body,
    contentType: "application/vnd.kubernetes.protobuf",
  });
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(created.body["data"], { k: "v" });
  const options = envelope("v1", "DeleteOptions", octets(2, text(1, "other")));
  const deleted = await api.request("DELETE", `${configMapsPath}/a`, {
    body: options,
    contentType: "application/vnd.kubernetes.protobuf",
  });
  assert.equal(deleted.status, 409);
  const broken = await api.request("POST", configMapsPath, {
    body: Uint8Array.of(1, 2, 3),
    contentType: "application/vnd.kubernetes.protobuf",
  });
  assert.equal(broken.status, 400);
});
