import { resolve } from "node:path";
import { MeridianError } from "../meridian-error.ts";
import { lastText, type Invocation, type OptionDefinition } from "./command.ts";

const defaultFolder = ".meridian";

/** `--data DIR`, which every command about a fleet has. */
export const dataOption: OptionDefinition = {
  name: "data",
  value: "DIR",
  help: `the fleet's data folder (default ${defaultFolder})`,
};

/** The data folder that a command line means, as an absolute path. @throws MeridianError `Usage` */
export function dataFolder(invocation: Invocation): string {
  const given = lastText(invocation, dataOption.name) ?? defaultFolder;
  // An empty variable in a script must not fill, or stop, whatever is in the working directory.
  if (given.trim() === "")
    throw new MeridianError("Usage", "--data is empty; name a folder, or leave it out");
  return resolve(given);
}

/** What to append to a suggested command so that it finds the same fleet. */
export function dataArgument(folder: string): string {
  return folder === resolve(defaultFolder) ? "" : ` --data ${folder}`;
}
