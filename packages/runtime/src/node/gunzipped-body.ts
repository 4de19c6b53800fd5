import { once } from "node:events";
import { createGunzip } from "node:zlib";
import type { Gunzip } from "node:zlib";

import type { HttpBody, HttpClientResponse } from "../network.ts";
import { networkFailure } from "./network-failure.ts";
import { plainOctets } from "./octets.ts";

/** Octets that come out at once: fewer and larger pieces cost less, and a reader of objects wants several in each. */
const chunkBytes = 128 * 1024;

/** The answer with its body unpacked, where the server has packed it; else the same. `attempt` is for errors. */
export function gunzipped(response: HttpClientResponse, attempt: string): HttpClientResponse {
  const { "content-encoding": encoding, "content-length": _, ...headers } = response.headers;
  if (encoding?.toLowerCase() !== "gzip") return response;
  return { ...response, headers, body: gunzippedBody(response.body, attempt) };
}

function gunzippedBody(body: HttpBody, attempt: string): HttpBody {
  return {
    async *[Symbol.asyncIterator]() {
      const gunzip = createGunzip({ chunkSize: chunkBytes });
      const feeding = feed(body, gunzip);
      try {
        for await (const chunk of gunzip as AsyncIterable<Uint8Array>) yield plainOctets(chunk);
      } catch (error) {
        throw await causeOf(feeding, networkFailure(attempt, error));
      } finally {
        gunzip.destroy(); // which ends the feeding, too
        await feeding.catch(() => {});
      }
      await feeding;
    },
    async drain(take) {
      const gunzip = createGunzip({ chunkSize: chunkBytes });
      const feeding = feed(body, gunzip);
      let refusal: { readonly reason: unknown } | undefined;
      gunzip.on("data", (chunk: Uint8Array) => {
        if (refusal !== undefined) return;
        try {
          take(plainOctets(chunk));
        } catch (reason) {
          refusal = { reason };
          gunzip.destroy();
        }
      });
      let failure: unknown;
      gunzip.once("error", (error) => (failure = error));
      await once(gunzip, "close").catch(() => {});
      if (refusal === undefined && failure !== undefined) {
        throw await causeOf(feeding, networkFailure(attempt, failure));
      }
      await feeding.catch((error: unknown) => (failure = error));
      if (refusal !== undefined) throw refusal.reason;
      if (failure !== undefined) throw failure;
    },
  };
}

/** What the server's own stream failed with comes first; that its packing is cut short is only what follows from it. */
async function causeOf(feeding: Promise<void>, otherwise: unknown): Promise<unknown> {
  return feeding.then(
    () => otherwise,
    (error: unknown) => error,
  );
}

/** Hands the body to the unpacking as fast as that takes it. Resolves when it was handed over, or is not wanted any more. */
async function feed(body: HttpBody, gunzip: Gunzip): Promise<void> {
  try {
    for await (const chunk of body) {
      if (gunzip.destroyed) return;
      if (!gunzip.write(chunk)) await drained(gunzip);
    }
    if (!gunzip.destroyed) gunzip.end();
  } catch (error) {
    gunzip.destroy();
    throw error;
  }
}

/** Resolves when there is room again, or never will be. */
function drained(gunzip: Gunzip): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      gunzip.off("drain", done).off("close", done);
      resolve();
    };
    gunzip.on("drain", done).on("close", done);
  });
}
