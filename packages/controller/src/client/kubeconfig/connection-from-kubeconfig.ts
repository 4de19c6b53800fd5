import type { LocalSystem, Runtime } from "@meridian/runtime";
import { ControllerError } from "../../controller-error.ts";
import type { Impersonation, KubeClientOptions } from "../client-options.ts";
import { fixedCredential } from "../credential.ts";
import { KubeClient } from "../kube-client.ts";
import { TlsFiles } from "../tls-source.ts";
import type { TlsSettings, TlsSource } from "../tls-source.ts";
import { TokenFile } from "../token-file.ts";
import { environmentProxy } from "./environment-proxy.ts";
import { execCredentialsOf } from "./exec-plugin-entry.ts";
import { invalidKubeconfig } from "./invalid-kubeconfig.ts";
import { parseKubeconfig } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import type { KubeconfigEntry } from "./kubeconfig-entry.ts";
import { oidcCredentialsOf } from "./oidc-credentials.ts";

/** How to use a kubeconfig. */
export interface KubeconfigOptions extends Pick<
  KubeClientOptions,
  "userAgent" | "deadlineMs" | "rateLimit" | "onWarning"
> {
  /** Default: the file's `current-context`. */
  readonly context?: string;
  /** Reads the files and runs the plugins that the kubeconfig names, and tells of proxies; needed only for those. */
  readonly system?: LocalSystem;
}

/** A client of the kubeconfig's current (or the named) context. @throws ControllerError as `connectionFromKubeconfig` */
export function clientFromKubeconfig(
  runtime: Pick<Runtime, "clock" | "network">,
  kubeconfig: Kubeconfig | string,
  options: KubeconfigOptions = {},
): KubeClient {
  return new KubeClient(runtime, connectionFromKubeconfig(runtime, kubeconfig, options));
}

/**
 * What a context of a kubeconfig says about the server and the user. Inline data win over files, and a token file over a
 * token, as in client-go. Files are read, and plugins run, when the first request needs them.
 *
 * @throws ControllerError `InvalidKubeconfig`, or `UnsupportedCredential` for an auth provider other than `oidc` and for
 * a plugin that must talk to a person
 */
export function connectionFromKubeconfig(
  runtime: Pick<Runtime, "clock" | "network">,
  kubeconfig: Kubeconfig | string,
  options: KubeconfigOptions = {},
): KubeClientOptions {
  const config = typeof kubeconfig === "string" ? parseKubeconfig(kubeconfig) : kubeconfig;
  const context = contextOf(config, options.context);
  const cluster = named(config.clusters, "clusters", context.text("cluster") ?? "");
  const userName = context.text("user");
  const user = userName === undefined ? undefined : named(config.users, "users", userName);

  const tls = tlsOf(runtime, { cluster, user, system: options.system });
  const origin = originOf(cluster, tls !== undefined);
  const proxyUrl = proxyOf(cluster, { origin, system: options.system });
  const credentials = user === undefined ? {} : credentialsOf(runtime, { user, cluster, options });
  const impersonate = user === undefined ? undefined : impersonationOf(user);
  const { userAgent, deadlineMs, rateLimit, onWarning } = options;
  return {
    origin,
    namespace: context.text("namespace") ?? "default",
    ...(tls === undefined ? {} : { tls }),
    ...credentials,
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(impersonate === undefined ? {} : { impersonate }),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(onWarning === undefined ? {} : { onWarning }),
  };
}

function contextOf(config: Kubeconfig, wanted: string | undefined): KubeconfigEntry {
  const name = wanted ?? config.currentContext;
  if (name !== undefined && name !== "") return named(config.contexts, "contexts", name);
  throw invalidKubeconfig("it names no current context; set current-context or choose a context");
}

function named(entries: ReadonlyMap<string, KubeconfigEntry>, list: string, name: string): KubeconfigEntry {
  const entry = entries.get(name);
  if (entry !== undefined) return entry;
  const known = [...entries.keys()].join(", ");
  throw invalidKubeconfig(
    `${list} has no ${JSON.stringify(name)}; it has: ${known === "" ? "nothing" : known}`,
  );
}

/** Without a scheme, what is encrypted where there is something to encrypt with, as in client-go. */
function originOf(cluster: KubeconfigEntry, hasTls: boolean): string {
  const server = cluster.text("server");
  if (server === undefined) throw cluster.invalid("it has no server");
  const origin = server.includes("://") ? server : `${hasTls ? "https" : "http"}://${server}`;
  // They would not be sent, but stand in messages.
  if (server.includes("@")) throw cluster.invalid("server holds a name or a password; give them to its user");
  if (!URL.canParse(origin) || !/^https?:\/\//.test(origin)) {
    throw cluster.invalid(`${JSON.stringify(server)} is no server address like https://host:6443`);
  }
  return origin;
}

