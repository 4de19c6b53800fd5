import type { MmsgDescriptor } from "@meridian/runtime/node";
import type { ZoneSigning } from "../dnssec/online-signer.ts";
import type { Name } from "../name/name.ts";
import type { SharedQueryLogRing } from "../server/query-log-ring.ts";
import type { SharedAuthority } from "../server/shared-authority.ts";

/** What a thread is started with. */
export interface WorkerStart {
  readonly socket: MmsgDescriptor;
  /** Words that both sides read and write (`WorkerControl`). */
  readonly control: SharedArrayBuffer;
  readonly shared: SharedAuthority;
  readonly signings: readonly ZoneSigning[];
  /** The slot of the authority's counters. */
  readonly slot: number;
  /** Whether another thread answers until this one is ready. */
  readonly replaces: boolean;
  readonly proxies: readonly string[];
  readonly queryLog?: SharedQueryLogRing;
}

/** What a running thread is told. It looks when `WorkerControl` says that there is something. */
export type ToWorker =
  | { readonly kind: "share"; readonly shared: SharedAuthority }
  | { readonly kind: "sign"; readonly signing: ZoneSigning }
  | { readonly kind: "unsign"; readonly origin: Name };

/** What a thread tells. */
export type FromWorker =
  | { readonly kind: "ready" }
  | {
      /** A message that needs more than a lookup, and where from, as text and as the socket wants it for the reply. */
      readonly kind: "deferred";
      readonly message: Uint8Array;
      readonly address: string;
      readonly port: number;
      readonly peer: Uint8Array;
    };
