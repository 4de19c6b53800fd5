import type { Runtime } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { ApiConnections } from "./api-connections.ts";
import { bearerToken } from "./credential.ts";
import type { CredentialSource } from "./credential.ts";
import { RequestRate } from "./request-rate.ts";
import type { RateLimit } from "./request-rate.ts";
import type { RequestSubject } from "./request-subject.ts";
import { fixedTls } from "./tls-source.ts";
import type { TlsSettings, TlsSource } from "./tls-source.ts";
import { Transport } from "./transport.ts";

/** As whom requests act, where their user may impersonate others. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Where the API server is, as whom to speak to it, and how often. */
export interface KubeClientOptions {
  /** `https://address:port`, with a base path where the server is behind one. */
  readonly origin: string;
  /** The namespace to work in where nothing else says one: that of the kubeconfig's context, or of the Pod. Default `default`. */
  readonly namespace?: string;
  /** PEM texts, or a source that follows files. */
  readonly tls?: TlsSettings | TlsSource;
  /** A bearer token. Never logged. */
  readonly token?: string;
  /** What logs in in place of a token. The client disposes it. */
  readonly credentials?: CredentialSource;
  /** `http://`, `https://` or `socks5://`, with name and password where the proxy asks for them. */
  readonly proxyUrl?: string;
  readonly impersonate?: Impersonation;
  /** Default `meridian`. */
  readonly userAgent?: string;
  /** Bound on each request. Default 30,000. */
  readonly deadlineMs?: number;
  /** Default: none; a server with priority and fairness knows better, and its 429 is obeyed. */
  readonly rateLimit?: RateLimit;
  /** Called for each warning that the server sends beside an answer. */
  readonly onWarning?: (text: string, subject: RequestSubject) => void;
}

/** What a client sends its requests with. */
export interface ClientTransport {
  readonly origin: string;
  readonly transport: Transport;
  readonly connections: ApiConnections;
}

/** @throws ControllerError `InvalidKubeconfig` for an origin that is none */
export function clientTransport(
  runtime: Pick<Runtime, "clock" | "network">,
  options: KubeClientOptions,
): ClientTransport {
  const { origin, basePath } = splitOrigin(options.origin);
  const { tls, token, proxyUrl, rateLimit } = options;
  const connections = new ApiConnections(runtime.network, {
    origin,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
  });
  const transport = new Transport(runtime.clock, {
    connections,
    basePath,
    tls: tls === undefined || "current" in tls ? tls : fixedTls(tls),
    credentials: options.credentials ?? (token === undefined ? undefined : bearerToken(token)),
    rate: rateLimit === undefined ? undefined : new RequestRate(runtime.clock, rateLimit),
    headers: {
      "user-agent": options.userAgent ?? "meridian",
      ...impersonationHeaders(options.impersonate),
    },
    onWarning: options.onWarning,
  });
  return { origin, transport, connections };
}

function splitOrigin(text: string): { readonly origin: string; readonly basePath: string } {
  const match = /^(https?:\/\/[^/?#]+)([^?#]*)$/.exec(text);
  if (match === null) {
    throw new ControllerError(
      "InvalidKubeconfig",
      `${JSON.stringify(text)} is no server address like https://host:6443`,
    );
  }
  return { origin: match[1] as string, basePath: (match[2] as string).replace(/\/+$/, "") };
}

/** The header of an extra field has its key in its name, escaped where a header could not hold it. */
function impersonationHeaders(
  impersonate: Impersonation | undefined,
): Record<string, string | readonly string[]> {
  if (impersonate === undefined) return {};
  const { user, uid, groups = [], extra = {} } = impersonate;
  return {
    "impersonate-user": user,
    ...(uid === undefined ? {} : { "impersonate-uid": uid }),
    ...(groups.length === 0 ? {} : { "impersonate-group": groups }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `impersonate-extra-${encodeURIComponent(key).toLowerCase()}`,
        values,
      ]),
    ),
  };
}
