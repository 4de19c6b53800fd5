import type { Status, StatusDetails, StatusReason } from "@meridian/kube";
import type { HttpHeaders } from "@meridian/runtime";
import { ApiError } from "./api-error.ts";
import type { RequestSubject } from "./request-subject.ts";
import type { WireFormatOfKind } from "./wire-format.ts";

/** Longest piece of a foreign body that goes into an error's message. */
const excerptCharactersMax = 200;
/** Longest text of a Status that goes into an error. Those of API servers are shorter, and errors go into logs. */
const textCharactersMax = 32 * 1024;

/** An answer that is no success. */
export interface FailedResponse {
  readonly code: number;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
  readonly subject: RequestSubject;
  /** What the body comes in; JSON or anything else where it is absent. */
  readonly format?: WireFormatOfKind | undefined;
}

/** The error of an answer: with the Status in its body, or with one made from the code where something else answered. */
export function apiErrorOf(response: FailedResponse): ApiError {
  const found = checkedStatus(bodyOf(response)) ?? synthesisedStatus(response);
  const retryAfterSeconds = found.details?.retryAfterSeconds ?? retryAfterSecondsOf(response.headers);
  const status: Status = {
    ...found,
    code: response.code,
    ...(retryAfterSeconds === undefined ? {} : { details: { ...found.details, retryAfterSeconds } }),
  };
  const { subject } = response;
  return new ApiError({
    subject,
    reason: status.reason ?? "",
    message: status.message ?? "refused without a word",
    status,
  });
}

/** How long the server asked to be left alone; `undefined` where it did not. */
export function retryAfterMs(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  const status = error.status as { readonly details?: StatusDetails } | undefined;
  const seconds = status?.details?.retryAfterSeconds;
  return seconds === undefined || seconds <= 0 ? undefined : seconds * 1000;
}

/** What a body is as a value; `undefined` where it is none. */
function bodyOf({ body, format }: FailedResponse): unknown {
  try {
    return format === undefined ? JSON.parse(new TextDecoder().decode(body)) : format.readStatus(body);
  } catch {
    return undefined;
  }
}

/** The Status in a body, as far as its fields are what the API promises: whoever answers may be no API server. */
function checkedStatus(value: unknown): Status | undefined {
  if (typeof value !== "object" || value === null || (value as Status).kind !== "Status") return undefined;
  const { message, reason, details, ...rest } = value as { readonly [Field in keyof Status]?: unknown };
  return {
    ...(rest as Status),
    ...(typeof message === "string" ? { message: shortened(message) } : {}),
    ...(typeof reason === "string" ? { reason: shortened(reason) } : {}),
    ...(typeof details === "object" && details !== null ? { details: checkedDetails(details) } : {}),
  };
}

function checkedDetails(details: object): StatusDetails {
  const { causes, retryAfterSeconds, ...rest } = details as {
    readonly [Field in keyof StatusDetails]?: unknown;
  };
  return {
    ...(rest as StatusDetails),
    ...(Array.isArray(causes) ? { causes: causes as NonNullable<StatusDetails["causes"]> } : {}),
    ...(Number.isSafeInteger(retryAfterSeconds) ? { retryAfterSeconds: retryAfterSeconds as number } : {}),
  };
}

function shortened(text: string): string {
  return text.length <= textCharactersMax ? text : `${text.slice(0, textCharactersMax)}…`;
}

function synthesisedStatus({ code, body }: FailedResponse): Status {
  const text = new TextDecoder().decode(body).trim().replace(/\s+/g, " ").slice(0, excerptCharactersMax);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server answered HTTP ${code}${text === "" ? "" : `: ${text}`}`,
    ...(reasons.has(code) ? { reason: reasons.get(code) as StatusReason } : {}),
    code,
  };
}

/** The reason that a bare code stands for. 409 is left out: it may be a conflict or a name that is taken. */
const reasons: ReadonlyMap<number, StatusReason> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [404, "NotFound"],
  [405, "MethodNotAllowed"],
  [406, "NotAcceptable"],
  [410, "Expired"],
  [413, "RequestEntityTooLarge"],
  [415, "UnsupportedMediaType"],
  [422, "Invalid"],
  [429, "TooManyRequests"],
  [500, "InternalError"],
  [503, "ServiceUnavailable"],
  [504, "Timeout"],
]);

/** RFC 9110 §10.2.3. API servers send seconds; a date says only that there is a wait, taken as one second. */
function retryAfterSecondsOf(headers: HttpHeaders): number | undefined {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  return /^\d{1,6}$/.test(value) ? Number(value) : 1;
}
