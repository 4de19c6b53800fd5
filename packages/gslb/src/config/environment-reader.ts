import { hostNameProblem } from "../decide/dns-name.ts";
import { isIpv4, isIpv6 } from "@meridian/kube";
import { settingDefinitions } from "./setting-definitions.ts";

const secretVariables = new Set(
  settingDefinitions.filter(({ isSecret }) => isSecret).map(({ variable }) => variable),
);

/** One thing wrong with the settings. */
export interface ConfigProblem {
  readonly variable: string;
  readonly value: string;
  /** One line: the variable, flag or place in a file, value, rule and an example. */
  readonly message: string;
}

/** A server named in the configuration: an address or a host name, and its port. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** Where settings came from: by variable, as it is to be called in a problem. A variable that is absent is called by its name. */
export type SettingOrigins = ReadonlyMap<string, string>;

/** Reads variables one by one and collects what is wrong with them, so that all problems are told at once. */
export class EnvironmentReader {
  readonly problems: ConfigProblem[] = [];
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #origins: SettingOrigins;

  constructor(
    environment: Readonly<Record<string, string | undefined>>,
    origins: SettingOrigins = new Map(),
  ) {
    this.#environment = environment;
    this.#origins = origins;
  }

  /** Reports a problem of a variable's value. `rule` reads on after "must ". */
  refuse(variable: string, rule: string, value: string = this.text(variable)): void {
    const isSecret = secretVariables.has(variable);
    const shown = isSecret ? "[hidden]" : JSON.stringify(value);
    const name = this.#origins.get(variable) ?? variable;
    this.problems.push({
      variable,
      value: isSecret ? "" : value,
      message: `${name} is ${shown}; it must ${rule}`,
    });
  }

  text(variable: string, fallback = ""): string {
    const value = this.#environment[variable];
    return value === undefined || value === "" ? fallback : value;
  }

  isSet(variable: string): boolean {
    return this.text(variable) !== "";
  }

  integer(variable: string, range: { fallback: number; min: number; max?: number }): number {
    const value = this.text(variable);
    if (value === "") return range.fallback;
    const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= range.min && number <= (range.max ?? Number.MAX_SAFE_INTEGER)) return number;
    const limits = range.max === undefined ? `of ${range.min} or more` : `from ${range.min} to ${range.max}`;
    this.refuse(variable, `be a whole number ${limits}, for example ${range.fallback}`);
    return range.fallback;
  }

  /** A number with a fraction. */
  ratio(variable: string, fallback: number): number {
    const value = this.text(variable).trim();
    if (value === "") return fallback;
    const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= 0 && number <= 1) return number;
    this.refuse(variable, "be a number from 0 to 1, for example 0.1");
    return fallback;
  }

  flag(variable: string, fallback: boolean): boolean {
    const value = this.text(variable).toLowerCase();
    if (value === "") return fallback;
    if (["true", "1", "yes", "on", "t"].includes(value)) return true;
    if (!["false", "0", "no", "off", "f"].includes(value)) this.refuse(variable, "be true or false");
    return false;
  }

  choice<T extends string>(variable: string, choices: readonly T[], fallback: T): T {
    const value = this.text(variable);
    if (value === "") return fallback;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.refuse(variable, `be one of ${choices.join(", ")}`);
    return found ?? fallback;
  }

  /** The items of a comma list, trimmed. Empty items and repeated ones are problems. */
  list(variable: string, example: string): readonly string[] {
    const value = this.text(variable).trim();
    if (value === "") return [];
    const items = value.split(",").map((item) => item.trim());
    if (items.includes("")) this.refuse(variable, `have no empty item, for example ${example}`);
    if (new Set(items).size < items.length)
      this.refuse(variable, `name each item once, for example ${example}`);
    return items.filter((item) => item !== "");
  }
}

/** Reads `host`, `host:port` or `[v6]:port`; `undefined` where it is none. */
export function parseServerAddress(text: string, portDefault: number): ServerAddress | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const plain = /^([^:]+)(?::(\d+))?$/.exec(text);
  const match = bracketed ?? plain;
  if (match === null) return undefined;
  const host = match[1]!;
  const port = match[2] === undefined ? portDefault : Number(match[2]);
  if (port < 1 || port > 65_535) return undefined;
  if (bracketed !== null) return isIpv6(host) ? { host, port } : undefined;
  const looksNumeric = /^[\d.]+$/.test(host);
  const valid = looksNumeric ? isIpv4(host) : !host.endsWith(".") && hostNameProblem(host) === undefined;
  return valid ? { host, port } : undefined;
}
