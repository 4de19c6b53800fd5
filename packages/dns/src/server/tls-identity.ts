import type { Runtime, TlsServerIdentity } from "@meridian/runtime";
import type { WatchedFile } from "../geo/geo-source.ts";

/** Where a certificate and its key are, and who wants to know when they change. */
export interface TlsIdentityFilesOptions {
  readonly certificate: WatchedFile;
  readonly privateKey: WatchedFile;
  /** What is served when following begins. */
  readonly served: TlsServerIdentity;
  /** How often the files are looked at. Default 10,000. */
  readonly pollMs?: number;
  /** Takes a new pair: `DnsServer.setIdentity`. What it throws means that the pair does not fit; the one before stays. */
  readonly onIdentity: (identity: TlsServerIdentity) => void;
}

/**
 * Follows the files of a certificate, so that a renewed one is served without a restart. A pair that is half written does
 * not fit and is tried again at each look, until it does.
 */
export class TlsIdentityFiles implements AsyncDisposable {
  readonly #runtime: Runtime;
  readonly #options: TlsIdentityFilesOptions;
  #served: string;
  #complained: string | undefined;
  #cancel: (() => void) | undefined;
  #looking: Promise<void> | undefined;
  #closed = false;

  constructor(runtime: Runtime, options: TlsIdentityFilesOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#served = textOf(options.served);
    this.#schedule();
  }

  /** Looks at the files now, as a nudge (SIGHUP) asks for. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#looking;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#cancel = this.#runtime.clock.after(this.#options.pollMs ?? 10_000, () => {
      void this.look().then(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { certificate, privateKey, onIdentity } = this.#options;
    try {
      const identity = {
        certificatePem: textFrom(await certificate.read()),
        privateKeyPem: textFrom(await privateKey.read()),
      };
      if (this.#closed || textOf(identity) === this.#served) return;
      onIdentity(identity);
      this.#served = textOf(identity);
      this.#complained = undefined;
      this.#runtime.log.info("serving another certificate", { path: certificate.path });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === this.#complained) return;
      this.#complained = reason;
      this.#runtime.log.warn("the certificate before stays: the new one cannot be used", {
        path: certificate.path,
        error,
      });
    }
  }
}

function textFrom(octets: Uint8Array): string {
  return new TextDecoder().decode(octets);
}

function textOf({ certificatePem, privateKeyPem }: TlsServerIdentity): string {
  return `${certificatePem}\n${privateKeyPem}`;
}
