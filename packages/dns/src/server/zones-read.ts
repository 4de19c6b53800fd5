import type { ZoneSigner } from "../zone/zone-signer.ts";
import type { ZoneView } from "../zone/zone-view.ts";

/** The zones that one answer was read from, in the order in which its chain came to them. */
export class ZonesRead {
  /** The zone that the last step was in; of an earlier answer, until one is entered. */
  #last: ZoneView | undefined;
  /** The first `#count` count. */
  readonly #views: ZoneView[] = [];
  #count = 0;

  /** Starts an answer: nothing was read for it yet. */
  begin(): void {
    this.#count = 0;
  }

  /** Starts reading a zone, unless this answer did already. */
  enter(view: ZoneView): void {
    this.#last = view;
    for (let index = 0; index < this.#count; index++) if (this.#views[index] === view) return;
    view.begin();
    this.#views[this.#count++] = view;
  }

  /** Whether what was read since `begin` is of one generation of each zone. */
  get isCurrent(): boolean {
    for (let index = 0; index < this.#count; index++) if (!this.#views[index]!.isCurrent) return false;
    return true;
  }

  /** The zone that the question is of, if any was read. */
  get first(): ZoneView | undefined {
    return this.#count === 0 ? undefined : this.#views[0];
  }

  /** The signer of the zone that the last step was in, else of the first zone that has one. */
  get signer(): ZoneSigner | undefined {
    if (this.#last?.signer !== undefined) return this.#last.signer;
    for (let index = 0; index < this.#count; index++) {
      const { signer } = this.#views[index]!;
      if (signer !== undefined) return signer;
    }
    return undefined;
  }

  /** A signer of the other kind, where the answer is from zones of both. */
  signerBeside({ kind }: ZoneSigner): ZoneSigner | undefined {
    for (let index = 0; index < this.#count; index++) {
      const { signer } = this.#views[index]!;
      if (signer !== undefined && signer.kind !== kind) return signer;
    }
    return undefined;
  }
}
