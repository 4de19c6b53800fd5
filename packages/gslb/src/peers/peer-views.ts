import type { Clock } from "@meridian/runtime";
import { addressFamilies, type AddressFamily } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import {
  afterAnswer,
  rememberedView,
  sameView,
  unknownView,
  type PeerAnswer,
  type PeerView,
} from "../decide/peer-view.ts";
import type { PeerMemory } from "./peer-memory.ts";

/** Which view: a peer's of one host and family. The host alone names the zone. */
export interface ViewKey {
  readonly zone: string;
  readonly geoTag: string;
  readonly host: string;
  readonly family: AddressFamily;
}

interface HostViews {
  readonly zone: string;
  readonly thresholdSeconds: number;
  /** By geo tag and family; `order` is that of the question whose answer was applied last. */
  readonly views: Map<string, HeldView>;
}

interface HeldView {
  readonly view: PeerView;
  readonly order: number;
  /** `unreachableSince` on the clock that only rises: the wall clock may jump, and the bound must not jump with it. */
  readonly unreachableAtMs?: number | undefined;
}

/** From here on the wall clock has jumped; below it is rounding, or a clock that is being adjusted. */
const jumpMs = 1000;

type ViewsClock = Pick<Clock, "now" | "monotonicMs">;

/**
 * Every peer's view of every host that this cluster balances.
 *
 * Answers may arrive out of order: one applies only if its question was asked after that of the answer in place. So a
 * slow failure never hides a newer success.
 */
export class PeerViews {
  readonly #hosts = new Map<string, HostViews>();
  readonly #peers = new Map<string, readonly string[]>();
  /** When a peer last said that all it had said of a zone still holds, by zone and geo tag. */
  readonly #confirmedAt = new Map<string, number>();
  readonly #clock: ViewsClock;
  readonly #memory: PeerMemory;
  readonly #onChange: (host: string) => void;

  /** `onChange` gets the host, in canonical form, of each view that now decides or reads otherwise. */
  constructor(clock: ViewsClock, memory: PeerMemory, onChange: (host: string) => void) {
    this.#clock = clock;
    this.#memory = memory;
    this.#onChange = onChange;
  }

  /** Says which peers a zone has. Views of others are dropped, and what was remembered of them. */
  setPeers(zone: string, geoTags: readonly string[]): void {
    this.#peers.set(zone, geoTags);
    for (const [host, entry] of this.#hosts) {
      if (entry.zone !== zone) continue;
      const stale = [...entry.views].filter(([, { view }]) => !geoTags.includes(view.geoTag));
      for (const [id, { view }] of stale) {
        entry.views.delete(id);
        this.#forget(host, entry, view);
      }
      this.#fill(host, entry);
      if (stale.length > 0) this.#onChange(host);
    }
  }

