import {
  AnswerSigner,
  Authority,
  parseZoneFile,
  serveDns,
  ZoneKeys,
  type DnsServer,
  type SigningKeys,
  type Zone,
  type ZoneSigning,
} from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import { threadsFor, type Datapath } from "../../test/conformance/datapath.ts";

/** One of several servers that answer the same zones, each as its cluster would. */
export class SignedCluster implements AsyncDisposable {
  readonly address: string;
  readonly #server: DnsServer;
  readonly #authority: Authority;
  readonly #keys: ReadonlyMap<string, ZoneKeys>;

  private constructor(
    address: string,
    parts: {
      readonly server: DnsServer;
      readonly authority: Authority;
      readonly keys: ReadonlyMap<string, ZoneKeys>;
    },
  ) {
    this.address = address;
    this.#server = parts.server;
    this.#authority = parts.authority;
    this.#keys = parts.keys;
  }

  /** Serves zones on port 53 of an address, those with keys signed. */
  static async start(
    runtime: Runtime,
    { address, datapath }: { readonly address: string; readonly datapath: Datapath },
    zones: readonly { readonly text: string; readonly keys?: SigningKeys }[],
  ): Promise<SignedCluster> {
    const authority = new Authority(runtime);
    const threads = threadsFor(datapath, runtime, authority);
    const answers = new AnswerSigner({ clock: runtime.clock });
    const keys = new Map<string, ZoneKeys>();
    for (const given of zones) {
      const zone = zoneOf(given.text);
      authority.setZone(zone);
      if (given.keys === undefined) continue;
      const options = { keys: given.keys, keyTtl: 2, ownKeysLabel: "_own-dnskey" };
      const told =
        threads === undefined ? {} : { onSigning: (signing: ZoneSigning) => threads.sign(signing) };
      keys.set(zone.origin, new ZoneKeys(zone, options, { ...runtime, answers, ...told }));
    }
    const server = await serveDns(runtime, {
      ...{ authority, listen: [{ address, port: 53 }] },
      ...(threads === undefined ? {} : { serveUdp: threads.serveUdp }),
    });
    return new SignedCluster(address, { server, authority, keys });
  }

  /** How many messages it has answered. */
  get queries(): number {
    return this.#authority.counters.queries;
  }

  keysOf(zone: string): ZoneKeys {
    const keys = this.#keys.get(zone);
    if (keys === undefined) throw new Error(`${zone} is not signed`);
    return keys;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const keys of this.#keys.values()) keys[Symbol.dispose]();
    await this.#server[Symbol.asyncDispose]();
  }
}

function zoneOf(text: string): Zone {
  const { zone, problems } = parseZoneFile(text);
  if (zone === undefined) throw new Error(JSON.stringify(problems));
  return zone;
}
