import type { HttpClientRequest, Runtime } from "@meridian/runtime";
import { deadlineSignal } from "../../deadline-signal.ts";

/** Tokens of an OpenID provider. */
export interface OidcTokens {
  readonly idToken?: string;
  readonly refreshToken?: string;
}

/** An OpenID provider, and as which of its clients to ask it. */
export interface OidcIssuer {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly caPem?: string;
}

const deadlineMs = 30_000;
const answerBytesMax = 1024 * 1024;

/**
 * Gets a new id token for a refresh token (OpenID Connect Core 1.0 §12), at the token endpoint that the provider's
 * configuration names (OpenID Connect Discovery 1.0 §4).
 *
 * @throws Error that says what the provider answered, without tokens
 */
export async function refreshIdToken(
  runtime: Pick<Runtime, "clock" | "network">,
  issuer: OidcIssuer,
  options: { readonly refreshToken: string; readonly signal: AbortSignal },
): Promise<OidcTokens> {
  using deadline = deadlineSignal(runtime.clock, {
    signal: options.signal,
    ms: deadlineMs,
    reason: () => new Error(`${issuer.url} did not answer within ${deadlineMs} ms`),
  });
  const { signal } = deadline;
  const base = issuer.url.replace(/\/$/, "");
  const ask = (url: string, request: Partial<HttpClientRequest>): Promise<Record<string, unknown>> =>
    askJson(runtime, { url, caPem: issuer.caPem }, { signal, ...request });

  const { token_endpoint: endpoint } = await ask(`${base}/.well-known/openid-configuration`, {});
  if (typeof endpoint !== "string") throw new Error(`${issuer.url} names no token_endpoint`);
  const form = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: options.refreshToken,
    client_id: issuer.clientId,
    ...(issuer.clientSecret === undefined ? {} : { client_secret: issuer.clientSecret }),
  });
  const answer = await ask(endpoint, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new TextEncoder().encode(form.toString()),
  });
  const { id_token: idToken, refresh_token: refreshToken } = answer;
  if (typeof idToken !== "string") throw new Error(`${issuer.url} gave no id_token`);
  return { idToken, ...(typeof refreshToken === "string" ? { refreshToken } : {}) };
}

async function askJson(
  runtime: Pick<Runtime, "network">,
  server: { readonly url: string; readonly caPem: string | undefined },
  request: Partial<HttpClientRequest>,
): Promise<Record<string, unknown>> {
  const { origin, pathname, search } = new URL(server.url);
  await using http = runtime.network.httpClient({
    origin,
    ...(server.caPem === undefined ? {} : { tls: { caPem: server.caPem } }),
  });
  const response = await http.request({ method: "GET", target: pathname + search, ...request });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > answerBytesMax) throw new Error(`${origin}${pathname} answered too much`);
  }
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = undefined;
  }
  if (typeof answer !== "object" || answer === null) {
    throw new Error(`${origin}${pathname} answered HTTP ${response.status} without a JSON object`);
  }
  const fields = answer as Record<string, unknown>;
  if (response.status === 200) return fields;
  // RFC 6749 §5.2: `invalid_grant` is what a refresh token that was used before gets.
  throw new Error(
    `${origin}${pathname} answered HTTP ${response.status}: ${typeof fields["error"] === "string" ? fields["error"] : "no reason"}`,
  );
}
