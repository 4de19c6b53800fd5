import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOperatorConfig } from "@meridian/gslb";
import type { ClusterRole } from "../fleet/child-protocol.ts";
import { operatorEnvironment, operatorSettings } from "./operator-environment.ts";

const role: ClusterRole = {
  kind: "cluster",
  name: "eu",
  geoTag: "eu",
  peerGeoTags: ["us", "za"],
  folder: "/data/eu",
  storage: "lmdb",
  apiServer: { address: "127.0.10.1", port: 6443 },
  operator: { address: "127.0.10.1", port: 6444 },
  dns: { address: "127.0.10.1", port: 5300 },
  parentDns: { address: "127.0.10.53", port: 5300 },
  operatorSettings: {},
  datapath: "dgram",
};

const cases = [
  {
    name: "with own addresses peers are found through the parent",
    role,
    expect: { EDGE_DNS_SERVERS: "127.0.10.53:5300" },
  },
  {
    name: "with a single address peers are listed with their ports",
    role: { ...role, peers: [{ geoTag: "us", dns: { address: "127.0.0.1", port: 5302 } }] },
    expect: { MERIDIAN_PEERS: "us=127.0.0.1:5302" },
  },
  {
    name: "a person's settings are passed on",
    role: { ...role, operatorSettings: operatorSettings({ RECONCILE_REQUEUE_SECONDS: "2", HOME: "/root" }) },
    expect: { RECONCILE_REQUEUE_SECONDS: "2" },
  },
  {
    name: "a person's own parent takes the place of the playground's",
    role: {
      ...role,
      operatorSettings: operatorSettings({
        EDGE_DNS_SERVERS: "192.0.2.53",
        MERIDIAN_RFC2136_SERVERS: "192.0.2.54",
      }),
    },
    expect: { EDGE_DNS_SERVERS: "192.0.2.53", MERIDIAN_RFC2136_SERVERS: "192.0.2.54" },
  },
  {
    name: "where the clusters are is not for a person to change",
    role: { ...role, operatorSettings: operatorSettings({ CLUSTER_GEO_TAG: "xx" }) },
    expect: { CLUSTER_GEO_TAG: "eu" },
  },
];

for (const { name, role: given, expect } of cases) {
  test(name, () => {
    const environment = operatorEnvironment(given);
    for (const [variable, value] of Object.entries(expect)) assert.equal(environment[variable], value);
    assert.equal(environment["HOME"], undefined);
    assert.equal(parseOperatorConfig(environment).problems, undefined);
  });
}
