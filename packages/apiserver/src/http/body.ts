import { badRequest, requestEntityTooLarge, unsupportedMediaType } from "@meridian/kube";
import type { HttpRequest } from "@meridian/runtime";
import { parseDocument } from "yaml";
import { type DecodedJson, decodeJson, encodeJson, JsonTextError } from "../json/json-text.ts";
import { parseMediaType } from "./media-type.ts";

/** Largest request body. */
export const requestBodyBytesMax: number = 3 * 1024 * 1024;

const bodyTypes = ["application/json", "application/yaml"];

/**
 * Decodes the body of a write: JSON, or YAML where the content type says so.
 *
 * @throws StatusError 400, 413, 415.
 */
export function decodeBody(request: HttpRequest): DecodedJson {
  const contentType = request.headers["content-type"];
  const type = contentType === undefined || contentType === "" ? "application/json" : parseMediaType(contentType).type;
  const text = bodyText(request);
  if (type === "application/json") return decodeJsonText(text);
  if (type === "application/yaml") return decodeYamlText(text);
  throw unsupportedMediaType(bodyTypes);
}

/** The body as text. @throws StatusError 400, 413. */
export function bodyText(request: HttpRequest): string {
  if (request.body.length > requestBodyBytesMax) {
    throw requestEntityTooLarge(`limit is ${requestBodyBytesMax}`);
  }
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
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, merge: true });
  const problem = document.errors[0];
  if (problem !== undefined) throw badRequest(`error decoding YAML: ${problem.message.split("\n")[0] ?? ""}`);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw badRequest(`error decoding YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  // Through JSON once more: it applies the limits, and turns what only YAML has (dates, sets) into JSON.
  return decodeJsonText(encodeJson(value ?? null));
}
