import type { KubeObject } from "@meridian/kube";

/** DNS records in an object (external-dns' `dnsendpoints.externaldns.k8s.io`). */
export interface DnsEndpoint extends KubeObject {
  readonly spec?: { readonly endpoints?: readonly DnsEndpointRecord[] | null };
  readonly status?: { readonly observedGeneration?: number };
}

/** The targets of one name and record type. */
export interface DnsEndpointRecord {
  readonly dnsName?: string;
  readonly recordType?: string;
  readonly recordTTL?: number;
  readonly targets?: readonly string[] | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly setIdentifier?: string;
  readonly providerSpecific?: readonly { readonly name?: string; readonly value?: string }[];
}

/** The label (and annotation) that says which DNS server a DNSEndpoint is for, and the one it had in the legacy group. */
export const dnsTypeLabel = "k8gb.io/dnstype";
/** The same label in the legacy group. */
export const legacyDnsTypeLabel = "k8gb.absa.oss/dnstype";

/** Both the labels and the annotations of a DNSEndpoint that the clusters' own DNS servers answer from. */
export const localMarks: Readonly<Record<string, string>> = {
  [dnsTypeLabel]: "local",
  [legacyDnsTypeLabel]: "local",
};

/** Whether the clusters' own DNS servers answer from the object. */
export function isLocalDnsEndpoint(object: KubeObject): boolean {
  const labels = object.metadata.labels ?? {};
  return labels[dnsTypeLabel] === "local" || labels[legacyDnsTypeLabel] === "local";
}
