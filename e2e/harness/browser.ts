import { access } from "node:fs/promises";
import { chromium, type Browser } from "playwright-core";

const program = "/usr/bin/chromium";

/** Why there is no browser to try a page in; `undefined` where there is one. */
export async function browserAbsence(): Promise<string | undefined> {
  try {
    await access(program);
    return undefined;
  } catch {
    return `${program} is not installed`;
  }
}

/** Starts a browser that asks for nothing but what it is told, with a new profile. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: program,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
