import { LinkedList } from "./linked-list.ts";
import type { Link } from "./linked-list.ts";

/** The namespaces that have keys of one priority, in the order of their turns. */
interface Level {
  readonly priority: number;
  readonly turns: LinkedList<Lane>;
  readonly lanes: Map<string, Lane>;
  size: number;
}

/** The keys of one namespace and priority. None is empty. */
interface Lane {
  readonly namespace: string;
  readonly level: Level;
  readonly keys: LinkedList<string>;
  turn: Link<Lane> | undefined;
}

/** Where a key is. */
interface Place {
  readonly lane: Lane;
  readonly link: Link<string>;
}

/**
 * Keys that are ready, each once: the highest priority first, within it one of each namespace in turn, and within that first
 * in, first out. So ten thousand keys of one namespace delay a key of another by one.
 *
 * A step takes constant time, however many keys and namespaces there are; only different priorities must be few.
 */
export class ReadyKeys {
  readonly #places = new Map<string, Place>();
  /** The highest first; none is empty. */
  readonly #levels: Level[] = [];

  get size(): number {
    return this.#places.size;
  }

  /** How many keys there are of each priority. */
  depths(): ReadonlyMap<number, number> {
    return new Map(this.#levels.map(({ priority, size }) => [priority, size]));
  }

  has(key: string): boolean {
    return this.#places.has(key);
  }

  /** Adds a key as the last of its namespace. One that is there with another priority is moved to the end of that. */
  put(key: string, priority: number): void {
    const present = this.#places.get(key);
    if (present !== undefined) {
      if (present.lane.level.priority === priority) return;
      this.#remove(present);
    }
    const lane = this.#lane(namespaceOf(key), priority);
    this.#places.set(key, { lane, link: lane.keys.push(key) });
    lane.level.size++;
  }

  /** Takes the key whose turn it is. */
  take(): { readonly key: string; readonly priority: number } | undefined {
    const lane = this.#levels[0]?.turns.first;
    const key = lane?.keys.first;
    if (lane === undefined || key === undefined) return undefined;
    this.#remove(this.#places.get(key) as Place);
    this.#places.delete(key);
    const { level, turn } = lane;
    if (turn !== undefined) {
      level.turns.remove(turn);
      lane.turn = level.turns.push(lane);
    }
    return { key, priority: level.priority };
  }

  clear(): void {
    this.#places.clear();
    this.#levels.length = 0;
  }

  #lane(namespace: string, priority: number): Lane {
    const level = this.#level(priority);
    const present = level.lanes.get(namespace);
    if (present !== undefined) return present;
    const lane: Lane = { namespace, level, keys: new LinkedList(), turn: undefined };
    lane.turn = level.turns.push(lane);
    level.lanes.set(namespace, lane);
    return lane;
  }

  #level(priority: number): Level {
    const at = this.#levels.findIndex((level) => level.priority <= priority);
    const present = this.#levels[at];
    if (present?.priority === priority) return present;
    const level: Level = { priority, turns: new LinkedList(), lanes: new Map(), size: 0 };
    this.#levels.splice(at === -1 ? this.#levels.length : at, 0, level);
    return level;
  }

  /** Takes a key from its lane, and what is empty then from what holds it. */
  #remove({ lane, link }: Place): void {
    const { level } = lane;
    lane.keys.remove(link);
    level.size--;
    if (!lane.keys.isEmpty) return;
    if (lane.turn !== undefined) level.turns.remove(lane.turn);
    lane.turn = undefined;
    level.lanes.delete(lane.namespace);
    if (level.size === 0) this.#levels.splice(this.#levels.indexOf(level), 1);
  }
}

/** Of `namespace/name`; keys without a slash are of one namespace. */
function namespaceOf(key: string): string {
  const slash = key.indexOf("/");
  return slash === -1 ? "" : key.slice(0, slash);
}
