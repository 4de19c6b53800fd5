import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOperatorConfig } from "./operator-config.ts";

const minimal = {
  CLUSTER_GEO_TAG: "us",
  EDGE_DNS_SERVERS: "192.0.2.53",
  MERIDIAN_RFC2136_SERVERS: "10.0.0.53",
};

test("servers, a key file and the keys of parent zones are read", () => {
  const { config } = parseOperatorConfig({
    ...minimal,
    MERIDIAN_RFC2136_SERVERS: "10.0.0.53, ns.example.com:5353,[2001:db8::53]:54",
    MERIDIAN_RFC2136_KEY_FILE: "/keys/update.key",
    MERIDIAN_RFC2136_KEYS: "Example.com=US-key,example.org=other.",
  });
  assert.deepEqual(config?.provider, {
    kind: "rfc2136",
    rfc2136: {
      servers: [
        { host: "10.0.0.53", port: 53 },
        { host: "ns.example.com", port: 5353 },
        { host: "2001:db8::53", port: 54 },
      ],
      keyFile: "/keys/update.key",
      keyNames: new Map([
        ["example.com", "us-key"],
        ["example.org", "other"],
      ]),
      unsigned: false,
    },
  });
});

test("the word soa leaves the primary to the parent zone's SOA", () => {
  const { config } = parseOperatorConfig({ ...minimal, MERIDIAN_RFC2136_SERVERS: "soa" });
  assert.ok(config?.provider.kind === "rfc2136");
  assert.deepEqual(config.provider.rfc2136.servers, []);
});

const refused: readonly {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly says: RegExp;
}[] = [
  {
    name: "a server that is none",
    environment: { MERIDIAN_RFC2136_SERVERS: "10.0.0.53:0" },
    says: /^MERIDIAN_RFC2136_SERVERS is "10\.0\.0\.53:0"; it must hold servers/,
  },
  {
    name: "soa beside a server",
    environment: { MERIDIAN_RFC2136_SERVERS: "soa,10.0.0.53" },
    says: /^MERIDIAN_RFC2136_SERVERS is "soa"; it must hold servers/,
  },
  {
    name: "a key without its zone",
    environment: { MERIDIAN_RFC2136_KEYS: "us-key" },
    says: /^MERIDIAN_RFC2136_KEYS is "us-key"; it must hold zone=key, for example/,
  },
  {
    name: "a key where updates are unsigned",
    environment: { MERIDIAN_RFC2136_UNSIGNED: "true", MERIDIAN_RFC2136_KEY_FILE: "/keys/update.key" },
    says: /^MERIDIAN_RFC2136_UNSIGNED is "true"; it must be false/,
  },
  {
    name: "a key file without a server",
    environment: { MERIDIAN_RFC2136_SERVERS: "", MERIDIAN_RFC2136_KEY_FILE: "/keys/update.key" },
    says: /^MERIDIAN_RFC2136_KEY_FILE is .*; it must be unset where MERIDIAN_RFC2136_SERVERS is/,
  },
  {
    name: "a second provider",
    environment: { EXTDNS_ENABLED: "true" },
    says: /^MERIDIAN_RFC2136_SERVERS is "10\.0\.0\.53"; it must be unset where EXTDNS_ENABLED is set/,
  },
  {
    name: "Infoblox beside it",
    environment: {
      INFOBLOX_GRID_HOST: "10.0.0.1",
      INFOBLOX_WAPI_USERNAME: "u",
      INFOBLOX_WAPI_PASSWORD: "p",
    },
    says: /must be unset where INFOBLOX_GRID_HOST is set/,
  },
];
for (const { name, environment, says } of refused) {
  test(`refused: ${name}`, () => {
    const { problems = [] } = parseOperatorConfig({ ...minimal, ...environment });
    assert.equal(problems.length, 1);
    assert.match(problems[0]!.message, says);
  });
}
