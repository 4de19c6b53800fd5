import { DnsError, parseTsigKeyFile, type TsigKey, type WatchedFile } from "@meridian/dns";
import type { Runtime } from "@meridian/runtime";
import type { Rfc2136Config } from "../config/rfc2136-config.ts";
import { canonicalName } from "../decide/dns-name.ts";

/** Where the keys that sign updates of parent zones come from. */
export interface UpdateKeysOptions {
  readonly config: Pick<Rfc2136Config, "keyFile" | "keyNames" | "unsigned">;
  /** Opens the key file. Absent: there are no files, as in the simulator. */
  readonly openFile?: (path: string) => WatchedFile;
}

/** The keys that sign updates of parent zones: those of the key file, read anew when it changes, and those of Secrets. */
export class UpdateKeys {
  readonly #log: Runtime["log"];
  readonly #options: UpdateKeysOptions;
  readonly #file: WatchedFile | undefined;
  /** Of the file as it was looked at last; it is told once what is wrong with it. */
  #stamp: string | undefined = "not looked at";
  /** One read after the other: who asks for a key while the file is read waits for what is in it. */
  #reading: Promise<void> = Promise.resolve();
  #ofFile: readonly TsigKey[] = [];
  #ofSecrets: readonly TsigKey[] = [];

  constructor(runtime: Pick<Runtime, "log">, options: UpdateKeysOptions) {
    this.#log = runtime.log;
    this.#options = options;
    const { keyFile } = options.config;
    this.#file = keyFile === undefined ? undefined : options.openFile?.(keyFile);
  }

  /** Takes the keys that stand in Secrets now. */
  setSecretKeys(keys: readonly TsigKey[]): void {
    this.#ofSecrets = keys;
  }

  /** The key for a parent zone; `undefined` where updates go unsigned. Rejects, saying what to do, where there is none. */
  async keyFor(parentZone: string): Promise<TsigKey | undefined> {
    const { unsigned, keyNames, keyFile } = this.#options.config;
    if (unsigned) return undefined;
    await (this.#reading = this.#reading.then(() => this.#readFile()));
    const keys = [...this.#ofFile, ...this.#ofSecrets];
    const places = `a Secret labelled meridian/dns-keys=parent${keyFile === undefined ? "" : ` or ${keyFile}`}`;
    const wanted = keyNames.get(canonicalName(parentZone));
    if (wanted !== undefined) {
      const found = keys.find((key) => key.name === wanted);
      if (found === undefined)
        throw new Error(`there is no key ${wanted} for parent zone ${parentZone}; put it into ${places}`);
      return found;
    }
    const names = new Set(keys.map((key) => key.name));
    if (names.size === 0)
      throw new Error(
        `there is no key for parent zone ${parentZone}; put one into ${places}, as tsig-keygen writes it`,
      );
    if (names.size > 1)
      throw new Error(
        `there are the keys ${[...names].sort().join(", ")}; say in MERIDIAN_RFC2136_KEYS which is for parent zone ${parentZone}`,
      );
    return keys[0];
  }

  /** What cannot be read, as while it is written, leaves the keys of before. Never rejects. */
  async #readFile(): Promise<void> {
    if (this.#file === undefined) return;
    try {
      const stamp = await this.#file.stamp();
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      if (stamp === undefined) throw new DnsError("BadKey", "it is not there");
      this.#ofFile = parseTsigKeyFile(new TextDecoder().decode(await this.#file.read()));
    } catch (error) {
      // What a DnsError says of the text may be in words of the text, and the text is secret.
      const problem =
        error instanceof DnsError ? "it holds no keys as tsig-keygen writes them" : String(error);
      this.#log.error("the key file of updates cannot be used", { file: this.#file.path, problem });
    }
  }
}
