/** What requests are counted by. */
export interface RequestKind {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
}

/** Requests of one kind. */
export interface RequestCount extends RequestKind {
  readonly count: number;
  /** Watches that are open now; 0 for every other verb. */
  readonly open: number;
}

/** Most kinds that are told apart: users may come and go, since they may be impersonated. */
const kindsMax = 1_000;

/** The requests for resources that were let in, by user, verb and resource, since the server started. */
export class RequestCounts {
  readonly #counts = new Map<string, { kind: RequestKind; count: number; open: number }>();

  /** Counts a request. */
  count(kind: RequestKind): void {
    this.#entry(kind).count++;
  }

  /** Says that a stream is open, until the returned function is called. */
  opened(kind: RequestKind): () => void {
    const entry = this.#entry(kind);
    entry.open++;
    return () => void entry.open--;
  }

  all(): readonly RequestCount[] {
    return Array.from(this.#counts.values(), ({ kind, count, open }) => ({ ...kind, count, open }));
  }

  #entry(kind: RequestKind): { count: number; open: number } {
    const { user, verb, group, resource } = kind;
    const key = [user, verb, group, resource].join("\n");
    let entry = this.#counts.get(key);
    if (entry !== undefined) return entry;
    // The users beyond the limit are one, without a name.
    if (this.#counts.size >= kindsMax && user !== "") return this.#entry({ ...kind, user: "" });
    entry = { kind: { user, verb, group, resource }, count: 0, open: 0 };
    this.#counts.set(key, entry);
    return entry;
  }
}
