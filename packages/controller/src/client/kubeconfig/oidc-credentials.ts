import { whileWaiting } from "@meridian/runtime";
import type { LocalSystem, Runtime } from "@meridian/runtime";
import { parseDocument } from "yaml";
import { ControllerError } from "../../controller-error.ts";
import type { Credential, CredentialSource } from "../credential.ts";
import { sameCredential } from "../credential.ts";
import { invalidKubeconfig } from "./invalid-kubeconfig.ts";
import type { KubeconfigEntry } from "./kubeconfig-entry.ts";
import { refreshIdToken } from "./oidc-refresh.ts";
import type { OidcIssuer, OidcTokens } from "./oidc-refresh.ts";

/** A token that ends so soon is as good as over, as client-go has it. */
const expirySlackMs = 10_000;
/** Another process that renews the tokens of the same file has this long. */
const lockWaitMs = 10_000;
const lockPollMs = 100;
/** A provider that did not help is not asked again for the next request. */
const pauseMs = 1_000;

/** The tokens that a user of a kubeconfig logs in with, and where to renew them. @throws ControllerError `InvalidKubeconfig` */
export function oidcCredentialsOf(
  runtime: Pick<Runtime, "clock" | "network">,
  system: LocalSystem,
  from: { readonly user: KubeconfigEntry; readonly provider: KubeconfigEntry },
): CredentialSource {
  const { user, provider } = from;
  const config = provider.entry("config");
  const url = config?.text("idp-issuer-url");
  const clientId = config?.text("client-id");
  if (config === undefined || url === undefined || clientId === undefined) {
    throw provider.invalid("its config lacks idp-issuer-url or client-id");
  }
  const clientSecret = config.text("client-secret");
  const caPem = config.decoded("idp-certificate-authority-data");
  const caFile = config.file("idp-certificate-authority");
  return new OidcCredentials(runtime, system, {
    userName: user.place.name,
    path: user.place.path,
    tokens: tokensOf(config),
    issuer: {
      url,
      clientId,
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(caPem === undefined ? {} : { caPem }),
    },
    caFile,
  });
}

interface OidcOptions {
  readonly userName: string;
  /** The kubeconfig that the tokens stand in. */
  readonly path: string | undefined;
  readonly tokens: OidcTokens;
  readonly issuer: OidcIssuer;
  readonly caFile: string | undefined;
}

/**
 * Logs in with an id token of an OpenID provider, and renews it with the refresh token beside it. Many providers take a
 * refresh token only once. So the kubeconfig is locked (`<file>.lock`, as kubectl does it) and read again before: perhaps
 * somebody else has renewed. And the new tokens are written to it after, or the next process would be locked out. Tokens
 * that came without a file are never renewed.
 */
class OidcCredentials implements CredentialSource {
  readonly #runtime: Pick<Runtime, "clock" | "network">;
  readonly #system: LocalSystem;
  readonly #options: OidcOptions;
  readonly #closing = new AbortController();
  #tokens: OidcTokens;
  /** A refresh token that could not be written: the one in the file is used up. */
  #unwritten: string | undefined;
  #renewing: Promise<OidcTokens> | undefined;
  #failure: { readonly error: unknown; readonly atMs: number } | undefined;

