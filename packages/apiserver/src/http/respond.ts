import type { Status } from "@meridian/kube";
import type { HttpResponse } from "@meridian/runtime";
import { stringify } from "yaml";
import { encodeJson } from "../json/json-text.ts";
import { type AcceptedForm, plainJson } from "./negotiation.ts";
import type { Warnings } from "./warnings.ts";

const encoder = new TextEncoder();

/** Answers a value in the form that was negotiated. */
export function respond(
  status: number,
  value: unknown,
  options: { readonly form?: AcceptedForm; readonly warnings?: Warnings } = {},
): HttpResponse {
  const form = options.form ?? plainJson;
  const text = form.syntax === "yaml" ? stringify(value) : `${encodeJson(value)}\n`;
  return respondText(status, text, {
    contentType: form.contentType,
    ...(options.warnings && { warnings: options.warnings }),
  });
}

/** Answers a text as it is. Nothing here may be cached: the next request may be another user's. */
export function respondText(
  status: number,
  text: string,
  options: { readonly contentType: string; readonly warnings?: Warnings },
): HttpResponse {
  const warning = options.warnings?.header();
  return {
    status,
    headers: {
      "content-type": options.contentType,
      "cache-control": "no-cache, private",
      ...(warning !== undefined && { warning }),
    },
    body: encoder.encode(text),
  };
}

/** Answers a failure. `Retry-After` repeats what the Status says, since clients read the header. */
export function respondStatus(status: Status, warnings?: Warnings): HttpResponse {
  const response = respond(status.code, status, { ...(warnings && { warnings }) });
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  if (retryAfter === 0) return response;
  return { ...response, headers: { ...response.headers, "retry-after": String(retryAfter) } };
}
