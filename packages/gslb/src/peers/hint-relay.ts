import type { DnsClient, NotifyHint, TsigKey } from "@meridian/dns";
import type { Clock, Endpoint, Random } from "@meridian/runtime";
import type { TaskScope } from "../tasks/task-scope.ts";
import { HintGate } from "./hint-gate.ts";
import type { Peers } from "./peers.ts";

/** Who takes hints, and whom else they are for. */
export interface HintRelayOptions {
  readonly peers: Pick<Peers, "hint" | "key">;
  readonly dnsClient: Pick<DnsClient, "notify">;
  readonly tasks: TaskScope;
  /** The DNS servers of all replicas of the own cluster; this one's may be among them. */
  readonly replicas: () => readonly Endpoint[];
}

/**
 * A serial up to this is the mark of a replica and no serial: that of a view is at least the time in seconds, so it was past
 * this in January 1970.
 */
const markMax = 0xf_ffff;
/**
 * Takes the NOTIFYs of peers. Several replicas of a cluster's DNS server stand behind one address, so a NOTIFY reaches one of them,
 * which tells the others, by a NOTIFY with the same SOA but for the serial: that is a random mark of its own. What bears a
 * mark is told to nobody else, and what bears the own one is not taken.
 *
 * Of each peer at most one hint a second is passed on, or ten that are proved.
 */
export class HintRelay {
  readonly #clock: Clock;
  readonly #options: HintRelayOptions;
  readonly #mark: number;
  readonly #relays = new Map<string, Relay>();

  constructor(
    { clock, random }: { readonly clock: Clock; readonly random: Random },
    options: HintRelayOptions,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#mark = Math.floor(random.float() * (markMax + 1));
  }

  /** Takes a NOTIFY. */
  take({ zone, serial, mname, key }: Pick<NotifyHint, "zone" | "mname" | "serial" | "key">): void {
    if (serial === this.#mark) return;
    const { peers } = this.#options;
    const sender = peers.hint({
      zone,
      ...(isName(mname) ? { mname } : {}),
      ...(key === undefined ? {} : { key }),
    });
    const isRelayed = serial !== undefined && serial <= markMax;
    if (sender === undefined || isRelayed) return;
    const about = `${zone} ${sender}`;
    const relay: Relay = this.#relays.get(about) ?? {
      gate: new HintGate(this.#clock, () => this.#tell(relay)),
      zone,
      mname: rootName,
      signedBy: undefined,
      telling: undefined,
    };
    // What is proved is passed on with proof.
    const isProved = key !== undefined && key === peers.key?.name;
    relay.mname = isName(mname) ? mname : rootName;
    relay.signedBy = isProved ? peers.key : undefined;
    this.#relays.set(about, relay);
    relay.gate.open({ isProved });
  }

  #tell(relay: Relay): void {
    const { dnsClient, tasks, replicas } = this.#options;
    const servers = replicas();
    if (servers.length < 2) return;
    const { zone, mname, signedBy } = relay;
    const times = { refresh: 0, retry: 0, expire: 0, minimum: 0, ttl: 0 };
    const soa = { mname, rname: rootName, serial: this.#mark, ...times };
    relay.telling?.abort(new Error("a newer hint is told instead"));
    relay.telling = tasks.child();
    relay.telling.start("relayed notify", async (signal) => {
      await dnsClient.notify({
        ...{ zone, soa, servers, signal },
        ...(signedBy === undefined ? {} : { key: signedBy }),
      });
    });
  }
}

/** The latest hint of one sender about one zone, and its way to the other replicas. */
interface Relay {
  readonly gate: HintGate;
  readonly zone: string;
  mname: string;
  signedBy: TsigKey | undefined;
  telling: TaskScope | undefined;
}

/** Stands for a sender that nobody named. */
const rootName = ".";

function isName(mname: string | undefined): mname is string {
  return mname !== undefined && mname !== "" && mname !== rootName;
}
