import type { Clock } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";

/** Reads a file that a kubeconfig or a Pod's service account names. Only the composition root knows files. */
export type ReadFile = (path: string) => Promise<Uint8Array>;

/** Where requests take their bearer token from. */
export interface BearerToken {
  /** The token to send now. @throws ControllerError `TokenUnavailable` where there is none to send. */
  current(): Promise<string>;
  /** The server refused the token. True if a new one may be had, so that trying once more makes sense. */
  refused(): boolean;
}

/** A token that never changes. */
export function fixedToken(token: string): BearerToken {
  return { current: () => Promise.resolve(token), refused: () => false };
}

/** A projected token lives for minutes; kubelet replaces it at 80 % of that. One look a minute is soon enough. */
const rereadAfterMs = 60_000;

/** A token in a file that is replaced from time to time. A file caught empty is never sent: the last good token is. */
export class TokenFile implements BearerToken {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #path: string;
  readonly #readFile: ReadFile;
  #token = "";
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonicMs">, path: string, readFile: ReadFile) {
    this.#clock = clock;
    this.#path = path;
    this.#readFile = readFile;
  }

  async current(): Promise<string> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#readAtMs < rereadAfterMs && this.#token !== "") return this.#token;
    try {
      const text = new TextDecoder().decode(await this.#readFile(this.#path)).trim();
      if (text === "") throw new Error("the file is empty");
      this.#token = text;
      this.#readAtMs = nowMs;
    } catch (cause) {
      if (this.#token !== "") return this.#token;
      throw new ControllerError(
        "TokenUnavailable",
        `cannot read a token from ${this.#path}; see that the file is there`,
        {
          cause,
        },
      );
    }
    return this.#token;
  }

  refused(): boolean {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
    return true;
  }
}
