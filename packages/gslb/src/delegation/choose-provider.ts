import type { KubeClient, Lister } from "@meridian/controller";
import type { DnsClient } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { DelegationProvider } from "./delegation-provider.ts";
import { ExternalDnsProvider } from "./external-dns-provider.ts";
import { Rfc2136Provider } from "./rfc2136-provider.ts";
import type { UpdateKeys } from "./update-keys.ts";

/** What providers are made from. */
export interface ProviderParts {
  readonly config: Pick<OperatorConfig, "provider" | "podNamespace" | "nameServerTtlSeconds">;
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "delete">;
  readonly endpoints: Pick<Lister<DnsEndpoint>, "get">;
  readonly dnsClient: DnsClient;
  readonly edgeServers: () => readonly Endpoint[];
  /** The keys of parent zones. */
  readonly updateKeys: UpdateKeys;
}

/** The provider that the settings choose; none where delegations are kept by hand. */
export function chooseProvider(parts: ProviderParts): DelegationProvider | undefined {
  const { config, client, endpoints, dnsClient, edgeServers, updateKeys } = parts;
  switch (config.provider.kind) {
    case "none":
      return undefined;
    case "externalDns":
      return new ExternalDnsProvider({ client, endpoints, namespace: config.podNamespace });
    case "rfc2136":
      return new Rfc2136Provider({
        ...{ dnsClient, edgeServers, keys: updateKeys, servers: config.provider.rfc2136.servers },
      });
    case "infoblox":
      return undefined;
  }
}
