import type { KubeObject } from "@meridian/kube";
import type { HttpHandler, HttpRequest, HttpResponse, Runtime } from "@meridian/runtime";
import { tokenOf, type Tag } from "../fleet/fleet-map.ts";

export function losingEvents(runtime: Runtime, handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request);
    if (response.body instanceof Uint8Array || !request.target.includes("watch=")) return response;
    const chunks = response.body;
    async function* body(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) if (runtime.random.float() > 0.02) yield chunk;
    }
    return { ...response, body: body() };
  };
}

/** Takes the version out of what a client wants to replace: whoever comes last wins. */
export function forgettingVersions(handler: HttpHandler): HttpHandler {
  return (request) => {
    if (request.method !== "PUT" || !request.target.includes("/configmaps/")) return handler(request);
    const object = JSON.parse(new TextDecoder().decode(request.body)) as KubeObject;
    const { resourceVersion: _, ...metadata } = object.metadata;
    return handler({ ...request, body: new TextEncoder().encode(JSON.stringify({ ...object, metadata })) });
  };
}

/** Answers a status write as if it had gone through. */
export function droppingRefusals(handler: HttpHandler, tag: Tag): HttpHandler {
  return async (request) => {
    const isStatus = request.method === "PUT" && /\/gslbs\/[^/]+\/status/.test(request.target);
    const text = isStatus ? new TextDecoder().decode(request.body) : "";
    const isRefusal = /"type":"Accepted","status":"False"/.test(text.replaceAll(/\s/g, ""));
    if (!isRefusal) return handler(request);
    const target = request.target.replace("/status", "");
    return handler({
      ...request,
      method: "GET",
      target,
      body: new Uint8Array(),
      headers: withToken(request, tag),
    });
  };
}

/** Leaves the moments of silence out of the lists in which the operator looks for what it remembered. */
export function forgettingSilence(handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request);
    const isMemory = request.method === "GET" && request.target.includes("peer-views");
    if (!isMemory || !(response.body instanceof Uint8Array)) return response;
    const text = new TextDecoder().decode(response.body).replaceAll(/,\\"unreachableSince\\":\d+/g, "");
    return { ...response, body: new TextEncoder().encode(text) };
  };
}

export function trusting(handler: HttpHandler, tag: Tag): HttpHandler {
  return (request): Promise<HttpResponse> => {
    const isBare = request.headers["authorization"] === undefined;
    return handler(isBare ? { ...request, headers: withToken(request, tag) } : request);
  };
}

function withToken(request: HttpRequest, tag: Tag): HttpRequest["headers"] {
  return { ...request.headers, authorization: `Bearer ${tokenOf(tag)}` };
}

interface EndpointEntry {
  readonly dnsName: string;
  readonly targets?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** Changes the entries of each DNSEndpoint on its way into the store. */
export function changingEndpoints(
  handler: HttpHandler,
  change: (entries: readonly EndpointEntry[]) => readonly EndpointEntry[],
): HttpHandler {
  return (request) => {
    const isWrite = request.method === "PUT" || request.method === "POST";
    if (!isWrite || !request.target.includes("/dnsendpoints")) return handler(request);
    const object = JSON.parse(new TextDecoder().decode(request.body)) as {
      readonly spec?: { readonly endpoints?: readonly EndpointEntry[] };
    };
    const spec = { ...object.spec, endpoints: change(object.spec?.endpoints ?? []) };
    return handler({ ...request, body: new TextEncoder().encode(JSON.stringify({ ...object, spec })) });
  };
}

/** Hides the fleet's key from the operator, so that it does not learn which hosts its peers carry. */
export function hidingFleetKey(handler: HttpHandler): HttpHandler {
  return (request) => {
    if (!request.target.includes("/secrets") || request.body.length === 0) return handler(request);
    const text = new TextDecoder()
      .decode(request.body)
      .replace('"meridian/dns-keys":"tsig"', '"hidden":"tsig"');
    return handler({ ...request, body: new TextEncoder().encode(text) });
  };
}

/** Leaves a host without targets out, as k8gb does. */
export function withoutEmptyHosts(entries: readonly EndpointEntry[]): readonly EndpointEntry[] {
  return entries.filter(({ targets = [] }) => targets.length > 0);
}

/** Takes a label away. */
export function withoutLabel(label: string, entries: readonly EndpointEntry[]): readonly EndpointEntry[] {
  return entries.map((entry) => {
    const { [label]: _, ...labels } = entry.labels ?? {};
    return { ...entry, labels };
  });
}

/** Gives a cluster that has the weight 0 the weight 1. */
export function withoutZeroWeights(entries: readonly EndpointEntry[]): readonly EndpointEntry[] {
  return entries.map((entry) => ({
    ...entry,
    labels: Object.fromEntries(
      Object.entries(entry.labels ?? {}).map(([label, value]) => [
        label.replace(/^(weight-.*-)0$/, "$11"),
        value,
      ]),
    ),
  }));
}
