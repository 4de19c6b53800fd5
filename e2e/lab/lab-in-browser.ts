import { after, before } from "node:test";
import type { Browser } from "playwright-core";
import { startBrowser } from "../harness/browser.ts";
import { LabProcess } from "./lab-process.ts";

/** A lab, and a browser to look at it. */
export interface LabInBrowser {
  /** A test that ends it puts another one here. */
  lab: LabProcess;
  readonly browser: Browser;
}

/** Has both started before the tests of this `describe` and ended after them, with all visits. */
export function labInBrowser(): LabInBrowser {
  const both: { lab?: LabProcess; browser?: Browser } = {};
  before(async () => {
    both.lab = await LabProcess.start();
    both.browser = await startBrowser();
  });
  after(async () => {
    await both.browser?.close();
    await both.lab?.[Symbol.asyncDispose]();
  });
  return both as LabInBrowser;
}
