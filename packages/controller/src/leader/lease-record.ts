import { deepEqual, formatMicroTime, leaseType } from "@meridian/kube";
import type { Lease } from "@meridian/kube";

/** What a lease says of who leads. */
export type LeaseRecord = NonNullable<Lease["spec"]>;

/** What a candidate knows of the lease. */
export interface LeaseView {
  /** As it was last read or written; `undefined` where none is known to be there. */
  readonly lease: Lease | undefined;
  /** The last record seen. It outlives its lease: whoever deletes that has not told the holder. */
  readonly record: LeaseRecord | undefined;
  /** Since when that record has not changed, by the candidate's own monotonic clock. */
  readonly unchangedSinceMs: number;
}

/** Who wants to lead, and for how long a record counts. */
export interface Candidate {
  readonly namespace: string;
  readonly name: string;
  /** Of this candidate alone, at all times. */
  readonly identity: string;
  readonly leaseDurationMs: number;
}

/** The candidate's clocks, read together. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** What to do about the lease. */
export type LeaseStep =
  /** Create it, or write it over the state that was seen: the server refuses if there is a newer one. */
  | { readonly do: "create" | "update"; readonly lease: Lease }
  /** Somebody else leads, or may still believe to. */
  | { readonly do: "wait"; readonly holder: string };

/** What a candidate knows before it has asked. */
export const nothingKnown: LeaseView = { lease: undefined, record: undefined, unchangedSinceMs: 0 };

/** The view after the lease was read (or written) and its answer arrived at `nowMs` of the monotonic clock. */
export function viewAfter(view: LeaseView, lease: Lease | undefined, nowMs: number): LeaseView {
  if (lease === undefined) return { ...view, lease };
  const record = lease.spec ?? {};
  // Not the times in the record count: they are of another machine's clock. That it changed does.
  const unchanged = view.record !== undefined && deepEqual(record, view.record);
  return { lease, record, unchangedSinceMs: unchanged ? view.unchangedSinceMs : nowMs };
}

/**
 * What the candidate may do now. It keeps what it holds, and takes what nobody holds or what was not renewed for the whole
 * duration that the record itself promises.
 */
export function nextStep(view: LeaseView, candidate: Candidate, now: Moment): LeaseStep {
  const { lease, record } = view;
  const holder = record?.holderIdentity ?? "";
  const own = holder === candidate.identity;
  if (!own && holder !== "" && !hasExpired(view, candidate, now)) return { do: "wait", holder };

  const renewTime = differentMicroTime(now.wallMs, record?.renewTime);
  const transitions = transitionsOf(record);
  const next: LeaseRecord = {
    ...lease?.spec,
    holderIdentity: candidate.identity,
    leaseDurationSeconds: candidate.leaseDurationMs / 1000,
    acquireTime: own ? (record?.acquireTime ?? renewTime) : renewTime,
    renewTime,
    leaseTransitions: own || record === undefined ? transitions : (transitions + 1) % transitionsEnd,
  };
  if (lease !== undefined) return { do: "update", lease: { ...lease, spec: next } };
  const { namespace, name } = candidate;
  const { group, version, kind } = leaseType;
  return {
    do: "create",
    lease: { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name }, spec: next },
  };
}

/** The lease as its holder leaves it: free at once. `undefined` where the candidate does not hold it. */
export function released(view: LeaseView, candidate: Candidate, now: Moment): Lease | undefined {
  const { lease, record } = view;
  if (lease === undefined || record?.holderIdentity !== candidate.identity) return undefined;
  const renewTime = differentMicroTime(now.wallMs, record.renewTime);
  // Candidates that do not know an empty holder take it as soon as the shortest duration is over.
  const spec: LeaseRecord = {
    ...record,
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: renewTime,
    renewTime,
  };
  return { ...lease, spec };
}

/** The API has 32 bits for it, one of which is the sign. */
const transitionsEnd = 2 ** 31;

/** A count that no server would take again would keep everybody from leading: it begins anew. */
function transitionsOf(record: LeaseRecord | undefined): number {
  const count: unknown = record?.leaseTransitions;
  return Number.isInteger(count) && (count as number) >= 0 && (count as number) < transitionsEnd
    ? (count as number)
    : 0;
}

function hasExpired({ record, unchangedSinceMs }: LeaseView, candidate: Candidate, now: Moment): boolean {
  const promisedMs = (record?.leaseDurationSeconds ?? 0) * 1000;
  const durationMs = promisedMs > 0 ? promisedMs : candidate.leaseDurationMs;
  return now.monotonicMs - unchangedSinceMs >= durationMs;
}

/** A clock that was set back could show the time of the last renewal again; then nobody would see that it was renewed. */
function differentMicroTime(wallMs: number, last: string | undefined): string {
  const text = formatMicroTime(wallMs);
  return text === last ? formatMicroTime(wallMs + 0.0015) : text;
}
