import { isIP } from "node:net";
import { resolve } from "node:path";
import { networkFromText } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from "yaml";
import type { NamedFile } from "./dns-settings.ts";

const problemsMax = 100;

/**
 * A configuration file in YAML (JSON is YAML, too), and everything that is wrong with it: each problem is a line with the
 * file, the line number and the path of the key. No message quotes a value that could be secret.
 */
export class ConfigText {
  readonly problems: string[] = [];
  readonly root: ConfigValue;
  /** What paths in the file are relative to. */
  readonly folder: string;
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;

  /** @param options.file how messages call the file */
  constructor(text: string, options: { readonly file: string; readonly folder: string }) {
    this.#file = options.file;
    this.folder = options.folder;
    const document = parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: false,
    });
    this.#document = document;
    // What follows a colon may be a piece of the text.
    for (const { message, pos } of document.errors)
      this.report(this.place("", pos[0]), `this is not YAML: ${message.split(":")[0]}`);
    this.root = new ConfigValue(this, { node: document.contents, path: "", offset: 0 });
  }

  /** Where something is, as messages begin: `dns.yaml:12: zones[0].file`. */
  place(path: string, offset: number): string {
    const { line } = this.#lines.linePos(offset);
    return `${this.#file}:${Math.max(1, line)}${path === "" ? "" : `: ${path}`}`;
  }

  report(place: string, message: string): void {
    if (this.problems.length < problemsMax) this.problems.push(`${place}: ${message}`);
  }

  resolve(node: unknown): unknown {
    return isAlias(node) ? node.resolve(this.#document) : node;
  }
}

interface ConfigPlace {
  readonly node: unknown;
  readonly path: string;
  readonly offset: number;
}

/** One value of the file. Each reader returns `undefined`, or nothing, where the value is not of its kind, and says so. */
export class ConfigValue {
  readonly #source: ConfigText;
  readonly #node: unknown;
  readonly #path: string;
  readonly #offset: number;

  constructor(source: ConfigText, { node, path, offset }: ConfigPlace) {
    this.#source = source;
    this.#node = source.resolve(node);
    this.#path = path;
    this.#offset = (node as Node | null | undefined)?.range?.[0] ?? offset;
  }

  /** How messages about this value begin. */
  get at(): string {
    return this.#source.place(this.#path, this.#offset);
  }

  /** Says what is wrong with it and what to do. */
  problem(message: string): undefined {
    this.#source.report(this.at, message);
    return undefined;
  }

  /** Whether it is just this word, or `false`. */
  isOff(): boolean {
    return isScalar(this.#node) && (this.#node.value === "off" || this.#node.value === false);
  }

  /** The values by key; keys that are not known are problems. */
  fields(known: readonly string[]): ReadonlyMap<string, ConfigValue> {
    const found = new Map<string, ConfigValue>();
    if (!isMap(this.#node)) {
      this.problem(`must have keys and values; known are ${known.join(", ")}`);
      return found;
    }
    for (const { key, value } of this.#node.items) {
      const name = isScalar(key) ? String(key.value) : "";
      const offset = (key as Node | null)?.range?.[0] ?? this.#offset;
      const path = this.#path === "" ? name : `${this.#path}.${name}`;
      const field = new ConfigValue(this.#source, { node: value, path, offset });
      const place = this.#source.place(path, offset);
      if (!known.includes(name))
        this.#source.report(place, `there is no such key; known are ${known.join(", ")}`);
      else if (found.has(name)) this.#source.report(place, "is there twice; keep one");
      // An empty value is as if the key were not there, so that a line can be emptied.
      else if (!field.#isEmpty()) found.set(name, field);
    }
    return found;
  }

  /** The values of a list. */
  items(): readonly ConfigValue[] {
    if (!isSeq(this.#node)) {
      this.problem("must be a list; begin each entry with - or write [ ] around them");
      return [];
    }
    return this.#node.items.map(
      (node, index) =>
        new ConfigValue(this.#source, { node, path: `${this.#path}[${index}]`, offset: this.#offset }),
    );
  }

  /** The texts of a list. */
  texts(): readonly string[] {
    return this.items().flatMap((item) => item.text() ?? []);
  }

  /** A text that is not empty; a number counts as written. */
  text(): string | undefined {
    const node = this.#node;
    if (isScalar(node)) {
      if (typeof node.value === "string" && node.value !== "") return node.value;
      if (typeof node.value === "number") return node.source ?? String(node.value);
    }
    return this.problem("must be a text");
  }

  number(bounds: {
    readonly min: number;
    readonly max: number;
    readonly whole?: boolean;
  }): number | undefined {
    const { min, max, whole = true } = bounds;
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    if (typeof value === "number" && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return value;
    return this.problem(`must be a ${whole ? "whole " : ""}number from ${min} to ${max}`);
  }

  boolean(): boolean | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    return typeof value === "boolean" ? value : this.problem("must be true or false");
  }

  oneOf<T extends string>(values: readonly T[]): T | undefined {
    const value = isScalar(this.#node) ? this.#node.value : undefined;
    return values.find((one) => one === value) ?? this.problem(`must be one of ${values.join(", ")}`);
  }

  /** The path of a file or folder, made absolute. */
  file(): NamedFile | undefined {
    const path = this.text();
    return path === undefined ? undefined : { path: resolve(this.#source.folder, path), at: this.at };
  }

  /** `192.0.2.1:53` or `[2001:db8::1]:53`. */
  endpoint(): Endpoint | undefined {
    const value = isScalar(this.#node) ? String(this.#node.value) : "";
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(value) ?? [];
    const address = bracketed ?? plain ?? "";
    if (isIP(address) !== 0 && Number(port) <= 65_535) return { address, port: Number(port) };
    return this.problem("must be an address and a port, for example 192.0.2.1:53 or [2001:db8::1]:53");
  }

  /** A network or one address, as text. */
  network(): string | undefined {
    const text = this.text();
    if (text === undefined) return undefined;
    const network = networkFromText(text);
    return typeof network === "string" ? this.problem(network) : text;
  }

  #isEmpty(): boolean {
    return this.#node === null || (isScalar(this.#node) && this.#node.value === null);
  }
}
