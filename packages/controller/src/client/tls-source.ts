import { X509Certificate, createPrivateKey } from "node:crypto";
import type { Clock, HttpClientOptions, LocalSystem } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { RotatedFiles } from "./rotated-files.ts";

/** Whom a client trusts, and as whom it connects, as PEM texts. */
export type TlsSettings = NonNullable<HttpClientOptions["tls"]>;

/** Where a connection takes its trust and identity from. Asked before each request, so it answers from memory. */
export interface TlsSource {
  /** The same object as long as nothing changes. @throws ControllerError `CredentialUnavailable` */
  current(): Promise<TlsSettings>;
  /** A connection could not be made with what `current` gave. */
  expire(): void;
}

/** Settings that never change. */
export function fixedTls(settings: TlsSettings): TlsSource {
  return { current: () => Promise.resolve(settings), expire() {} };
}

/** The PEM files of a connection; a text of the fixed settings stands in for a file that is not named. */
export interface TlsFilesOptions {
  readonly settings: TlsSettings;
  readonly files: Partial<Record<"caPem" | "certificatePem" | "privateKeyPem", string>>;
}

/** Trust and identity from files that are replaced from time to time: read again each minute, and after a failure. */
export class TlsFiles implements TlsSource {
  readonly #files: RotatedFiles;
  readonly #options: TlsFilesOptions;
  #read: readonly string[] = [];
  #settings: TlsSettings;

  constructor(
    clock: Pick<Clock, "monotonicMs" | "sleep">,
    system: Pick<LocalSystem, "readFile">,
    options: TlsFilesOptions,
  ) {
    this.#options = options;
    this.#settings = options.settings;
    this.#files = new RotatedFiles(clock, system, {
      paths: Object.values(options.files),
      isWhole: (texts) => texts.every((text) => text.trim() !== "") && isPair(this.#with(texts)),
    });
  }

  async current(): Promise<TlsSettings> {
    let texts: readonly string[];
    try {
      texts = await this.#files.current();
    } catch (cause) {
      const paths = Object.values(this.#options.files).join(", ");
      throw new ControllerError(
        "CredentialUnavailable",
        `cannot read ${paths}, which the kubeconfig names; see that they are there and not empty`,
        { cause },
      );
    }
    if (texts !== this.#read) {
      this.#read = texts;
      this.#settings = this.#with(texts);
    }
    return this.#settings;
  }

  expire(): void {
    this.#files.expire();
  }

  #with(texts: readonly string[]): TlsSettings {
    const read = Object.keys(this.#options.files).map((field, index) => [field, texts[index]]);
    return { ...this.#options.settings, ...Object.fromEntries(read) };
  }
}

/** False for a certificate with the key of another one, or half a file: a writer is between the two. */
function isPair({ certificatePem, privateKeyPem }: TlsSettings): boolean {
  if (certificatePem === undefined || privateKeyPem === undefined) return true;
  try {
    return new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(privateKeyPem));
  } catch {
    return false;
  }
}
