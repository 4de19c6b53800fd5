import { notAcceptable } from "@meridian/kube";
import type { HttpRequest, HttpResponse } from "@meridian/runtime";
import { parseAccept } from "../http/media-type.ts";
import { respond, respondText } from "../http/respond.ts";
import type { ResourceRegistry } from "../resource/registry.ts";
import type { ApiContext } from "../verbs/api-context.ts";
import { type OpenApiDocument, OpenApiDocuments } from "./documents.ts";

const documentsOf = new WeakMap<ResourceRegistry, OpenApiDocuments>();

/** Answers `/openapi/v2`, `/openapi/v3` and the documents below it; `undefined` for any other path. */
export function serveOpenApi(
  context: ApiContext,
  http: HttpRequest,
  path: { readonly segments: readonly string[]; readonly query: URLSearchParams },
): HttpResponse | undefined {
  const [root, version, ...rest] = path.segments;
  if (root !== "openapi") return undefined;
  let documents = documentsOf.get(context.registry);
  if (documents === undefined)
    documentsOf.set(context.registry, (documents = new OpenApiDocuments(context.registry)));

  if (version === "v2" && rest.length === 0) {
    if (!isJsonAccepted(http) && accepts(http, isSwaggerProtobuf)) return bareSwagger();
    checkJsonAccepted(http);
    return withEtag(http, documents.v2(), { vary: "Accept" });
  }
  if (version !== "v3") return undefined;
  if (rest.length === 0) return respond(200, { paths: indexOf(documents) });

  const document = documents.v3(rest.join("/"));
  if (document === undefined) return undefined;
  checkJsonAccepted(http);
  const hash = path.query.get("hash");
  if (hash === null || hash === "") return withEtag(http, document, { vary: "Accept" });
  if (hash !== document.hash) {
    return { status: 301, headers: { location: urlOf(rest.join("/"), document) }, body: new Uint8Array() };
  }
  return withEtag(http, document, {
    "cache-control": "public, immutable, max-age=31536000",
    expires: new Date(context.runtime.clock.now() + yearMs).toUTCString(),
    vary: "Accept",
  });
}

const yearMs = 365 * 24 * 60 * 60 * 1_000;

function indexOf(documents: OpenApiDocuments): unknown {
  return Object.fromEntries(
    documents.paths().flatMap((path) => {
      const document = documents.v3(path);
      return document === undefined ? [] : [[path, { serverRelativeURL: urlOf(path, document) }]];
    }),
  );
}

function urlOf(path: string, document: OpenApiDocument): string {
  return `/openapi/v3/${path}?hash=${document.hash}`;
}

/** The protobuf form of these documents does not exist here, and clients that want it can do without. */
function checkJsonAccepted(http: HttpRequest): void {
  if (!isJsonAccepted(http)) throw notAcceptable(["application/json"]);
}

const jsonTypes = new Set(["application/json", "application/*", "*/*"]);

function isJsonAccepted(http: HttpRequest): boolean {
  return accepts(http, (type) => jsonTypes.has(type));
}

function accepts(http: HttpRequest, isMeant: (type: string) => boolean): boolean {
  return parseAccept(http.headers["accept"]).some(({ type }) => isMeant(type));
}

const swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/** Clients write `@` for the last dot but one, which is no character of a media type: in an answer they refuse it. */
function isSwaggerProtobuf(type: string): boolean {
  return type.replace("@", ".") === swaggerProtobuf;
}

/**
 * What kubectl asks for where the v3 documents do not know a kind. A document of no definitions lets it go on, to say that
 * there is no such kind; refused, it says that it cannot validate.
 */
function bareSwagger(): HttpResponse {
  const field = (number: number, octets: Uint8Array): Uint8Array =>
    Buffer.concat([Uint8Array.of((number << 3) | 2, octets.length), octets]);
  const text = (number: number, value: string): Uint8Array => field(number, new TextEncoder().encode(value));
  const info = Buffer.concat([text(1, "Kubernetes"), text(2, "v1.33.0")]);
  const body = new Uint8Array(Buffer.concat([text(1, "2.0"), field(2, info), field(8, new Uint8Array())]));
  return { status: 200, headers: { "content-type": swaggerProtobuf, vary: "Accept" }, body };
}

function withEtag(
  http: HttpRequest,
  document: OpenApiDocument,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const etag = `"${document.hash}"`;
  if (http.headers["if-none-match"] === etag)
    return { status: 304, headers: { ...headers, etag }, body: new Uint8Array() };
  const response = respondText(200, document.text, { contentType: "application/json" });
  return { ...response, headers: { ...response.headers, ...headers, etag } };
}
