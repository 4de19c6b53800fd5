import { whileWaiting } from "@meridian/runtime";
import type { Clock, CommandResult, LocalSystem } from "@meridian/runtime";
import { ControllerError } from "../../controller-error.ts";
import type { Credential, CredentialSource } from "../credential.ts";
import { sameCredential } from "../credential.ts";

/** A plugin of a kubeconfig that prints what to log in with. */
export interface ExecPlugin {
  /** `user "admin"`, for messages. */
  readonly label: string;
  /** A name to look up, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  /** What its author says to somebody who does not have it. */
  readonly installHint?: string;
  /** Told to the plugin where it wants to know the cluster. */
  readonly cluster?: () => Promise<object>;
}

interface Held {
  readonly credential: Credential;
  /** By the wall clock: ask for another one from now on. Absent: it lasts until the server refuses it. */
  readonly renewAtMs?: number;
}

/** A plugin may ask a cloud, but not for ever. */
const timeoutMs = 60_000;
/** A plugin that has just failed, or just been asked again, is not run for the next request: it would say the same. */
const pauseMs = 1000;
/** Longest piece of what a plugin complains about that goes into an error's message. */
const complaintCharactersMax = 500;

/**
 * Logs in with what a plugin prints (`client.authentication.k8s.io/v1`, KEP-541). It runs when there is nothing yet, when
 * nine tenths of the credential's life are over, and when the server has refused the credential; never twice at once.
 */