function proxyOf(
  cluster: KubeconfigEntry,
  from: { readonly origin: string; readonly system: LocalSystem | undefined },
): string | undefined {
  const own = cluster.text("proxy-url");
  if (own === undefined) {
    return from.system === undefined ? undefined : environmentProxy(from.system.environment, from.origin);
  }
  if (!URL.canParse(own) || !/^(https?|socks5h?):\/\//.test(own)) {
    throw cluster.invalid("proxy-url is no address like http://host:3128 or socks5://host:1080");
  }
  return own;
}

const pemFields = [
  ["cluster", "caPem", "certificate-authority"],
  ["user", "certificatePem", "client-certificate"],
  ["user", "privateKeyPem", "client-key"],
] as const;

function tlsOf(
  runtime: Pick<Runtime, "clock">,
  from: {
    readonly cluster: KubeconfigEntry;
    readonly user: KubeconfigEntry | undefined;
    readonly system: LocalSystem | undefined;
  },
): TlsSettings | TlsSource | undefined {
  const texts: Partial<Record<(typeof pemFields)[number][1], string>> = {};
  const files: typeof texts = {};
  for (const [part, setting, field] of pemFields) {
    const entry = from[part];
    const inline = entry?.decoded(`${field}-data`);
    const file = entry?.file(field);
    if (inline !== undefined) texts[setting] = inline;
    else if (file !== undefined) files[setting] = file;
  }
  const found = { ...texts, ...files };
  if ((found.certificatePem === undefined) !== (found.privateKeyPem === undefined)) {
    throw from.user?.invalid("it has a client certificate without its key, or the key without it");
  }
  const serverName = from.cluster.text("tls-server-name");
  const settings: TlsSettings = {
    ...texts,
    ...(serverName === undefined ? {} : { serverName }),
    ...(from.cluster.flag("insecure-skip-tls-verify") ? { insecureSkipVerify: true } : {}),
  };
  const [file] = Object.values(files);
  if (file !== undefined) {
    return new TlsFiles(runtime.clock, systemFor(from.system, `the file ${file}`), { settings, files });
  }
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** The first way to log in that the user has, in client-go's order. Two at once are a mistake that nobody may guess at. */
function credentialsOf(
  runtime: Pick<Runtime, "clock" | "network">,
  from: {
    readonly user: KubeconfigEntry;
    readonly cluster: KubeconfigEntry;
    readonly options: KubeconfigOptions;
  },
): Pick<KubeClientOptions, "token" | "credentials"> {
  const { user, cluster } = from;
  const { system } = from.options;
  const tokenFile = user.file("tokenFile");
  const token = user.text("token");
  const userName = user.text("username");
  const ways = [
    tokenFile !== undefined || token !== undefined ? "a token" : undefined,
    userName === undefined ? undefined : "a name and a password",
    user.has("exec") ? "an exec plugin" : undefined,
    user.has("auth-provider") ? "an auth provider" : undefined,
  ].filter((way) => way !== undefined);
  if (ways.length > 1) throw user.invalid(`it logs in with ${ways.join(" and with ")}; keep one of them`);

  if (tokenFile !== undefined) {
    const files = systemFor(system, `the file ${tokenFile}`);
    return { credentials: new TokenFile(runtime.clock, files, tokenFile) };
  }
  if (token !== undefined) return { token };
  if (userName !== undefined) {
    const pair = Buffer.from(`${userName}:${user.text("password") ?? ""}`).toString("base64");
    return { credentials: fixedCredential({ authorization: `Basic ${pair}` }) };
  }
  const exec = user.entry("exec");
  if (exec !== undefined) {
    const machine = systemFor(system, "an exec plugin");
    return { credentials: execCredentialsOf(runtime, machine, { exec, cluster }) };
  }
  const provider = user.entry("auth-provider");
  if (provider === undefined) return {};
  const name = provider.text("name") ?? "";
  if (name === "oidc") {
    const machine = systemFor(system, "tokens to renew");
    return { credentials: oidcCredentialsOf(runtime, machine, { user, provider }) };
  }
  throw new ControllerError(
    "UnsupportedCredential",
    `${user.place.label} of the kubeconfig logs in with the auth provider ${JSON.stringify(name)}, which Kubernetes has dropped; use its exec plugin`,
  );
}

function impersonationOf(user: KubeconfigEntry): Impersonation | undefined {
  const name = user.text("as");
  const uid = user.text("as-uid");
  const groups = user.texts("as-groups");
  const extra = user.entry("as-user-extra");
  if (name === undefined) {
    if (uid === undefined && groups.length === 0 && extra === undefined) return undefined;
    throw user.invalid("it has as-uid, as-groups or as-user-extra without as");
  }
  return {
    user: name,
    ...(uid === undefined ? {} : { uid }),
    groups,
    ...(extra === undefined
      ? {}
      : { extra: Object.fromEntries(extra.fields().map((field) => [field, extra.texts(field)])) }),
  };
}

function systemFor(system: LocalSystem | undefined, what: string): LocalSystem {
  if (system !== undefined) return system;
  throw invalidKubeconfig(`it names ${what}; give the option system, for example nodeLocalSystem()`);
}
