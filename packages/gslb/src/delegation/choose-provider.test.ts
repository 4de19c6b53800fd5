import assert from "node:assert/strict";
import { test } from "node:test";
import { DnsClient } from "@meridian/dns";
import { Simulation } from "@meridian/runtime/sim";
import { parseOperatorConfig } from "../config/operator-config.ts";
import { FakeObjects } from "../testdata/fake-objects.ts";
import { chooseProvider } from "./choose-provider.ts";
import { UpdateKeys } from "./update-keys.ts";

const cases: readonly (readonly [Readonly<Record<string, string>>, string | undefined])[] = [
  [{ EXTDNS_ENABLED: "true" }, "external-dns"],
  [{ INFOBLOX_GRID_HOST: "10.0.0.9", INFOBLOX_WAPI_USERNAME: "u", INFOBLOX_WAPI_PASSWORD: "p" }, "Infoblox"],
  [{ MERIDIAN_RFC2136_SERVERS: "192.0.2.9" }, "RFC 2136"],
  [{}, undefined],
];

for (const [environment, name] of cases)
  test(`Provider choice: ${name ?? "none"}`, async () => {
    const { config } = parseOperatorConfig({
      CLUSTER_GEO_TAG: "eu",
      EDGE_DNS_SERVERS: "192.0.2.53",
      ...environment,
    });
    assert.ok(config !== undefined);
    const { runtime } = new Simulation({ seed: 1 }).node({ name: "eu", addresses: ["10.0.0.1"] });
    await using dnsClient = new DnsClient(runtime);
    const provider = chooseProvider({
      ...{ runtime, config, dnsClient, client: new FakeObjects().client },
      endpoints: { get: () => undefined },
      edgeServers: () => [],
      updateKeys: new UpdateKeys(runtime, {
        config: { keyFile: undefined, keyNames: new Map(), unsigned: false },
      }),
    });
    assert.equal(provider?.name, name);
  });
