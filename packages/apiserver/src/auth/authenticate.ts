import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "@meridian/runtime";
import type { TokenIdentity, UserInfo } from "./identity.ts";

/** Finds out who sent a request; `undefined` without credentials that hold. */
export type Authenticate = (request: HttpRequest) => UserInfo | undefined;

/** Finds out whose a token is. */
export type IdentifyToken = (token: string) => UserInfo | undefined;

/** Knows the tokens given. */
export function tokenIdentifier(tokens: readonly TokenIdentity[]): IdentifyToken {
  const known = tokens.map(({ token, username, groups = [] }) => ({
    digest: digestOf(token),
    user: userOf(username, groups),
  }));
  return (token) => {
    // Digests are of one length, and all of them are compared: the time taken says nothing about the tokens.
    const digest = digestOf(token);
    let user: UserInfo | undefined;
    for (const identity of known) if (timingSafeEqual(identity.digest, digest)) user = identity.user;
    return user;
  };
}

/** Accepts bearer tokens that are known, and client certificates that the HTTP server has verified. */
export function authenticator(identify: IdentifyToken): Authenticate {
  return ({ clientCertificate, headers }) => {
    if (clientCertificate !== undefined && clientCertificate.commonName !== "") {
      return userOf(clientCertificate.commonName, clientCertificate.organizations);
    }
    const token = /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1];
    return token === undefined ? undefined : identify(token);
  };
}

function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}

function userOf(username: string, groups: readonly string[]): UserInfo {
  return { username, groups: [...new Set([...groups, "system:authenticated"])] };
}
