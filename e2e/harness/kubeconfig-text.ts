/** What a kubeconfig with one context says. */
export interface KubeconfigContent {
  /** `https://address:port` */
  readonly server: string;
  readonly caPem: string;
  readonly user: string;
  readonly credential:
    { readonly token: string } | { readonly certificatePem: string; readonly privateKeyPem: string };
}

/** A kubeconfig with everything inline. */
export function kubeconfigText({ server, caPem, user, credential }: KubeconfigContent): string {
  const identity =
    "token" in credential
      ? credential
      : {
          "client-certificate-data": base64(credential.certificatePem),
          "client-key-data": base64(credential.privateKeyPem),
        };
  // JSON is YAML.
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": user,
    clusters: [{ name: "cluster", cluster: { server, "certificate-authority-data": base64(caPem) } }],
    users: [{ name: user, user: identity }],
    contexts: [{ name: user, context: { cluster: "cluster", user } }],
  });
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