export class ExecCredentials implements CredentialSource {
  readonly #clock: Pick<Clock, "now" | "monotonicMs">;
  readonly #system: Pick<LocalSystem, "environment" | "runCommand">;
  readonly #plugin: ExecPlugin;
  readonly #closing = new AbortController();
  #held: Held | undefined;
  #failure: unknown;
  #endedAtMs = Number.NEGATIVE_INFINITY;
  /** When the plugin last ran since the server had refused what it gave before. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<Held> | undefined;

  constructor(
    clock: Pick<Clock, "now" | "monotonicMs">,
    system: Pick<LocalSystem, "environment" | "runCommand">,
    plugin: ExecPlugin,
  ) {
    this.#clock = clock;
    this.#system = system;
    this.#plugin = plugin;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    const held = this.#held;
    const due = held?.renewAtMs !== undefined && this.#clock.now() >= held.renewAtMs;
    if (held !== undefined && !due) return held.credential;
    try {
      return (await whileWaiting(this.#run(), signal)).credential;
    } catch (error) {
      // What is due to be renewed is still good for a while.
      if (held !== undefined && !signal.aborted) return held.credential;
      throw error;
    }
  }

  async renew(refused: Credential, signal: AbortSignal): Promise<boolean> {
    if (this.#held !== undefined && !sameCredential(this.#held.credential, refused)) return true;
    const nowMs = this.#clock.monotonicMs();
    if (this.#running === undefined && nowMs - this.#renewedAtMs < pauseMs) return false;
    this.#renewedAtMs = nowMs;
    const { credential } = await whileWaiting(this.#start(), signal);
    return !sameCredential(credential, refused);
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error("the client was closed"));
  }

  /** Runs the plugin, unless it has just run. */
  #run(): Promise<Held> {
    if (this.#running === undefined && this.#clock.monotonicMs() - this.#endedAtMs < pauseMs) {
      if (this.#failure !== undefined) return Promise.reject(this.#failure);
      if (this.#held !== undefined) return Promise.resolve(this.#held);
    }
    return this.#start();
  }

  #start(): Promise<Held> {
    this.#running ??= this.#ask()
      .then(
        (held) => {
          this.#failure = undefined;
          return (this.#held = held);
        },
        (error: unknown) => {
          this.#failure = error;
          throw error;
        },
      )
      .finally(() => {
        this.#endedAtMs = this.#clock.monotonicMs();
        this.#running = undefined;
      });
    return this.#running;
  }

  async #ask(): Promise<Held> {
    const { command, args, apiVersion, cluster } = this.#plugin;
    const spec = { interactive: false, ...(cluster === undefined ? {} : { cluster: await cluster() }) };
    const question = JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
    const inherited = Object.entries(this.#system.environment).filter(([, value]) => value !== undefined);
    let result: CommandResult;
    try {
      result = await this.#system.runCommand({
        file: command,
        args,
        environment: {
          ...(Object.fromEntries(inherited) as Record<string, string>),
          ...this.#plugin.environment,
          KUBERNETES_EXEC_INFO: question,
        },
        timeoutMs,
        signal: this.#closing.signal,
      });
    } catch (cause) {
      const missing = (cause as { readonly code?: unknown }).code === "ENOENT";
      throw this.#failed(missing ? "there is no such command" : messageOf(cause), { cause, missing });
    }
    if (result.exitCode !== 0) {
      const said = (result.stderr.trim().split("\n").at(-1) ?? "").slice(0, complaintCharactersMax);
      throw this.#failed(`it ended with exit code ${result.exitCode}${said === "" ? "" : `: ${said}`}`);
    }
    return this.#parse(result.stdout);
  }

  #parse(printed: string): Held {
    let answer: unknown;
    try {
      answer = JSON.parse(printed);
    } catch {
      // The parser would quote what was printed, which may be a token.
      throw this.#failed("what it printed is not JSON");
    }
    const { kind, apiVersion, status } = (answer ?? {}) as ExecCredentialAnswer;
    if (kind !== "ExecCredential") throw this.#failed("it did not print an ExecCredential");
    if (apiVersion !== this.#plugin.apiVersion) {
      throw this.#failed(
        `it speaks ${String(apiVersion)}, and the kubeconfig says ${this.#plugin.apiVersion}`,
      );
    }
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status ?? {};
    const hasToken = typeof token === "string" && token !== "";
    const hasCertificate = typeof clientCertificateData === "string" && clientCertificateData !== "";
    if (!hasToken && !hasCertificate) throw this.#failed("it printed neither a token nor a certificate");
    if (hasCertificate !== (typeof clientKeyData === "string" && clientKeyData !== "")) {
      throw this.#failed("it printed a certificate without its key, or a key without its certificate");
    }
    const credential = {
      ...(hasToken ? { authorization: `Bearer ${token}` } : {}),
      ...(hasCertificate
        ? { certificatePem: clientCertificateData, privateKeyPem: String(clientKeyData) }
        : {}),
    };
    // Without a time it lasts until it is refused; null is what some plugins print for no time.
    if (expirationTimestamp === undefined || expirationTimestamp === null || expirationTimestamp === "") {
      return { credential };
    }
    const expiresAtMs =
      typeof expirationTimestamp === "string" ? Date.parse(expirationTimestamp) : Number.NaN;
    if (Number.isNaN(expiresAtMs)) throw this.#failed("its expirationTimestamp is no time");
    const nowMs = this.#clock.now();
    return { credential, renewAtMs: nowMs + (expiresAtMs - nowMs) * 0.9 };
  }

  #failed(
    what: string,
    { cause, missing = false }: { readonly cause?: unknown; readonly missing?: boolean } = {},
  ): ControllerError {
    const { label, command, installHint } = this.#plugin;
    const hint = missing && installHint !== undefined ? `; its author says: ${installHint.trim()}` : "";
    return new ControllerError(
      "CredentialUnavailable",
      `the exec plugin ${command} of ${label} gave nothing to log in with: ${what}${hint}`,
      cause === undefined ? {} : { cause },
    );
  }
}

interface ExecCredentialAnswer {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
  readonly status?: {
    readonly token?: unknown;
    readonly clientCertificateData?: unknown;
    readonly clientKeyData?: unknown;
    readonly expirationTimestamp?: unknown;
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
