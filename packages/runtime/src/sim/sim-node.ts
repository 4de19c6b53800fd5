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

/** What stands still. */
export type PauseKind =
  /** The process gets no time, as by SIGSTOP or a long garbage collection; all clocks go on. */
  | "process"
  /** The machine is suspended, as a virtual one may be: its monotonic clock stands still, the wall goes on. */
  | "machine";

/** What a node is made of. */
export interface SimNodeParts {
  readonly platter: Platter;
  readonly log: Logger;
  readonly clockRate: number;
}

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
  #pause: { readonly kind: PauseKind; readonly sinceMs: number } | undefined;
  readonly #clockRate: number;

  constructor(fabric: Fabric, host: Host, options: SimNodeParts) {
    this.#fabric = fabric;
    this.#host = host;
    this.#platter = options.platter;
    this.#log = options.log;
    this.#clockRate = options.clockRate;
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

  get paused(): boolean {
    return this.#pause !== undefined;
  }

  /** Stops the process between two steps: none of its code runs until `resume`. What comes for it waits. */
  pause(kind: PauseKind = "process"): void {
    if (this.#boot === undefined || this.#pause !== undefined) return;
    this.#record(`pause ${kind}`);
    this.#pause = { kind, sinceMs: this.#fabric.world.nowMs };
    this.#boot.pause();
  }

  /** Goes on after a `pause`: first with the timers that are due, then with what has come. */
  resume(): void {
    const boot = this.#boot;
    if (boot === undefined || this.#pause === undefined) return;
    this.#record("resume");
    const { world } = this.#fabric;
    const laterMs = this.#pause.kind === "machine" ? world.nowMs - this.#pause.sinceMs : 0;
    this.#pause = undefined;
    boot.suspendedMs += laterMs;
    const held = boot.resume();
    world.timers.resume(boot, { nowMs: world.nowMs, laterMs });
    for (const callback of held) world.timers.schedule(world.nowMs, () => boot.enter(callback), boot);
  }

  /** Ends the process in the middle of whatever it does. A node that is down stays down. */
  crash(kind: CrashKind = "power"): void {
    const boot = this.#boot;
    if (boot === undefined) return;
    this.#record(`crash ${kind}`);
    this.#boot = undefined;
    this.#pause = undefined;
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
      clock: new SimClock(world, boot, {
        skewMs: () => this.#skewMs,
        monotonicStartMs: start,
        rate: this.#clockRate,
      }),
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
