import type { RecordSet, ZoneTransfer } from "@meridian/dns";
import type { AddressFamily } from "../decide/address-family.ts";
import { canonicalName } from "../decide/dns-name.ts";
import {
  parsePublishedPolicy,
  publishedHost,
  publishedName,
  type PublishedPolicy,
} from "../decide/published-host.ts";

/** What a peer says of one host. */
interface CopiedHost {
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
  /** TXT data and TTL; absent where it serves the host and says nothing of how it is balanced. */
  readonly policyText?: string;
  readonly ttl?: number;
}

/** What a transfer changed in a copy. */
export interface CopyChange {
  /** The hosts of which the peer says something else now. */
  readonly hosts: ReadonlySet<string>;
  /** Whether it carries other hosts now, or balances one otherwise. */
  readonly isCarriageChanged: boolean;
}

/** A transfer with content. */
export type ViewTransferContent = Extract<ZoneTransfer, { readonly kind: "whole" | "changes" }>;

const nothing: CopiedHost = { A: [], AAAA: [] };

/** One peer's view of one zone as it was last transferred, with its serial. */
export class ViewCopy {
  readonly #zone: string;
  #hosts = new Map<string, CopiedHost>();
  /** Those of them whose names are too long to stand in the view, by those that do. */
  readonly #spelled = new Map<string, string>();
  #serial: number | undefined;

  constructor(zone: string) {
    this.#zone = zone;
  }

  /** `undefined` until there was a transfer. */
  get serial(): number | undefined {
    return this.#serial;
  }

  get size(): number {
    return this.#hosts.size;
  }

  /** Whether the peer has a Gslb for the host. */
  carries(host: string): boolean {
    return this.#hosts.has(host);
  }

  targets(host: string, family: AddressFamily): readonly string[] {
    return this.#hosts.get(host)?.[family] ?? [];
  }

  /** The hosts that the peer carries. */
  hosts(): IterableIterator<string> {
    return this.#hosts.keys();
  }

  /** How the peer balances a host; `undefined` where it does not tell. */
  policy(host: string): PublishedPolicy | undefined {
    const { policyText, ttl = 0 } = this.#hosts.get(host) ?? nothing;
    return policyText === undefined ? undefined : parsePublishedPolicy(policyText, ttl);
  }

  /**
   * Takes a transfer over.
   *
   * @returns what it changed, or `undefined` where its differences are not from what is here; then nothing is changed, and
   *   the whole is to be fetched
   */
  apply(transfer: ViewTransferContent): CopyChange | undefined {
    const added = transfer.kind === "whole" ? transfer.sets : transfer.added;
    const spelled = this.#spelledIn(added);
    // Most hosts of a fleet are balanced in a few ways: each text of a transfer is kept once.
    const texts = new Map<string, string>();
    const before = this.#hosts;
    const drafts = new Map<string, Draft>();
    const draftOf = (name: string): Draft | undefined => {
      const host = this.#hostOf(name, spelled);
      if (host === undefined) return undefined;
      const known = drafts.get(host) ?? draft(transfer.kind === "whole" ? undefined : before.get(host));
      drafts.set(host, known);
      return known;
    };
    if (transfer.kind === "changes")
      for (const set of transfer.removed) if (draftOf(set.name)?.remove(set) === false) return undefined;
    for (const set of added) if (draftOf(set.name)?.add(set) === false) return undefined;

    // Differences cost by what differs, not by how many hosts there are.
    const after = transfer.kind === "whole" ? new Map<string, CopiedHost>() : before;
    const gone = transfer.kind === "whole" ? [...before.keys()].filter((host) => !drafts.has(host)) : [];
    const hosts = new Set(gone);
    for (const host of gone) this.#spelled.delete(publishedName(host, this.#zone));
    for (const [name, host] of spelled) this.#spelled.set(name, host);
    let isCarriageChanged = gone.length > 0;
    for (const [host, each] of drafts) {
      const had = before.get(host);
      const said = each.finish(texts);
      if (!isSame(had, said)) hosts.add(host);
      if (!isSameCarriage(had, said)) isCarriageChanged = true;
      if (said !== undefined) after.set(host, said);
      else {
        after.delete(host);
        this.#spelled.delete(publishedName(host, this.#zone));
      }
    }
    this.#hosts = after;
    this.#serial = transfer.soa.serial;
    return { hosts, isCarriageChanged };
  }

  #hostOf(name: string, spelled: ReadonlyMap<string, string>): string | undefined {
    const canonical = canonicalName(name);
    return publishedHost(name, this.#zone) ?? spelled.get(canonical) ?? this.#spelled.get(canonical);
  }

  #spelledIn(added: readonly RecordSet[]): ReadonlyMap<string, string> {
    const spelled = new Map<string, string>();
    for (const { name, type, data } of added) {
      if (type !== "TXT" || publishedHost(name, this.#zone) !== undefined) continue;
      const host = publishedHost(name, this.#zone, data[0]);
      if (host !== undefined) spelled.set(canonicalName(name), host);
    }
    return spelled;
  }
}

/** A host's records while differences are applied. */
interface Draft {
  /** @returns false for a record that is not there */
  remove(set: RecordSet): boolean;
  /** @returns false for a record that is there already */
  add(set: RecordSet): boolean;
  /** What is said of the host then; `undefined`: nothing. A text that is among `texts` is not kept again. */
  finish(texts: Map<string, string>): CopiedHost | undefined;
}

function draft(said: CopiedHost | undefined): Draft {
  const data = new Map<string, Set<string>>([
    ["A", new Set(said?.A)],
    ["AAAA", new Set(said?.AAAA)],
    ["TXT", new Set(said?.policyText === undefined ? [] : [said.policyText])],
  ]);
  let ttl = said?.ttl;
  const every = (set: RecordSet, take: (of: Set<string>, text: string) => boolean): boolean => {
    const of = data.get(set.type);
    // Types of a later version say nothing to this one.
    return of === undefined || set.data.map((text) => take(of, text)).every((isTaken) => isTaken);
  };
  return {
    remove: (set) => every(set, (of, text) => of.delete(text)),
    add(set) {
      if (set.type === "TXT") ({ ttl } = set);
      return every(set, (of, text) => of.size !== of.add(text).size);
    },
    finish(texts) {
      const [policyText] = data.get("TXT")!;
      const [A, AAAA] = [[...data.get("A")!], [...data.get("AAAA")!]];
      if (policyText === undefined && A.length + AAAA.length === 0) return undefined;
      const shared = policyText === undefined ? undefined : (texts.get(policyText) ?? policyText);
      if (shared !== undefined) texts.set(shared, shared);
      const policy = shared === undefined ? {} : { policyText: shared };
      return { A, AAAA, ...policy, ...(ttl === undefined ? {} : { ttl }) };
    },
  };
}

function isSame(a: CopiedHost | undefined, b: CopiedHost | undefined): boolean {
  const isAlike = (family: AddressFamily): boolean => a?.[family].join() === b?.[family].join();
  return isSameCarriage(a, b) && isAlike("A") && isAlike("AAAA");
}

function isSameCarriage(a: CopiedHost | undefined, b: CopiedHost | undefined): boolean {
  return (a === undefined) === (b === undefined) && a?.policyText === b?.policyText && a?.ttl === b?.ttl;
}
