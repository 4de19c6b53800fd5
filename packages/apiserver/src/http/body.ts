import { badRequest, requestEntityTooLarge, unsupportedMediaType } from "@meridian/kube";
import type { HttpRequest } from "@meridian/runtime";
import { parseDocument } from "yaml";
import { type DecodedJson, decodeJson, encodeJson, JsonTextError } from "../json/json-text.ts";
import { isYamlDeeperThan } from "../json/yaml-depth.ts";
import { decodeProtobufObject, UnknownMessageError } from "../protobuf/decode-object.ts";
import { WireError } from "../protobuf/wire-reader.ts";
import { parseMediaType } from "./media-type.ts";

/** Largest request body. */
const bodyBytesMax = 3 * 1024 * 1024;

/** What the HTTP server should read of a body: more than the largest one, so that a larger one is refused by a Status. */
export const requestBodyBytesMax: number = 2 * bodyBytesMax;

/** Well below what the parser's recursion can bear. */
const yamlDepthMax = 250;

const bodyTypes = ["application/json", "application/yaml"];

/**
 * Decodes the body of a write: JSON, YAML where the content type says so, or the protobuf form of built-in kinds.
 *
 * @throws StatusError 400, 413, 415.
 */
export function decodeBody(request: HttpRequest): DecodedJson {
  const contentType = request.headers["content-type"];
  const type =
    contentType === undefined || contentType === "" ? "application/json" : parseMediaType(contentType).type;
  if (type === "application/json") return decodeJsonText(bodyText(request));
  if (type === "application/yaml") return decodeYamlText(bodyText(request));
  if (type === "application/vnd.kubernetes.protobuf") return decodeProtobuf(request);
  throw unsupportedMediaType(bodyTypes);
}

/** Typed Go clients send built-in kinds like this, and cannot fall back to JSON by themselves. */
function decodeProtobuf(request: HttpRequest): DecodedJson {
  checkSize(request);
  try {
    return { value: decodeProtobufObject(request.body), duplicates: [] };
  } catch (error) {
    if (error instanceof UnknownMessageError) throw unsupportedMediaType(bodyTypes);
    if (error instanceof WireError || error instanceof JsonTextError) {
      throw badRequest(`the object provided is unrecognized: ${error.message}`);
    }
    throw error;
  }
}

function checkSize(request: HttpRequest): void {
  if (request.body.length > bodyBytesMax) throw requestEntityTooLarge(`limit is ${bodyBytesMax}`);
}

/** The body as text. @throws StatusError 400, 413. */
export function bodyText(request: HttpRequest): string {
  checkSize(request);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(request.body);
  } catch {
    throw badRequest("the body of the request is not valid UTF-8");
  }
}

/** @throws StatusError 400. */
export function decodeJsonText(text: string): DecodedJson {
  try {
    return decodeJson(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type Object): ${error.message}`);
  }
}

/** Decodes YAML into what its JSON form would decode to. @throws StatusError 400. */
export function decodeYamlText(text: string): DecodedJson {
  const first = /\S/.exec(text)?.[0];
  if (first === "{" || first === "[") {
    try {
      return decodeJson(text);
    } catch (error) {
      if (!(error instanceof JsonTextError)) throw error;
    }
  }
  if (isYamlDeeperThan(text, yamlDepthMax)) {
    throw badRequest(`error decoding YAML: collections are nested deeper than ${yamlDepthMax} levels`);
  }
  const document = parseDocument(text, {
    intAsBigInt: true,
    uniqueKeys: false,
    merge: true,
    logLevel: "error",
  });
  const problem = document.errors[0];
  if (problem !== undefined) throw badRequest(`error decoding YAML: ${problem.message.split("\n")[0] ?? ""}`);
  let json: string;
  try {
    // An alias may stand inside of what it names; then it has no JSON.
    json = encodeJson(document.toJS({ maxAliasCount: 100 }) ?? null);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw badRequest(`error decoding YAML: ${message.split("\n")[0] ?? ""}`);
  }
  // Through JSON once more: it applies the limits, and turns what only YAML has (dates, sets) into JSON.
  return decodeJsonText(json);
}
