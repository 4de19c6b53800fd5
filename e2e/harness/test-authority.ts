import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { output } from "./command.ts";

/** A certificate with its private key: PEM texts, and the files that hold them. */
export interface IssuedIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  readonly certificateFile: string;
  readonly privateKeyFile: string;
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** A certificate authority of a test's own, made by `openssl`; everything is in one folder, and ends after a few days. */
export class TestAuthority {
  readonly certificateFile: string;
  readonly certificatePem: string;
  readonly #folder: string;

  private constructor(folder: string, certificatePem: string) {
    this.#folder = folder;
    this.certificateFile = path.join(folder, "ca.crt");
    this.certificatePem = certificatePem;
  }

  static async create(folder: string): Promise<TestAuthority> {
    const [certificate, privateKey] = [path.join(folder, "ca.crt"), path.join(folder, "ca.key")];
    await output("openssl", [
      ...["req", "-x509", ...newKey, "-days", "7", "-subj", "/CN=test authority"],
      ...["-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", privateKey, "-out", certificate],
    ]);
    return new TestAuthority(folder, await readFile(certificate, "utf8"));
  }

  /** For a server that is asked by these addresses. */
  issueServer(name: string, addresses: readonly string[]): Promise<IssuedIdentity> {
    const names = [...addresses.map((address) => `IP:${address}`), "DNS:localhost"].join(",");
    return this.#issue(name, {
      subject: `/CN=${name}`,
      usage: "serverAuth",
      names: `subjectAltName=${names}`,
    });
  }

  /** For a client: to Kubernetes the common name is the user, each organisation a group. */
  issueClient(name: string, groups: readonly string[]): Promise<IssuedIdentity> {
    const subject = [`/CN=${name}`, ...groups.map((group) => `/O=${group}`)].join("");
    return this.#issue(name, { subject, usage: "clientAuth" });
  }

  async #issue(
    name: string,
    wanted: { readonly subject: string; readonly usage: string; readonly names?: string },
  ): Promise<IssuedIdentity> {
    const certificateFile = path.join(this.#folder, `${name}.crt`);
    const privateKeyFile = path.join(this.#folder, `${name}.key`);
    await output("openssl", [
      ...["req", "-x509", ...newKey, "-days", "7", "-subj", wanted.subject],
      ...["-CA", this.certificateFile, "-CAkey", path.join(this.#folder, "ca.key")],
      ...["-addext", "basicConstraints=critical,CA:FALSE", "-addext", `extendedKeyUsage=${wanted.usage}`],
      ...(wanted.names === undefined ? [] : ["-addext", wanted.names]),
      ...["-keyout", privateKeyFile, "-out", certificateFile],
    ]);
    return {
      certificateFile,
      privateKeyFile,
      certificatePem: await readFile(certificateFile, "utf8"),
      privateKeyPem: await readFile(privateKeyFile, "utf8"),
    };
  }

  /** A pair of keys for signing, as the tokens of service accounts need it. */
  async signingKeys(
    name: string,
  ): Promise<{ readonly privateKeyFile: string; readonly publicKeyFile: string }> {
    const [privateKeyFile, publicKeyFile] = [`${name}.key`, `${name}.pub`].map((file) =>
      path.join(this.#folder, file),
    ) as [string, string];
    await output("openssl", [
      "genpkey",
      "-algorithm",
      "EC",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-out",
      privateKeyFile,
    ]);
    await writeFile(publicKeyFile, await output("openssl", ["pkey", "-in", privateKeyFile, "-pubout"]));
    return { privateKeyFile, publicKeyFile };
  }
}
