import { LookupName } from "../name/lookup-name.ts";
import { nameOctetsMax } from "../name/name.ts";
import { questionNameAt } from "../zone/owner-pointer.ts";
import { node as nodeWord } from "../zone/zone-layout.ts";
import type { ZoneView } from "../zone/zone-view.ts";
import type { Response } from "./response.ts";

const chainStepsMax = 16;
/** How many names a chain can have, the question's included. */
export const chainNamesMax: number = chainStepsMax + 1;

/**
 * The name that a lookup is at: the question's, then each that an alias leads to. Ends where a name comes back, and after 16
 * steps; allocates nothing.
 */
export class AliasChain {
  /** The name looked up now. */
  name: LookupName;
  /** Where it stands in the answer. */
  nameAt: number = questionNameAt;
  readonly #response: Response;
  readonly #chained: LookupName;
  /** The names before it, to see that it is none of them. */
  readonly #visited: Uint8Array[] = Array.from(
    { length: chainNamesMax },
    () => new Uint8Array(nameOctetsMax),
  );
  readonly #visitedLengths: Uint8Array = new Uint8Array(chainNamesMax);
  #visitedCount = 0;

  constructor(response: Response, seed: number) {
    this.#response = response;
    this.#chained = new LookupName(seed);
    this.name = this.#chained;
  }

  /** Starts at the question's name. */
  begin(name: LookupName): void {
    this.name = name;
    this.nameAt = questionNameAt;
    this.#visitedCount = 0;
  }

  /** Whether no alias was followed yet. */
  get isAtQuestion(): boolean {
    return this.nameAt === questionNameAt;
  }

  /** Moves on to an alias's target, which stands at `at` in the answer; false where the chain ends. */
  follow(
    octets: Uint8Array,
    { start, length, at }: { readonly start: number; readonly length: number; readonly at: number },
  ): boolean {
    this.#remember();
    if (this.#visitedCount > chainStepsMax) return false;
    this.#chained.read(octets, start, start + length);
    this.name = this.#chained;
    this.nameAt = at;
    for (let earlier = 0; earlier < this.#visitedCount; earlier++) if (this.#isVisited(earlier)) return false;
    return true;
  }

  /** Where the origin of a zone that the name is in stands in the answer. */
  originAt(view: ZoneView): number {
    const { name, nameAt } = this;
    const labels = name.labels - view.originLabels;
    return nameAt === questionNameAt
      ? questionNameAt + name.starts[labels]!
      : this.#response.locate(nameAt, labels);
  }

  /** How many labels the name has above a node that is one of its ancestors. */
  labelsAbove(view: ZoneView, ancestor: number): number {
    const { name } = this;
    const start = name.length - (view.words[ancestor + nodeWord.info]! & 0xff);
    let label = 0;
    while (label < name.labels && name.starts[label]! < start) label++;
    return label;
  }

  #remember(): void {
    const index = this.#visitedCount++;
    const { octets, length } = this.name;
    this.#visited[index]!.set(octets.subarray(0, length));
    this.#visitedLengths[index] = length;
  }

  #isVisited(index: number): boolean {
    const { octets, length } = this.name;
    if (this.#visitedLengths[index] !== length) return false;
    const visited = this.#visited[index]!;
    for (let at = 0; at < length; at++) if (visited[at] !== octets[at]) return false;
    return true;
  }
}
