import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "@meridian/runtime";
import type { TokenIdentity, UserInfo } from "./identity.ts";

/** Finds out who sent a request; `undefined` without credentials that hold. */
export type Authenticate = (request: HttpRequest) => UserInfo | undefined;

/** Accepts the bearer tokens given, and client certificates that the HTTP server has verified. */
export function authenticator(tokens: readonly TokenIdentity[]): Authenticate {
  const known = tokens.map(({ token, username, groups = [] }) => ({
    digest: digestOf(token),
    user: userOf(username, groups),
  }));
  return ({ clientCertificate, headers }) => {
    if (clientCertificate !== undefined && clientCertificate.commonName !== "") {
      return userOf(clientCertificate.commonName, clientCertificate.organizations);
    }
    const token = /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1];
    if (token === undefined) return undefined;
    // Digests are of one length, and all of them are compared: the time taken says nothing about the tokens.
    const digest = digestOf(token);
    let user: UserInfo | undefined;
    for (const identity of known) if (timingSafeEqual(identity.digest, digest)) user = identity.user;
    return user;
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

function userOf(username: string, groups: readonly string[]): UserInfo {
  return { username, groups: [...new Set([...groups, "system:authenticated"])] };
}
