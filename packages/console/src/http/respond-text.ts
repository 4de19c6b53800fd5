import type { HttpResponse } from "@meridian/runtime";

const encoder = new TextEncoder();

/** An answer of one line. */
export function respondText(status: number, text: string): HttpResponse {
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: encoder.encode(`${text}\n`),
  };
}

/** An answer in JSON. */
export function respondJson(status: number, value: unknown): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: encoder.encode(`${JSON.stringify(value)}\n`),
  };
}