  removeZone(zone: string): void {
    this.#peers.delete(zone);
    for (const [host, entry] of this.#hosts) if (entry.zone === zone) this.remove(host);
  }

  /**
   * Starts to keep views of a host. With a threshold, what they hold is remembered over restarts.
   *
   * @returns whether the host is new here, so that its peers must be asked
   */
  add(host: string, of: { readonly zone: string; readonly thresholdSeconds: number }): boolean {
    const name = canonicalName(host);
    const present = this.#hosts.get(name);
    if (present !== undefined && present.zone === of.zone && present.thresholdSeconds === of.thresholdSeconds)
      return false;
    const views: HostViews["views"] = present?.zone === of.zone ? present.views : new Map();
    const entry = { ...of, views };
    this.#hosts.set(name, entry);
    this.#fill(name, entry);
    for (const { view } of views.values()) this.#remember(name, entry, view);
    return present?.zone !== of.zone;
  }

  remove(host: string): void {
    const name = canonicalName(host);
    const entry = this.#hosts.get(name);
    if (entry === undefined || !this.#hosts.delete(name)) return;
    for (const { view } of entry.views.values()) this.#forget(name, entry, view);
  }

  /** The hosts of a zone, canonical. */
  hosts(zone: string): readonly string[] {
    return [...this.#hosts].flatMap(([host, entry]) => (entry.zone === zone ? [host] : []));
  }

  /** All views of a host, by geo tag and family; none for a host that is not kept. Their times are the wall clock's of now. */
  of(host: string): readonly PeerView[] {
    const entry = this.#hosts.get(canonicalName(host));
    if (entry === undefined) return [];
    return [...entry.views.values()].map((each) => this.#confirmed(entry.zone, this.#byWallClock(each)));
  }

  /** Takes note that all that a peer has answered about a zone was just said to hold still. */
  confirm(zone: string, geoTag: string): void {
    this.#confirmedAt.set(`${zone} ${geoTag}`, this.#clock.now());
  }

  /** Applies the answer to a question. `order` rises with the moment of asking. */
  record(key: ViewKey, answer: PeerAnswer, order: number): void {
    const entry = this.#hosts.get(key.host);
    const current = entry?.views.get(viewId(key.geoTag, key.family));
    if (entry === undefined || entry.zone !== key.zone || current === undefined || order <= current.order)
      return;
    const view = afterAnswer(this.#byWallClock(current), answer, this.#clock.now());
    const isSame = sameView(current.view, view);
    const unreachableAtMs =
      view.unreachableSince === undefined
        ? undefined
        : (current.unreachableAtMs ?? this.#clock.monotonicMs());
    entry.views.set(viewId(key.geoTag, key.family), { view, order, unreachableAtMs });
    if (isSame) return;
    this.#remember(key.host, entry, view);
    this.#onChange(key.host);
  }

  #fill(host: string, entry: HostViews): void {
    for (const geoTag of this.#peers.get(entry.zone) ?? []) {
      for (const family of addressFamilies) {
        const id = viewId(geoTag, family);
        if (entry.views.has(id)) continue;
        const memory = this.#memory.get({ zone: entry.zone, geoTag, host, family });
        const unknown = unknownView(geoTag, family);
        entry.views.set(id, {
          view: memory === undefined ? unknown : rememberedView(unknown, memory),
          order: -1,
          unreachableAtMs: this.#monotonicOf(memory?.unreachableSince),
        });
      }
    }
  }

  #confirmed(zone: string, view: PeerView): PeerView {
    const at = this.#confirmedAt.get(`${zone} ${view.geoTag}`);
    const isLater = at !== undefined && view.asOf !== undefined && at > view.asOf;
    return isLater && (view.state === "fresh" || view.state === "empty") ? { ...view, asOf: at } : view;
  }

  /** The view with the moment of silence as the wall clock would have told it if it had always been as it is now. */
  #byWallClock({ view, unreachableAtMs }: HeldView): PeerView {
    if (view.unreachableSince === undefined || unreachableAtMs === undefined) return view;
    const silentMs = this.#clock.monotonicMs() - unreachableAtMs;
    const unreachableSince = Math.round(this.#clock.now() - silentMs);
    return Math.abs(unreachableSince - view.unreachableSince) < jumpMs ? view : { ...view, unreachableSince };
  }

  /** A moment before the start; one that the wall clock has not reached is taken for now. */
  #monotonicOf(wallMs: number | undefined): number | undefined {
    if (wallMs === undefined) return undefined;
    return this.#clock.monotonicMs() - Math.max(0, this.#clock.now() - wallMs);
  }

  #remember(host: string, entry: HostViews, view: PeerView): void {
    const { geoTag, family, targets, unreachableSince } = view;
    const isWorthIt = entry.thresholdSeconds > 0 && targets.length > 0;
    const memory = isWorthIt
      ? { targets, ...(unreachableSince === undefined ? {} : { unreachableSince }) }
      : undefined;
    this.#memory.set({ zone: entry.zone, geoTag, host, family }, memory);
  }

  #forget(host: string, { zone }: HostViews, { geoTag, family }: PeerView): void {
    this.#memory.set({ zone, geoTag, host, family }, undefined);
  }
}

function viewId(geoTag: string, family: AddressFamily): string {
  return `${geoTag} ${family}`;
}
