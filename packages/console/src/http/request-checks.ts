import type { HttpRequest } from "@meridian/runtime";

/** Why a request is not answered. */
export interface Refused {
  readonly status: 400 | 403 | 405 | 415;
  readonly message: string;
}

/**
 * Checks that the page is asked for by its own address. A name in the `Host` header that somebody else's DNS points here would make
 * their page one of the same origin (DNS rebinding); an address cannot be pointed anywhere, and `localhost` is nobody's. Pure.
 */
export function checkHost(
  request: Pick<HttpRequest, "headers">,
  names: readonly string[],
): Refused | undefined {
  const host = request.headers["host"] ?? request.headers[":authority"] ?? "";
  const name = /^(\[[0-9a-f:.]+\]|[^:]*)(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase() ?? "";
  const isAddress = /^\[[0-9a-f:.]+\]$/.test(name) || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
  if (isAddress || name === "localhost" || names.includes(name)) return undefined;
  return {
    status: 403,
    message: "this server answers to its address, to localhost, and to the names it was given (--host)",
  };
}

/**
 * Checks that a request came from the page itself, if it came from a browser. Programs that are no browser send neither header and
 * act for nobody else. Pure.
 */
export function checkSameOrigin(request: Pick<HttpRequest, "headers">): Refused | undefined {
  const { origin, host = "" } = request.headers;
  const site = request.headers["sec-fetch-site"];
  const foreign =
    (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) ||
    (site !== undefined && site !== "same-origin" && site !== "none");
  return foreign ? { status: 403, message: "requests of other pages are not answered" } : undefined;
}

/**
 * Checks a request that makes something happen: from the page itself, and with a body that no form can send. Pure.
 */
export function checkCommand(request: Pick<HttpRequest, "method" | "headers">): Refused | undefined {
  if (request.method !== "POST") return { status: 405, message: "send commands by POST" };
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return { status: 415, message: "send commands as application/json" };
  return checkSameOrigin(request);
}
