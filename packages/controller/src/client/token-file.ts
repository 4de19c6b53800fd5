import type { Clock, LocalSystem } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { sameCredential } from "./credential.ts";
import type { Credential, CredentialSource } from "./credential.ts";
import { RotatedFiles } from "./rotated-files.ts";

/** A bearer token in a file that is replaced from time to time, as the projected token of a Pod is. */
export class TokenFile implements CredentialSource {
  readonly #files: RotatedFiles;
  readonly #path: string;

  constructor(
    clock: Pick<Clock, "monotonicMs" | "sleep">,
    system: Pick<LocalSystem, "readFile">,
    path: string,
  ) {
    this.#path = path;
    this.#files = new RotatedFiles(clock, system, { paths: [path] });
  }

  current(): Promise<Credential> {
    return this.#credential(this.#files.current());
  }

  async renew(refused: Credential): Promise<boolean> {
    if (!sameCredential(await this.current(), refused)) return true;
    return !sameCredential(await this.#credential(this.#files.look()), refused);
  }

  async #credential(reading: Promise<readonly string[]>): Promise<Credential> {
    try {
      const [text = ""] = await reading;
      return { authorization: `Bearer ${text.trim()}` };
    } catch (cause) {
      throw new ControllerError(
        "CredentialUnavailable",
        `cannot read a token from ${this.#path}; see that the file is there and not empty`,
        { cause },
      );
    }
  }
}
