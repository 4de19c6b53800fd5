import { methodNotAllowedHere } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { respond, respondText } from "./respond.ts";

/** The Kubernetes release whose API this server follows. */
export const serverVersion = {
  major: "1",
  minor: "33",
  gitVersion: "v1.33.0+meridian",
  gitCommit: "0000000000000000000000000000000000000000",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "any/any",
} as const;

/** Answers what needs no credentials: version and health. `undefined` for any other path. */
export async function servePublicPath(
  request: HttpRequest,
  server: { readonly ready: Promise<void> },
): Promise<HttpResponse | undefined> {
  const [path = "", query = ""] = request.target.split("?", 2);
  const isVersion = path === "/version" || path === "/version/";
  const match = /^\/(healthz|livez|readyz)(?:\/([a-z-]+))?\/?$/.exec(path);
  if (!isVersion && match === null) return undefined;
  if (request.method !== "GET" && request.method !== "HEAD") throw methodNotAllowedHere();
  if (match === null) return respond(200, serverVersion);
  return respondHealth(match[1] ?? "", await checks(server), {
    check: match[2],
    query: new URLSearchParams(query),
  });
}

interface Check {
  readonly name: string;
  readonly passed: boolean;
}

async function checks(server: { readonly ready: Promise<void> }): Promise<readonly Check[]> {
  const pending = Symbol("pending");
  const settled = server.ready.then(
    () => true,
    () => false,
  );
  // A settled promise needs a turn to say so: what stands for "not yet" takes one turn more, or it would always win.
  const state = await Promise.race([settled, Promise.resolve().then(() => Promise.resolve(pending))]);
  return [
    { name: "ping", passed: true },
    { name: "poststarthook", passed: state === true },
  ];
}

function respondHealth(
  endpoint: string,
  all: readonly Check[],
  options: { readonly check: string | undefined; readonly query: URLSearchParams },
): HttpResponse {
  const { check, query } = options;
  const excluded = query.getAll("exclude");
  const relevant = all.filter(({ name }) => {
    if (check !== undefined) return name === check;
    return !excluded.includes(name) && !(endpoint === "livez" && name === "poststarthook");
  });
  const contentType = "text/plain; charset=utf-8";
  if (check !== undefined && relevant.length === 0)
    return respondText(404, "404 page not found\n", { contentType });

  const failed = relevant.some(({ passed }) => !passed);
  if (!failed && !query.has("verbose")) return respondText(200, "ok", { contentType });
  const lines = relevant.map(({ name, passed }) =>
    passed ? `[+]${name} ok` : `[-]${name} failed: reason withheld`,
  );
  const verdict = failed ? `${endpoint} check failed` : `${endpoint} check passed`;
  return respondText(failed ? 500 : 200, `${[...lines, verdict].join("\n")}\n`, { contentType });
}
