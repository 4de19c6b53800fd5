import assert from "node:assert/strict";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import type { LabCommand } from "@meridian/console";
import { eventually } from "../harness/eventually.ts";

/** How the visitor's browser is; by default English, light and wide. */
export interface VisitOptions {
  readonly language?: "en-GB" | "ja-JP" | "de-DE";
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  readonly reducedMotion?: "reduce";
}

/** The words by which a test finds its way, as the page has them. */
export interface Words {
  readonly truth: string;
  readonly copies: string;
  readonly controller: string;
  readonly log: string;
}

/** The headings of the page, in each language. */
export const words: Readonly<Record<"en" | "ja", Words>> = {
  en: { truth: "The truth", copies: "Copies", controller: "Small controller", log: "What happened" },
  ja: { truth: "真実", copies: "写し", controller: "小さなコントローラー", log: "起きたこと" },
};

/** Somebody who looks at the lab in a browser, and notes whatever the page should not have done. */
export class LabVisit implements AsyncDisposable {
  readonly page: Page;
  readonly words: Words;
  /** What the console said, and what the policy of the page kept from happening. */
  readonly complaints: string[] = [];
  /** Everything that was asked for. */
  readonly asked: string[] = [];
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page, language: "en" | "ja") {
    this.#context = context;
    this.page = page;
    this.words = words[language];
    page.on("request", (request) => this.asked.push(request.url()));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
  }

  /** Opens the page as a new visitor, and waits until it shows a state. */
  static async open(browser: Browser, url: string, options: VisitOptions = {}): Promise<LabVisit> {
    const { height = 900, language = "en-GB", reducedMotion, theme = "light", width = 1440 } = options;
    const context = await browser.newContext({
      locale: language,
      colorScheme: theme,
      viewport: { width, height },
      reducedMotion: reducedMotion ?? null,
    });
    const page = await context.newPage();
    const visit = new LabVisit(context, page, language === "ja-JP" ? "ja" : "en");
    await page.addInitScript(
      `addEventListener("securitypolicyviolation", (event) =>
         console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
    );
    await page.goto(url);
    await visit.truth.waitFor();
    return visit;
  }

  get truth(): Locator {
    return this.region(this.words.truth);
  }

  get controller(): Locator {
    return this.region(this.words.controller);
  }

  get log(): Locator {
    return this.region(this.words.log);
  }

  region(name: string): Locator {
    return this.page.getByRole("region", { name, exact: true });
  }

  copy(name = "copy-1"): Locator {
    return this.page.getByRole("article", { name, exact: true });
  }

  /** Presses a button by its whole name. */
  async press(name: string, within: Locator | Page = this.page): Promise<void> {
    await within.getByRole("button", { name, exact: true }).click();
  }

  /** Does to the lab what somebody else with another page would do. */
  async elsewhere(...commands: readonly LabCommand[]): Promise<void> {
    for (const command of commands) {
      const response = await fetch(new URL("/lab/commands", this.page.url()), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(command),
      });
      assert.equal(response.status, 200, await response.text());
    }
  }

  /** Fails if the page asked anybody else, or if its policy or its console had anything to say. */
  assertQuiet(): void {
    const { origin } = new URL(this.page.url());
    assert.deepEqual(
      this.asked.filter((url) => new URL(url).origin !== origin),
      [],
    );
    assert.deepEqual(this.complaints, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}

/** Waits until something on the page reads so; the words are taken as they are seen, with single spaces. */
export async function reads(locator: Locator, pattern: RegExp | string): Promise<void> {
  await eventually(
    `the page reads ${String(pattern)}`,
    async () => {
      const text = (await locator.innerText({ timeout: 5_000 })).replaceAll(/\s+/g, " ").trim();
      if (typeof pattern === "string") assert.ok(text.includes(pattern), `it reads: ${text}`);
      else assert.match(text, pattern);
    },
    { withinMs: 15_000 },
  );
}

/** The number that stands under a name in a list of counters. */
export async function counter(within: Locator, name: string): Promise<number> {
  const entry = within.locator("dl div").filter({ has: within.page().getByText(name, { exact: true }) });
  return Number(await entry.locator("dd").innerText());
}

/** Waits until a counter has a value. */
export async function counts(within: Locator, name: string, value: number): Promise<void> {
  await eventually(`“${name}” is ${value}`, async () => assert.equal(await counter(within, name), value), {
    withinMs: 15_000,
  });
}