  constructor(runtime: Pick<Runtime, "clock" | "network">, system: LocalSystem, options: OidcOptions) {
    this.#runtime = runtime;
    this.#system = system;
    this.#options = options;
    this.#tokens = options.tokens;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    if (this.#isGood(this.#tokens)) return credentialOf(this.#tokens);
    return credentialOf(await whileWaiting(this.#renewOnce(), signal));
  }

  async renew(refused: Credential, signal: AbortSignal): Promise<boolean> {
    if (!sameCredential(credentialOf(this.#tokens), refused)) return true;
    return !sameCredential(credentialOf(await whileWaiting(this.#renewOnce(), signal)), refused);
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error("the client was closed"));
  }

  #isGood({ idToken }: OidcTokens): boolean {
    if (idToken === undefined) return false;
    const expiresAtMs = expiryOf(idToken);
    return expiresAtMs === undefined || this.#runtime.clock.now() < expiresAtMs - expirySlackMs;
  }

  #renewOnce(): Promise<OidcTokens> {
    const { clock } = this.#runtime;
    const failure = this.#failure;
    if (failure !== undefined && clock.monotonicMs() - failure.atMs < pauseMs)
      return Promise.reject(failure.error);
    this.#renewing ??= this.#renew()
      .catch((error: unknown) => {
        this.#failure = { error, atMs: clock.monotonicMs() };
        throw error;
      })
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #renew(): Promise<OidcTokens> {
    const { path } = this.#options;
    if (path === undefined) {
      throw this.#failed(
        "it is over, and renewed tokens could not be kept; read the kubeconfig from its file",
      );
    }
    const unlock = await this.#lock(`${path}.lock`);
    try {
      const text = new TextDecoder().decode(await this.#system.readFile(path));
      const document = parseDocument(text);
      const at = this.#pathInside(document.toJS());
      const before = tokensIn(document.getIn(at, true));
      const renewedByOthers = before.idToken !== this.#tokens.idToken && this.#isGood(before);
      if (renewedByOthers) {
        this.#unwritten = undefined;
        return (this.#tokens = before);
      }
      const refreshToken = this.#unwritten ?? before.refreshToken;
      if (refreshToken === undefined) {
        throw this.#failed("it is over, and there is no refresh-token; log in again");
      }
      const fresh = await this.#askIssuer(refreshToken);
      document.setIn([...at, "id-token"], fresh.idToken);
      document.setIn([...at, "refresh-token"], fresh.refreshToken ?? refreshToken);
      this.#tokens = fresh;
      this.#unwritten = fresh.refreshToken;
      await this.#system.replaceFile(path, new TextEncoder().encode(document.toString()));
      this.#unwritten = undefined;
      return fresh;
    } catch (cause) {
      if (cause instanceof ControllerError) throw cause;
      throw this.#failed(cause instanceof Error ? cause.message : String(cause), cause);
    } finally {
      await unlock();
    }
  }

  async #askIssuer(refreshToken: string): Promise<OidcTokens> {
    const { issuer, caFile } = this.#options;
    const caPem =
      issuer.caPem ??
      (caFile === undefined ? undefined : new TextDecoder().decode(await this.#system.readFile(caFile)));
    return refreshIdToken(
      this.#runtime,
      { ...issuer, ...(caPem === undefined ? {} : { caPem }) },
      { refreshToken, signal: this.#closing.signal },
    );
  }

  /** Where the config of this user is in the file. */
  #pathInside(config: unknown): readonly (string | number)[] {
    const { users } = (config ?? {}) as { readonly users?: readonly { readonly name?: unknown }[] };
    const index = users?.findIndex((user) => user.name === this.#options.userName) ?? -1;
    if (index < 0) throw this.#failed("it has gone from its kubeconfig");
    return ["users", index, "user", "auth-provider", "config"];
  }

  async #lock(file: string): Promise<() => Promise<void>> {
    const { clock } = this.#runtime;
    const endsAtMs = clock.monotonicMs() + lockWaitMs;
    while (!(await this.#system.createFile(file))) {
      if (clock.monotonicMs() >= endsAtMs) {
        throw this.#failed(
          `${file} has been there for ${lockWaitMs / 1000} s; remove it if nobody renews tokens`,
        );
      }
      await clock.sleep(lockPollMs, this.#closing.signal);
    }
    return () => this.#system.removeFile(file);
  }

  #failed(what: string, cause?: unknown): ControllerError {
    return new ControllerError(
      "CredentialUnavailable",
      `cannot renew the id token of user ${JSON.stringify(this.#options.userName)}: ${what}`,
      cause === undefined ? {} : { cause },
    );
  }
}

function credentialOf({ idToken }: OidcTokens): Credential {
  return idToken === undefined ? {} : { authorization: `Bearer ${idToken}` };
}

function tokensOf(config: KubeconfigEntry): OidcTokens {
  const idToken = config.text("id-token");
  const refreshToken = config.text("refresh-token");
  return {
    ...(idToken === undefined ? {} : { idToken }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  };
}

/** The same from a part of a YAML document. */
function tokensIn(node: unknown): OidcTokens {
  const toJson = (node as { readonly toJSON?: () => unknown } | undefined)?.toJSON;
  const fields = (toJson?.call(node) ?? {}) as Readonly<Record<string, unknown>>;
  const { "id-token": idToken, "refresh-token": refreshToken } = fields;
  return {
    ...(typeof idToken === "string" ? { idToken } : {}),
    ...(typeof refreshToken === "string" && refreshToken !== "" ? { refreshToken } : {}),
  };
}

/** When a JSON Web Token ends, by the wall clock (RFC 7519 §4.1.4); `undefined` where it does not say. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    const { exp } = claims as { readonly exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    throw invalidKubeconfig("an id-token is no JSON Web Token");
  }
}
