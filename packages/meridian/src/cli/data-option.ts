import { resolve } from "node:path";
import { lastText, type Invocation, type OptionDefinition } from "./command.ts";

const defaultFolder = ".meridian";

/** `--data DIR`, which every command about a fleet has. */
export const dataOption: OptionDefinition = {
  name: "data",
  value: "DIR",
  help: `the fleet's data folder (default ${defaultFolder})`,
};

/** The data folder that a command line means, as an absolute path. */
export function dataFolder(invocation: Invocation): string {
  return resolve(lastText(invocation, dataOption.name) ?? defaultFolder);
}

/** What to append to a suggested command so that it finds the same fleet. */
export function dataArgument(folder: string): string {
  return folder === resolve(defaultFolder) ? "" : ` --data ${folder}`;
}
