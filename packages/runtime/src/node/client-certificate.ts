import type { TLSSocket } from "node:tls";

import type { HttpRequest } from "../network.ts";

/** Who a verified client certificate speaks for; nothing where there is none or the CA does not vouch for it. */
export function clientCertificateOf(socket: TLSSocket): HttpRequest["clientCertificate"] {
  if (!socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (subject === undefined || typeof subject !== "object") return undefined;
  const [commonName] = textsOf(subject.CN);
  if (commonName === undefined) return undefined;
  return { commonName, organizations: textsOf(subject.O) };
}

/** A repeated attribute comes as an array, whatever the declared type says. */
function textsOf(attribute: unknown): readonly string[] {
  if (typeof attribute === "string") return [attribute];
  return Array.isArray(attribute) ? attribute.filter((value) => typeof value === "string") : [];
}
