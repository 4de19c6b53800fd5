import type { Runtime } from "@meridian/runtime";
import { parse } from "yaml";
import { ControllerError } from "../controller-error.ts";
import type { ReadFile } from "./bearer-token.ts";
import { KubeClient } from "./kube-client.ts";
import type { KubeClientOptions } from "./kube-client.ts";

/** How to read a kubeconfig. */
export interface KubeconfigOptions {
  /** Default: the file's `current-context`. */
  readonly context?: string;
  /** Reads the files that the kubeconfig names, by their path as written there; needed only where it names some. */
  readonly readFile?: ReadFile;
  readonly userAgent?: string;
}

/** What a context of a kubeconfig says about the server and the user. */
export interface KubeconfigConnection extends KubeClientOptions {
  /** The context's default namespace. */
  readonly namespace: string;
}

/** Turns the text of a kubeconfig into a client of its current (or the named) context. */
export async function clientFromKubeconfig(
  runtime: Pick<Runtime, "clock" | "network">,
  text: string,
  options: KubeconfigOptions = {},
): Promise<KubeClient> {
  return new KubeClient(runtime, await connectionFromKubeconfig(text, options));
}

/**
 * Reads from a kubeconfig how to connect. Inline data win over files, and a token file over a token, as in client-go.
 *
 * @throws ControllerError `InvalidKubeconfig`, or `UnsupportedCredential` for exec and auth-provider plugins (this package
 * starts no processes) and for names with passwords (which API servers no longer accept).
 */
export async function connectionFromKubeconfig(
  text: string,
  options: KubeconfigOptions = {},
): Promise<KubeconfigConnection> {
  const config = parseKubeconfig(text);
  const contextName = options.context ?? config["current-context"] ?? "";
  if (contextName === "")
    throw invalid("it names no current context; set current-context or choose a context");
  const context = named(config.contexts, { list: "contexts", name: contextName, field: "context" });
  const cluster = named(config.clusters, { list: "clusters", name: context.cluster ?? "", field: "cluster" });
  const user =
    context.user === undefined || context.user === ""
      ? {}
      : named(config.users, { list: "users", name: context.user, field: "user" });
  if (cluster.server === undefined || cluster.server === "") {
    throw invalid(`cluster ${JSON.stringify(context.cluster)} has no server`);
  }
  checkCredential(user, context.user ?? "");

  const readPem = pemReader(options.readFile);
  const caPem = await readPem(cluster["certificate-authority-data"], cluster["certificate-authority"]);
  const certificatePem = await readPem(user["client-certificate-data"], user["client-certificate"]);
  const privateKeyPem = await readPem(user["client-key-data"], user["client-key"]);
  const serverName = cluster["tls-server-name"];
  const tls = {
    ...(caPem === undefined ? {} : { caPem }),
    ...(certificatePem === undefined ? {} : { certificatePem }),
    ...(privateKeyPem === undefined ? {} : { privateKeyPem }),
    ...(serverName === undefined || serverName === "" ? {} : { serverName }),
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecureSkipVerify: true } : {}),
  };
  return {
    origin: cluster.server,
    namespace: context.namespace ?? "default",
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    ...(user.token === undefined || user.token === "" ? {} : { token: user.token }),
    ...(user.tokenFile === undefined || user.tokenFile === "" ? {} : { tokenFile: user.tokenFile }),
    ...(options.readFile === undefined ? {} : { readFile: options.readFile }),
    ...(options.userAgent === undefined ? {} : { userAgent: options.userAgent }),
  };
}

/** The fields of `v1.Config` that are read here, as client-go names them. All of them may be absent. */
interface Kubeconfig {
  readonly "current-context"?: string;
  readonly contexts?: readonly Named[];
  readonly clusters?: readonly Named[];
  readonly users?: readonly Named[];
}

type Named = { readonly name?: string } & { readonly [field: string]: Entry | string | undefined };

interface Entry {
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
  readonly server?: string;
  readonly "certificate-authority-data"?: string;
  readonly "certificate-authority"?: string;
  readonly "insecure-skip-tls-verify"?: boolean;
  readonly "tls-server-name"?: string;
  readonly "client-certificate-data"?: string;
  readonly "client-certificate"?: string;
  readonly "client-key-data"?: string;
  readonly "client-key"?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly exec?: { readonly command?: string };
  readonly "auth-provider"?: { readonly name?: string };
}

function parseKubeconfig(text: string): Kubeconfig {
  let config: unknown;
  try {
    config = parse(text);
  } catch (cause) {
    // The parser quotes the line at fault, which may hold a token or a key: its words stay out of the message.
    const line = (cause as { readonly linePos?: readonly { readonly line: number }[] }).linePos?.[0]?.line;
    throw invalid(`it is not YAML${line === undefined ? "" : ` (line ${line})`}`);
  }
  if (typeof config !== "object" || config === null || Array.isArray(config))
    throw invalid("it is no YAML mapping");
  return config;
}

interface Wanted {
  readonly list: string;
  readonly name: string;
  readonly field: string;
}

function named(list: readonly Named[] | undefined, wanted: Wanted): Entry {
  const entries = Array.isArray(list) ? (list as readonly Named[]) : [];
  const entry = entries.find((candidate) => candidate?.name === wanted.name)?.[wanted.field];
  if (typeof entry === "object" && entry !== null) return entry;
  const known = entries.map((candidate) => candidate?.name ?? "").join(", ");
  throw invalid(
    `${wanted.list} has no ${JSON.stringify(wanted.name)}; it has: ${known === "" ? "nothing" : known}`,
  );
}

function checkCredential(user: Entry, name: string): void {
  const plugin =
    user.exec !== undefined && user.exec !== null
      ? `an exec plugin (${user.exec.command ?? "no command"})`
      : user["auth-provider"] !== undefined && user["auth-provider"] !== null
        ? `the auth provider ${user["auth-provider"].name ?? ""}`
        : user.username !== undefined && user.username !== ""
          ? "a name and a password"
          : undefined;
  if (plugin === undefined) return;
  throw new ControllerError(
    "UnsupportedCredential",
    `user ${JSON.stringify(name)} of the kubeconfig logs in with ${plugin}, which is not supported; use a token, a token file or a client certificate`,
  );
}

/** Reads one PEM text from base64 or from the file that stands in for it. */
function pemReader(
  readFile: ReadFile | undefined,
): (data: string | undefined, path: string | undefined) => Promise<string | undefined> {
  return async (data, path) => {
    if (data !== undefined && data !== "") return Buffer.from(data, "base64").toString("utf8");
    if (path === undefined || path === "") return undefined;
    if (readFile === undefined)
      throw invalid(`it names the file ${path}, and no way to read files was given`);
    try {
      return new TextDecoder().decode(await readFile(path));
    } catch (cause) {
      throw invalid(`the file ${path} that it names cannot be read`, { cause });
    }
  };
}

function invalid(what: string, options?: ErrorOptions): ControllerError {
  return new ControllerError("InvalidKubeconfig", `cannot use the kubeconfig: ${what}`, options);
}
