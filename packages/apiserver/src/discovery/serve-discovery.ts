import { createHash } from "node:crypto";
import { apiVersionOf, notAcceptable } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { parseAccept } from "../http/media-type.ts";
import { negotiate } from "../http/negotiation.ts";
import { respond, respondText } from "../http/respond.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { aggregatedDiscovery } from "./aggregated-document.ts";
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from "./legacy-documents.ts";
import { type GroupEntry, groupEntries } from "./resource-entries.ts";

/** Answers `/`, `/api`, `/apis` and what is below them; `undefined` for any other path, and for what is not served. */
export function serveDiscovery(
  context: ApiContext,
  http: HttpRequest,
  segments: readonly string[],
): HttpResponse | undefined {
  const [root, first, second] = segments;
  const groups = groupEntries(context.registry);
  if (root === undefined) {
    return respond(200, {
      paths: [
        "/api",
        "/api/v1",
        "/apis",
        "/healthz",
        "/livez",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz",
        "/version",
      ],
    });
  }
  if (root === "api" && segments.length === 1) {
    return respondRoot(http, { groups: groups.filter(({ name }) => name === ""), legacy: apiVersions() });
  }
  if (root === "apis" && segments.length === 1) {
    return respondRoot(http, {
      groups: groups.filter(({ name }) => name !== ""),
      legacy: apiGroupList(groups),
    });
  }
  const form = () => negotiate(http.headers["accept"], false);
  if (root === "api" && segments.length === 2) {
    const resources = resourcesOf(groups, "", first ?? "");
    return resources && respond(200, apiResourceList(first ?? "", resources), { form: form() });
  }
  if (root !== "apis") return undefined;
  const group = groups.find(({ name }) => name === first && name !== "");
  if (group === undefined) return undefined;
  if (segments.length === 2) return respond(200, apiGroup(group), { form: form() });
  const resources = resourcesOf(groups, group.name, second ?? "");
  const groupVersion = apiVersionOf({ group: group.name, version: second ?? "" });
  return resources && respond(200, apiResourceList(groupVersion, resources), { form: form() });
}

function resourcesOf(
  groups: readonly GroupEntry[],
  group: string,
  version: string,
): GroupEntry["versions"][number]["resources"] | undefined {
  return groups.find(({ name }) => name === group)?.versions.find(({ name }) => name === version)?.resources;
}

/** `/api` and `/apis` come in two forms under one path; the first that the client names and this server has, wins. */
function respondRoot(
  http: HttpRequest,
  documents: { readonly groups: readonly GroupEntry[]; readonly legacy: unknown },
): HttpResponse {
  for (const { parameters, type } of parseAccept(http.headers["accept"])) {
    if (
      type !== "application/json" &&
      type !== "application/yaml" &&
      type !== "*/*" &&
      type !== "application/*"
    )
      continue;
    const version = parameters.get("v");
    if (parameters.get("as") === undefined) return withVary(respond(200, documents.legacy));
    if (parameters.get("as") !== "APIGroupDiscoveryList" || parameters.get("g") !== "apidiscovery.k8s.io")
      continue;
    if (version === "v2" || version === "v2beta1") return respondAggregated(http, documents.groups, version);
  }
  throw notAcceptable(["application/json"]);
}

function respondAggregated(
  http: HttpRequest,
  groups: readonly GroupEntry[],
  version: "v2" | "v2beta1",
): HttpResponse {
  const text = JSON.stringify(aggregatedDiscovery(groups, version));
  const etag = `"${createHash("sha256").update(text).digest("hex").toUpperCase()}"`;
  const headers = { etag, vary: "Accept", "cache-control": "public" };
  if (http.headers["if-none-match"] === etag) return { status: 304, headers, body: new Uint8Array() };
  const response = respondText(200, text, {
    contentType: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
  });
  return { ...response, headers: { ...response.headers, ...headers } };
}

function withVary(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, vary: "Accept" } };
}
