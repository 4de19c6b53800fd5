import { parseMessage, type Message } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { CrashKind, SimNode } from "@meridian/runtime/sim";
import { dnsAddressesOf, parentAddress, peersOf, siteOf, type Tag } from "../fleet/fleet-map.ts";
import type { DnsIllness, Member, MemberOptions } from "../fleet/member.ts";
import { answerAsPlugin } from "./plugin-answer.ts";
import { K8gbObjects } from "./k8gb-objects.ts";
import { K8gbOperator } from "./k8gb-operator.ts";

interface Life {
  readonly runtime: Runtime;
  readonly operator: K8gbOperator;
  /** Since when CoreDNS has filled its cache. */
  syncedSinceMs?: number;
}

const syncMs = { min: 100, max: 1_500 };
const hourMs = 3_600_000;
const clientSubnetOption = 8;

/** One cluster of the simulated fleet that runs k8gb and CoreDNS with its plugin. */
export class K8gbCluster implements Member {
  readonly kind = "k8gb";
  readonly tag: Tag;
  readonly node: SimNode;
  readonly user: K8gbObjects;
  dnsIllness: DnsIllness | undefined;
  deadAddress: string | undefined;
  failedAtMs: number = Number.NEGATIVE_INFINITY;
  readonly clockMovedAtMs: number = Number.NEGATIVE_INFINITY;
  readonly isDiskBroken = false;
  readonly #options: MemberOptions;
  #life: Life | undefined;
  #hangingUntilMs: number | undefined;
  #wentOnAtMs = 0;

  constructor(options: MemberOptions, node: SimNode) {
    const { tag, simulation, settings } = options;
    this.tag = tag;
    this.node = node;
    this.#options = options;
    this.user = new K8gbObjects(settings.zones, () => simulation.nowMs);
  }

  get up(): boolean {
    return this.#life !== undefined;
  }

  get answersSinceMs(): number | undefined {
    return this.#life?.syncedSinceMs;
  }

  get worksSinceMs(): number | undefined {
    const sinceMs = this.#life?.syncedSinceMs;
    return sinceMs === undefined || this.#hangingUntilMs !== undefined
      ? undefined
      : Math.max(sinceMs, this.#wentOnAtMs);
  }

  async start(): Promise<void> {
    if (this.#life !== undefined) return;
    const { simulation, settings, tag } = this.#options;
    const runtime = this.node.running ? this.node.runtime : this.node.restart();
    const operator = new K8gbOperator(runtime, {
      tag,
      peers: peersOf(tag),
      objects: this.user,
      addresses: dnsAddressesOf(tag, settings),
      edge: { address: parentAddress, port: settings.edgePort },
      periodMs: settings.periodMs,
      zonePeriodMs: settings.zonePeriodMs,
    });
    const life: Life = { runtime, operator };
    this.#life = life;
    this.user.watcher = operator;
    for (const address of dnsAddressesOf(tag, settings)) await this.#serve(life, address);
    if (this.#hangingUntilMs === undefined) operator.hang(false);
    operator.run();
    const random = simulation.random(`k8gb/${tag}`);
    await runtime.clock.sleep(syncMs.min + random.float() * (syncMs.max - syncMs.min));
    life.syncedSinceMs = simulation.nowMs;
  }

  crash(kind: CrashKind): void {
    if (this.#life === undefined) return;
    this.#life = undefined;
    this.#hangingUntilMs = undefined;
    this.user.watcher = undefined;
    this.failedAtMs = this.#options.simulation.nowMs;
    this.node.crash(kind);
  }

  moveClock(): void {
    // Nothing of k8gb goes by the wall clock.
  }

  /** Makes the operator do nothing while CoreDNS answers on. */
  hang(isHanging: boolean): void {
    if (this.#life === undefined) return;
    this.#hangingUntilMs = isHanging ? Infinity : undefined;
    if (!isHanging) this.#wentOnAtMs = this.#options.simulation.nowMs;
    this.#life.operator.hang(isHanging);
  }

  /** Answers a question as CoreDNS would now, whatever the network is like. */
  answer(query: Message, client: string): Uint8Array {
    const { simulation, settings } = this.#options;
    const content = {
      synced: this.answersSinceMs !== undefined,
      zones: settings.zones.map(({ name }) => name),
      endpoints: this.user.endpoints(),
      siteOf,
      serial: Math.floor(simulation.nowMs / hourMs) * (hourMs / 1000),
    };
    const random = simulation.random(`plugin/${this.tag}`);
    return answerAsPlugin(content, query, { client: subnetOf(query) ?? client, random });
  }

  async #serve({ runtime }: Life, address: string): Promise<void> {
    await runtime.network.serveUdp({
      address,
      port: 53,
      // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
      answer: (input, offset, length, client, output) => {
        if (this.dnsIllness === "silent" || this.deadAddress === address) return 0;
        let query: Message;
        try {
          query = parseMessage(input.slice(offset, offset + length));
        } catch {
          return 0;
        }
        if (query.response) return 0;
        const octets = this.answer(query, client.address);
        output.set(octets);
        if (this.dnsIllness === "servfail") output[3] = (output[3]! & 0xf0) | 2;
        return octets.length;
      },
    });
  }
}

/** The address of an EDNS client subnet, IPv4 only. */
function subnetOf(query: Message): string | undefined {
  const octets = query.edns?.options.find(({ code }) => code === clientSubnetOption)?.octets;
  if (octets === undefined || octets[1] !== 1) return undefined;
  return [0, 1, 2, 3].map((index) => octets[4 + index] ?? 0).join(".");
}
