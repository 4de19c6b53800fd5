import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { respondText } from "./respond-text.ts";

/** The files of the built page by their path below its folder: `index.html`, `assets/….js`. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Serves the page's files, and nothing that is not one of them: no path is ever looked up on a disk. */
export function servePageFile(files: PageFiles, request: HttpRequest): HttpResponse {
  if (request.method !== "GET" && request.method !== "HEAD")
    return respondText(405, "only GET is answered here");
  const path = (request.target.split(/[?#]/)[0] ?? "").slice(1);
  const name = path === "" ? "index.html" : path;
  const body = files.get(name);
  if (body === undefined) {
    const hint = files.size === 0 ? `the page is not built: run "npm run build"` : "not found";
    return respondText(files.size === 0 ? 503 : 404, hint);
  }
  const extension = /\.([a-z0-9]+)$/.exec(name)?.[1] ?? "";
  return {
    status: 200,
    headers: { "content-type": mediaTypes.get(extension) ?? "application/octet-stream" },
    body: request.method === "HEAD" ? new Uint8Array(0) : body,
  };
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["svg", "image/svg+xml"],
  ["json", "application/json"],
  ["woff2", "font/woff2"],
]);
