import type { KubeClient, Lister } from "@meridian/controller";
import type { DnsClient, WatchedFile } from "@meridian/dns";
import type { Endpoint, Runtime } from "@meridian/runtime";
import type { OperatorConfig } from "../config/operator-config.ts";
import type { DnsEndpoint } from "../resources/dns-endpoint.ts";
import type { DelegationProvider } from "./delegation-provider.ts";
import { ExternalDnsProvider } from "./external-dns-provider.ts";
import { InfobloxProvider } from "./infoblox-provider.ts";
import { Rfc2136Provider } from "./rfc2136-provider.ts";
import type { UpdateKeys } from "./update-keys.ts";
import { WapiClient, type WapiCall } from "./wapi-client.ts";

/** What providers are made from. */
export interface ProviderParts {
  readonly config: Pick<OperatorConfig, "provider" | "podNamespace" | "nameServerTtlSeconds">;
  readonly client: Pick<KubeClient, "get" | "create" | "update" | "delete">;
  readonly endpoints: Pick<Lister<DnsEndpoint>, "get">;
  readonly dnsClient: DnsClient;
  readonly edgeServers: () => readonly Endpoint[];
  readonly runtime: Pick<Runtime, "clock" | "network">;
  readonly openFile?: (path: string) => WatchedFile;
  /** Told of each call to an Infoblox grid. */
  readonly onWapiCall?: (call: WapiCall) => void;
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
    case "infoblox": {
      const { infoblox } = config.provider;
      const wapi = new WapiClient({
        clock: parts.runtime.clock,
        network: parts.runtime.network,
        config: infoblox,
        readCa: caReader(parts, infoblox.caFile),
        ...(parts.onWapiCall === undefined ? {} : { onCall: parts.onWapiCall }),
      });
      return new InfobloxProvider({ client: wapi, dnsView: infoblox.dnsView });
    }
  }
}

/** Reads the file of CAs anew for each session, so that another one is taken up without a restart. */
function caReader({ openFile }: ProviderParts, path: string | undefined): () => Promise<string | undefined> {
  if (path === undefined) return async () => undefined;
  return async () => {
    if (openFile === undefined) throw new Error(`MERIDIAN_INFOBLOX_CA_FILE ${path} cannot be read here`);
    return new TextDecoder().decode(await openFile(path).read());
  };
}
