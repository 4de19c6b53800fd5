import { badRequest, isJsonObject } from "@meridian/kube";
import type { Revision } from "../storage/storage.ts";

/** Where the next page of a list begins. */
export interface ContinuePoint {
  /** The state that the pages are read from; absent to go on with the newest. */
  readonly revision: Revision | undefined;
  /** Key of the last item sent, relative to the collection's prefix. */
  readonly after: string;
}

/** Clients hand tokens back unread; they are safe in a URL. */
export function formatContinue(point: ContinuePoint): string {
  const token = { v: "meta.k8s.io/v1", rv: point.revision ?? -1, start: `${point.after}\0` };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/**
 * Reads a token. Whoever sends it may have made it up, so it must not lead out of the collection.
 *
 * @throws StatusError 400.
 */
export function parseContinue(token: string): ContinuePoint {
  const value = decodeToken(token);
  if (!isJsonObject(value)) throw notValid("it is no token of this server");
  const { v, rv, start } = value;
  if (v !== "meta.k8s.io/v1") throw notValid("its version is not meta.k8s.io/v1");
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0 || rv < -1)
    throw notValid("its resource version is none");
  if (typeof start !== "string" || start === "") throw notValid("it has no start");
  const after = start.endsWith("\0") ? start.slice(0, -1) : start;
  if (after.startsWith("/") || after.split("/").some((part) => part === ".." || part === ".")) {
    throw notValid("its start leads out of the collection");
  }
  return { revision: rv === -1 ? undefined : (rv as Revision), after };
}

function decodeToken(token: string): unknown {
  if (token.length > tokenCharactersMax || !/^[A-Za-z0-9_-]+$/.test(token))
    throw notValid("it is not base64url");
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw notValid("it does not decode");
  }
}

const tokenCharactersMax = 4_096;

function notValid(why: string): Error {
  return badRequest(`continue key is not valid: ${why}`);
}
