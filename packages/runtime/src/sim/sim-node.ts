import type { Logger } from "../logger.ts";
import type { Runtime } from "../runtime.ts";
import { Boot } from "./boot.ts";
import type { Fabric } from "./fabric.ts";
import type { Host } from "./host.ts";
import type { Platter } from "./platter.ts";
import { SimClock } from "./sim-clock.ts";
import { SimDisk } from "./sim-disk.ts";
import { SimNetwork } from "./sim-network.ts";

/** How a node ends. */
export type CrashKind =
  /** The machine is gone at once: peers hear nothing, and the disk loses what was not synced. */
  | "power"
  /** As by kill -9: the kernel resets the connections, refuses new ones and keeps what was written. */
  | "process";

/** A machine of the simulation and the process that runs on it. */
export class SimNode {
  readonly #fabric: Fabric;
  readonly #host: Host;
  readonly #platter: Platter;
  readonly #log: Logger;
  #runtime: Runtime | undefined;
  #boot: Boot | undefined;
  #boots = 0;
  #skewMs = 0;

  constructor(fabric: Fabric, host: Host, options: { platter: Platter; log: Logger }) {
    this.#fabric = fabric;
    this.#host = host;
    this.#platter = options.platter;
    this.#log = options.log;
    this.restart();
  }

  get name(): string {
    return this.#host.name;
  }

  get addresses(): readonly string[] {
    return this.#host.addresses;
  }

  get running(): boolean {
    return this.#boot !== undefined;
  }

  /** The runtime of the running process. Fetch it anew after a restart: a crashed one stays dead. */
  get runtime(): Runtime {
    if (this.#runtime === undefined) throw new Error(`node ${this.name} is down; restart it first`);
    return this.#runtime;
  }

  /** The disk's faults: its conditions, and `fail` to make it refuse all work. It survives crashes. */
  get disk(): Platter {
    return this.#platter;
  }

  /** How far the node's wall clock is ahead of the simulation's. A change is a jump of its clock. */
  get skewMs(): number {
    return this.#skewMs;
  }

  set skewMs(skewMs: number) {
    this.#record(`clock ${skewMs}`);
    this.#skewMs = skewMs;
  }

  /** Ends the process in the middle of whatever it does. A node that is down stays down. */
  crash(kind: CrashKind = "power"): void {
    const boot = this.#boot;
    if (boot === undefined) return;
    this.#record(`crash ${kind}`);
    this.#boot = undefined;
    this.#runtime = undefined;
    this.#host.boot = undefined;
    this.#host.powered = kind === "process";
    boot.end();
    this.#fabric.world.timers.cancelOwnedBy(boot);
    this.#host.datagramPorts.releaseAll();
    this.#host.connectionPorts.releaseAll();
    for (const end of [...this.#host.wireEnds]) {
      end.die(kind === "process" ? "the other side's process has ended" : undefined);
    }
    if (kind === "process") this.#platter.loseProcess();
    else this.#platter.losePower();
    for (const host of this.#fabric.hosts) this.#fabric.suspectBetween(host, this.#host);
  }

  /** Starts a new process on the same disk and addresses, crashing the running one first, and returns its runtime. */
  restart(): Runtime {
    this.crash();
    this.#boots++;
    this.#record("start");
    const { world } = this.#fabric;
    const boot = new Boot();
    const start = world.random(`monotonic/${this.name}`).below(1_000_000_000);
    this.#boot = boot;
    this.#host.boot = boot;
    this.#host.powered = true;
    this.#runtime = {
      clock: new SimClock(world, boot, { skewMs: () => this.#skewMs, monotonicStartMs: start - world.nowMs }),
      random: world.random(`node/${this.name}/${this.#boots}`),
      network: new SimNetwork(this.#fabric, this.#host, { boot, log: this.#log }),
      disk: new SimDisk(world, boot, this.#platter),
      log: this.#log,
    };
    return this.#runtime;
  }

  #record(event: string): void {
    this.#fabric.world.trace.add(this.#fabric.world.nowMs, `node ${this.name} ${event}`);
  }
}
