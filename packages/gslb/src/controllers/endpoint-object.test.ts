import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { Gslb } from "../resources/gslb.ts";
import { readBooked, type EndpointCopies } from "../zones/booked-endpoint.ts";
import { desiredEndpoint, endpointProblem, isAsWanted, withRecords } from "./endpoint-object.ts";

const gslb: Gslb = {
  apiVersion: "k8gb.io/v1beta1",
  kind: "Gslb",
  metadata: { name: "app", namespace: "demo", uid: "u1", creationTimestamp: "2026-01-01T00:00:00Z" },
};
const records = [{ dnsName: "app.x", recordType: "A", recordTTL: 30, targets: ["192.0.2.1"] }];
const marks = { "k8gb.io/dnstype": "local", "k8gb.absa.oss/dnstype": "local" };

test("a DNSEndpoint has both marks as labels and as annotations, and the Gslb as its controller", () => {
  assert.deepEqual(desiredEndpoint(gslb, records).metadata, {
    name: "app",
    namespace: "demo",
    labels: marks,
    annotations: marks,
    ownerReferences: [
      {
        apiVersion: "k8gb.io/v1beta1",
        kind: "Gslb",
        name: "app",
        uid: "u1",
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
});

test("a stored DNSEndpoint that is as it should be is left alone; what others added stays", () => {
  const desired = desiredEndpoint(gslb, records);
  const stored: DnsEndpoint = {
    ...desired,
    metadata: { ...desired.metadata, resourceVersion: "7", labels: { ...marks, team: "a" } },
  };
  assert.equal(withRecords(stored, gslb, records), stored);
  const changed = withRecords(stored, gslb, []);
  assert.deepEqual([changed.spec?.endpoints, changed.metadata.labels], [[], { ...marks, team: "a" }]);
});

test("one without a controller becomes the Gslb's; one with another stays its", () => {
  const bare: DnsEndpoint = {
    ...desiredEndpoint(gslb, records),
    metadata: { name: "app", namespace: "demo" },
  };
  assert.equal(endpointProblem(bare, gslb), undefined);
  assert.equal(withRecords(bare, gslb, records).metadata.ownerReferences?.[0]?.uid, "u1");
  const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u9", controller: true };
  const foreign: DnsEndpoint = { ...bare, metadata: { ...bare.metadata, ownerReferences: [owner] } };
  assert.match(endpointProblem(foreign, gslb)!, /controlled by Pod p/);
  assert.equal(endpointProblem(undefined, gslb), undefined);
});

const booked = (object: DnsEndpoint | undefined, owner: Gslb | undefined): ReturnType<typeof readBooked> => {
  const copies: EndpointCopies = {
    endpoints: { lister: { get: () => object } },
    gslbs: { lister: { get: () => owner } },
  };
  return readBooked("demo/app", copies);
};

test("a DNSEndpoint counts as the operator's own while the Gslb that controls it lives, with that Gslb's age", () => {
  const object = desiredEndpoint(gslb, records);
  const { isOwn, since } = booked(object, gslb)!.booked;
  assert.deepEqual([isOwn, since], [true, "2026-01-01T00:00:00Z"]);
  assert.equal(booked(object, undefined), undefined);
  assert.equal(booked(object, { ...gslb, metadata: { ...gslb.metadata, uid: "u2" } }), undefined);
  assert.equal(booked(undefined, gslb), undefined);
});

test("one that only a person made counts as theirs, if it has either mark of this DNS server", () => {
  const marked = (labels: Readonly<Record<string, string>>): ReturnType<typeof readBooked> => {
    const metadata = { name: "app", namespace: "demo", labels };
    return booked({ ...desiredEndpoint(gslb, records), metadata }, gslb);
  };
  for (const label of ["k8gb.io/dnstype", "k8gb.absa.oss/dnstype"])
    assert.equal(marked({ [label]: "local" })?.booked.isOwn, false, label);
  assert.equal(marked({ "k8gb.io/dnstype": "extdns" }), undefined);
  assert.equal(marked({}), undefined);
});

test("an object that lacks any of what we write into it is not as wanted", () => {
  const desired = desiredEndpoint(gslb, records);
  const { metadata } = desired;
  assert.ok(isAsWanted(desired, gslb, records));
  const [owner] = metadata.ownerReferences!;
  const changed: readonly DnsEndpoint[] = [
    { ...desired, spec: { endpoints: [] } },
    { ...desired, metadata: { ...metadata, labels: { ...marks, "k8gb.io/dnstype": "extdns" } } },
    { ...desired, metadata: { ...metadata, annotations: {} } },
    { ...desired, metadata: { ...metadata, ownerReferences: [] } },
    { ...desired, metadata: { ...metadata, ownerReferences: [{ ...owner!, kind: "Tool", uid: "u9" }] } },
  ];
  for (const object of changed) assert.ok(!isAsWanted(object, gslb, records));
  assert.ok(!isAsWanted(desired, gslb, undefined));
});

const predecessor: Gslb = {
  ...gslb,
  apiVersion: "k8gb.absa.oss/v1beta1",
  metadata: { ...gslb.metadata, uid: "u0" },
};
const handedOver = { apiVersion: "v1", kind: "Service", name: "app", uid: "u8" };

test("a legacy Gslb hands its DNSEndpoint over to the one that follows it, in one write with the records; others stay", () => {
  const made = desiredEndpoint(predecessor, records);
  assert.equal(made.metadata.ownerReferences?.[0]?.apiVersion, "k8gb.absa.oss/v1beta1");
  const owners = [...made.metadata.ownerReferences, handedOver];
  const stored: DnsEndpoint = { ...made, metadata: { ...made.metadata, ownerReferences: owners } };
  assert.equal(endpointProblem(stored, gslb), undefined);
  assert.ok(!isAsWanted(stored, gslb, records));
  const taken = withRecords(stored, gslb, records);
  assert.deepEqual(
    taken.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    [
      ["u8", undefined],
      ["u1", true],
    ],
  );
  assert.equal(withRecords(taken, gslb, records), taken);
  // The way back is no way.
  assert.match(endpointProblem(taken, predecessor)!, /controlled by Gslb app/);
});

test("the DNSEndpoint of a legacy Gslb counts while it or the one that follows it lives, or nobody can tell", () => {
  const object = desiredEndpoint(predecessor, records);
  assert.equal(booked(object, predecessor)?.booked.isOwn, true);
  assert.equal(booked(object, gslb)?.booked.isOwn, true);
  assert.equal(booked(object, undefined), undefined);
  const unknown = readBooked("demo/app", {
    endpoints: { lister: { get: () => object } },
    gslbs: { lister: { get: () => undefined }, isLegacyUnknown: true },
  });
  assert.equal(unknown?.booked.isOwn, false);
});
