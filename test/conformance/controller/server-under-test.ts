import type { InformerOptions } from "@meridian/controller";
import type { TcpProxy } from "../tcp-proxy.ts";

/** A user of the server: `admin` may do everything, `restricted` only what `allow` has allowed. */
export type ServerUser = "admin" | "restricted";

/** How a user proves who it is. */
export type Credential = "certificate" | "token";

/** What the restricted user may do with one resource of a namespace. */
export interface AllowedAccess {
  readonly namespace: string;
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

/** In what form copies are taken. */
export type CopyForm = Pick<InformerOptions, "wireFormat">;

/** A Kubernetes API server that the suite runs against: a real one, or ours. */
export interface ServerUnderTest extends AsyncDisposable {
  readonly name: string;
  /** In what form copies are taken from it. Absent: JSON. */
  readonly copies?: CopyForm;
  /** A kubeconfig; `url` where it goes through a proxy, `by` how the user proves who it is (default: a certificate). */
  kubeconfig(user: ServerUser, options?: { readonly url?: string; readonly by?: Credential }): string;
  /** A proxy before the server; ended with the server at the latest. */
  proxy(): Promise<TcpProxy & { readonly url: string }>;
  /** Lets the restricted user do something; may take a moment to count. */
  allow(access: AllowedAccess): Promise<void>;
  /** Forgets all history up to now, so that a watch from any older version is told that it has expired. Watches may end. */
  forgetHistory(): Promise<void>;
  /** Ends the server, in order or as by kill -9, and starts it again at the same address with what it had stored. */
  restart(how: "in order" | "killed"): Promise<void>;
}
