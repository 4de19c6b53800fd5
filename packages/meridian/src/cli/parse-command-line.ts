import { parseArgs } from "node:util";
import { messageOf } from "../meridian-error.ts";
import type { Command, Invocation } from "./command.ts";

/** What a command line asks for. */
export type CommandLine =
  | { readonly kind: "run"; readonly command: Command; readonly invocation: Invocation }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "version" }
  | { readonly kind: "mistake"; readonly message: string };

/** Understands the arguments after `meridian`. Unknown commands and options are mistakes that name what exists. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const first = argv[0];
  if (first === "--version" || first === "-v") return { kind: "version" };
  const helpAsked = first === undefined || first === "--help" || first === "-h" || first === "help";
  const words = first === "help" ? argv.slice(1) : argv;
  if (helpAsked && (first !== "help" || words.length === 0))
    return { kind: "help", text: overview(commands) };

  const command = commands.find((candidate) => candidate.words.every((word, at) => words[at] === word));
  if (command === undefined) {
    const below = commands.filter(
      (candidate) => candidate.words.length > 1 && candidate.words[0] === words[0],
    );
    const isHelp = helpAsked ? words.length === 1 : words[1] === "--help" || words[1] === "-h";
    return below.length > 0 && isHelp
      ? { kind: "help", text: overview(below) }
      : { kind: "mistake", message: unknownCommand(words, commands) };
  }
  if (helpAsked) return { kind: "help", text: commandHelp(command) };
  return parseOptions(command, argv.slice(command.words.length));
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): string {
  const known = commands.filter((command) => command.internal !== true);
  const deeper = known.filter((command) => command.words.length > 1 && command.words[0] === words[0]);
  if (deeper.length > 0) {
    const asked = words.slice(0, 2).join(" ");
    return `there is no command "${asked}"; there is: ${deeper.map(nameOf).join(", ")}`;
  }
  return `there is no command "${words[0] ?? ""}"; there are: ${known.map(nameOf).join(", ")}`;
}

function parseOptions(command: Command, rest: readonly string[]): CommandLine {
  const options: Record<string, { type: "string" | "boolean"; multiple: boolean; short?: string }> = {
    help: { type: "boolean", multiple: false, short: "h" },
  };
  for (const option of command.options) {
    // All are collected, so that the last one wins where one is meant, as in other tools.
    options[option.name] = { type: option.value === undefined ? "boolean" : "string", multiple: true };
  }
  let parsed;
  try {
    parsed = parseArgs({ args: [...rest], options, allowPositionals: true, strict: true });
  } catch (error) {
    return { kind: "mistake", message: optionMistake(command, error) };
  }
  if (parsed.values["help"] === true) return { kind: "help", text: commandHelp(command) };
  const text = new Map<string, readonly string[]>();
  const switches = new Set<string>();
  for (const [name, value] of Object.entries(parsed.values)) {
    if (!Array.isArray(value)) continue;
    const texts = value.filter((item) => typeof item === "string");
    if (texts.length > 0) text.set(name, texts);
    else if (value.includes(true)) switches.add(name);
  }
  const mistake = positionalMistake(command, parsed.positionals);
  if (mistake !== undefined) return { kind: "mistake", message: mistake };
  return { kind: "run", command, invocation: { text, switches, positionals: parsed.positionals } };
}

function optionMistake(command: Command, error: unknown): string {
  const said = messageOf(error);
  const unknown = /^Unknown option '([^']+)'/.exec(said)?.[1];
  if (unknown === undefined) return `meridian ${nameOf(command)}: ${said.replaceAll("\n", " ")}`;
  const known = ["--help", ...command.options.map((option) => `--${option.name}`)];
  return `meridian ${nameOf(command)} has no option ${unknown}; it has: ${known.join(", ")}`;
}

function positionalMistake(command: Command, given: readonly string[]): string | undefined {
  const wanted = command.positionals;
  if (given.length < wanted.length) {
    return `meridian ${nameOf(command)} needs ${wanted.slice(given.length).join(" ")}; see meridian ${nameOf(command)} --help`;
  }
  if (given.length > wanted.length) {
    const extra = given.slice(wanted.length).join(" ");
    return `meridian ${nameOf(command)} does not know what to do with "${extra}"; see meridian ${nameOf(command)} --help`;
  }
  return undefined;
}

function nameOf(command: Command): string {
  return command.words.join(" ");
}

function overview(commands: readonly Command[]): string {
  const rows = commands
    .filter((command) => command.internal !== true)
    .map((command) => [[nameOf(command), ...command.positionals].join(" "), command.summary] as const);
  return [
    "meridian: global load balancing for Kubernetes over plain DNS",
    "",
    "Usage: meridian COMMAND [OPTIONS]",
    "",
    ...columns(rows),
    "",
    "meridian COMMAND --help tells more about one of them; meridian --version prints the version.",
  ].join("\n");
}

function commandHelp(command: Command): string {
  const rows = [...command.options, { name: "help", help: "print this" }].map((option) => {
    const value = "value" in option && option.value !== undefined ? ` ${option.value}` : "";
    return [`--${option.name}${value}`, option.help] as const;
  });
  const positionals = command.positionals.map((name) => ` ${name}`).join("");
  return [
    `meridian ${nameOf(command)}: ${command.summary}`,
    "",
    `Usage: meridian ${nameOf(command)}${positionals} [OPTIONS]`,
    ...(command.details.length === 0 ? [] : ["", ...command.details]),
    "",
    "Options:",
    ...columns(rows),
  ].join("\n");
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
