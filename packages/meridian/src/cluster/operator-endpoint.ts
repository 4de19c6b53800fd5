import { createHash, timingSafeEqual } from "node:crypto";
import { DnsError } from "@meridian/dns";
import type { Operator } from "@meridian/gslb";
import type { HttpHandler, HttpResponse } from "@meridian/runtime";

/** Who may ask, and what else is told. */
export interface OperatorEndpointOptions {
  /** Whoever explains knows what this token opens: the same as the API server's. */
  readonly token: string;
  /** Answers `/metrics`, `/healthz` and `/readyz`. */
  readonly metrics: HttpHandler;
}

/**
 * The operator's own endpoint: `GET /explain?host=NAME` tells why a host is answered as it is, as JSON, and `/metrics`
 * tells numbers, both to bearers of the token; `/healthz` and `/readyz` are for everybody. Nothing can be changed here.
 */
export function operatorEndpoint(
  operator: Pick<Operator, "explain">,
  options: OperatorEndpointOptions,
): HttpHandler {
  return async (request) => {
    const url = new URL(request.target, "http://operator");
    if (url.pathname === "/healthz" || url.pathname === "/readyz") return options.metrics(request);
    if (!authorized(request.headers["authorization"], options.token)) {
      return problem(401, "send the cluster's bearer token; it stands in the kubeconfig");
    }
    if (url.pathname === "/metrics") return options.metrics(request);
    if (url.pathname !== "/explain")
      return problem(404, "there are only /explain?host=NAME, /metrics, /healthz and /readyz");
    if (request.method !== "GET") return problem(405, "use GET");
    const host = url.searchParams.get("host") ?? "";
    if (host === "") return problem(400, "name a host: /explain?host=NAME");
    try {
      return json(200, operator.explain(host));
    } catch (error) {
      if (error instanceof DnsError && error.code === "BadName") return problem(400, error.message);
      throw error;
    }
  };
}

/** Compares digests, which have one length, so that the time taken tells nothing about the token. */
function authorized(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? "")?.[1];
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function problem(status: number, error: string): HttpResponse {
  return json(status, { error });
}

function json(status: number, value: object): HttpResponse {
  const body = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  return { status, headers: { "content-type": "application/json" }, body };
}
