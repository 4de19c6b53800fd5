/** Names whose addresses are this cluster's targets; comma-separated. Wins over everything else. */
export const exposedHostnamesAnnotation = "k8gb.io/exposed-hostnames";
/** Addresses that are this cluster's targets; comma-separated. */
export const exposedAddressesAnnotation = "k8gb.io/exposed-ip-addresses";
/** The host, for references that name none. */
export const hostnameAnnotation = "k8gb.io/hostname";
/** Those of a Gslb that its reconcile reads. */
export const readAnnotations: readonly string[] = [
  exposedHostnamesAnnotation,
  exposedAddressesAnnotation,
  hostnameAnnotation,
];
/** Set on the Ingress that is made from an embedded spec. */
export const managedByLabel = "app.k8gb.io/managed-by";
