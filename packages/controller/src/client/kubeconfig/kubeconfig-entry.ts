import { invalidKubeconfig } from "./invalid-kubeconfig.ts";
import { resolvePath } from "./kubeconfig-path.ts";

/** Where an entry stands. */
export interface EntryPlace {
  /** `user "admin"`, for messages. */
  readonly label: string;
  readonly name: string;
  readonly path?: string;
  readonly folder?: string;
}

/** One context, cluster or user of a kubeconfig: fields by name, checked when they are read. Empty texts count as absent. */
export class KubeconfigEntry {
  readonly place: EntryPlace;
  readonly #fields: Readonly<Record<string, unknown>>;

  /** @throws ControllerError `InvalidKubeconfig` where it is no mapping */
  constructor(fields: unknown, place: EntryPlace) {
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw invalidKubeconfig(`${place.label} is no mapping`, place);
    }
    this.#fields = fields as Readonly<Record<string, unknown>>;
    this.place = place;
  }

  has(field: string): boolean {
    const value = this.#fields[field];
    return value !== undefined && value !== null && value !== "";
  }

  /** @throws ControllerError `InvalidKubeconfig` where it is something else */
  text(field: string): string | undefined {
    const value = this.#fields[field];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") throw this.invalid(`${field} is no text; put it in quotes`);
    return value;
  }

  flag(field: string): boolean {
    const value = this.#fields[field];
    if (value !== undefined && value !== null && typeof value !== "boolean") {
      throw this.invalid(`${field} is neither true nor false`);
    }
    return value === true;
  }

  texts(field: string): readonly string[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
      throw this.invalid(`${field} is no list of texts`);
    }
    return value;
  }

  /** A file, relative to the kubeconfig's folder as written, with that folder as given back. */
  file(field: string): string | undefined {
    const path = this.text(field);
    return path === undefined ? undefined : resolvePath(this.place.folder, path);
  }

  /** The text behind a base64 field. */
  decoded(field: string): string | undefined {
    const value = this.text(field);
    return value === undefined ? undefined : Buffer.from(value, "base64").toString("utf8");
  }

  /** A mapping inside. */
  entry(field: string): KubeconfigEntry | undefined {
    const value = this.#fields[field];
    if (value === undefined || value === null) return undefined;
    return new KubeconfigEntry(value, { ...this.place, label: `${field} of ${this.place.label}` });
  }

  /** Mappings in a list inside. */
  items(field: string): readonly KubeconfigEntry[] {
    const value = this.#fields[field] ?? [];
    if (!Array.isArray(value)) throw this.invalid(`${field} is no list`);
    return value.map(
      (item: unknown) =>
        new KubeconfigEntry(item, { ...this.place, label: `an item of ${field} of ${this.place.label}` }),
    );
  }

  /** Any value as it stands there. */
  value(field: string): unknown {
    return this.#fields[field];
  }

  fields(): readonly string[] {
    return Object.keys(this.#fields);
  }

  invalid(what: string): Error {
    return invalidKubeconfig(`${this.place.label}: ${what}`, this.place);
  }
}
