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

/** Makes a Gslb of an Ingress: the type of its strategy. */
export const strategyAnnotation = "k8gb.io/strategy";
/** The primary cluster of a Gslb that is made of an Ingress. */
export const primaryAnnotation = "k8gb.io/primary-geotag";
/** The TTL in seconds of a Gslb that is made of an Ingress. */
export const ttlAnnotation = "k8gb.io/dns-ttl-seconds";
/** Those of an Ingress from which a Gslb is made. */
export const ingressAnnotations: readonly string[] = [
  strategyAnnotation,
  primaryAnnotation,
  ttlAnnotation,
  exposedAddressesAnnotation,
];
