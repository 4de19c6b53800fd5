import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import type { LabCommand } from "@meridian/console";
import { browserAbsence } from "../harness/browser.ts";
import { labInBrowser } from "./lab-in-browser.ts";
import { LabProcess } from "./lab-process.ts";
import { LabVisit, reads } from "./lab-visit.ts";

// What a machine can find of accessibility, in each state that looks different.

interface Finding {
  readonly id: string;
  readonly nodes: readonly {
    readonly html: string;
    readonly failureSummary?: string;
    readonly any: readonly { readonly data?: { readonly messageKey?: string } | null }[];
  }[];
}

/**
 * What axe leaves to people: the contrast of signs that are no letters; of text on the hatched ground of what is stale, which is made of
 * two colours that are the ground of other text as well; and of lines of the log that are scrolled out of sight.
 */
const leftToPeople = ["nonBmp", "bgGradient", "elmPartiallyObscured"];

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** Everything that axe has to say against the page, what it is not sure of as well. */
async function findings(visit: LabVisit): Promise<string[]> {
  await visit.page.evaluate(axe);
  const found = await visit.page.evaluate<{
    readonly violations: readonly Finding[];
    readonly incomplete: readonly Finding[];
  }>(`axe.run(document, { runOnly: ${JSON.stringify(rules)} })`);
  return [...found.violations, ...found.incomplete].flatMap(({ id, nodes }) =>
    nodes
      .filter(({ any }) => !any.every(({ data }) => leftToPeople.includes(data?.messageKey ?? "")))
      .map(({ failureSummary, html }) => `${id}: ${html}\n${failureSummary ?? ""}`),
  );
}

const copy = "copy-1";
const states: readonly {
  readonly name: string;
  readonly commands: readonly LabCommand[];
  readonly story?: true;
  readonly signs: { readonly en: string; readonly ja: string };
}[] = [
  { name: "fresh", commands: [], signs: { en: "Same as the truth", ja: "真実と同じ" } },
  {
    name: "cut and stale, with a controller that trusts it",
    commands: [
      { do: "addCopy" },
      { do: "startController", copy, desired: 2 },
      { do: "cut", copy },
      { do: "delete", name: "web-1" },
      { do: "change", name: "web-2" },
      { do: "create" },
      { do: "staleWrite", copy, name: "web-2" },
      { do: "readCopy", copy },
    ],
    story: true,
    signs: { en: "outdated", ja: "前の姿" },
  },
  {
    name: "silent, with an event held back and another armed",
    commands: [
      { do: "cut", copy, how: "silence" },
      { do: "loseEvent", copy },
      { do: "create" },
      { do: "compact" },
    ],
    signs: { en: "1 event held back", ja: "1 件が止められている" },
  },
  {
    name: "without a Pod, with the story told",
    commands: [
      { do: "delete", name: "web-1" },
      { do: "delete", name: "web-2" },
    ],
    story: true,
    signs: { en: "No Pods.", ja: "Pod はありません。" },
  },
];

describe("axe finds nothing", { skip: (await browserAbsence()) ?? false }, () => {
  const here = labInBrowser();

  const widths = [
    ["phone", 360],
    ["wide", 1440],
  ] as const;
  for (const { commands, name, signs, story } of states) {
    for (const [device, width] of widths) {
      for (const [theme, language] of [
        ["light", "en-GB"],
        ["dark", "ja-JP"],
      ] as const) {
        test(`${name}, on a ${device} screen, ${theme}, in ${language}`, async () => {
          await using visit = await LabVisit.open(here.browser, here.lab.url, {
            language,
            theme,
            width,
            reducedMotion: "reduce",
          });
          await visit.elsewhere({ do: "reset" });
          // The story has the lab begin anew: what is asked of it before that is done is undone.
          if (story === true) {
            const begun = visit.page.waitForResponse((response) => response.url().endsWith("/lab/commands"));
            await visit.page.locator("[data-action=story]").click();
            await begun;
          }
          await visit.elsewhere(...commands);
          await reads(visit.copy(), signs[language === "ja-JP" ? "ja" : "en"]);
          // As high as the page is, so that nothing lies behind the newest line at the foot of the window.
          const height = await visit.page.evaluate<number>("document.documentElement.scrollHeight");
          await visit.page.setViewportSize({ width, height });
          assert.deepEqual(await findings(visit), []);
          visit.assertQuiet();
        });
      }
    }
  }

  test("the server is away", async () => {
    await using away = await LabProcess.start();
    await using visit = await LabVisit.open(here.browser, away.url, { reducedMotion: "reduce" });
    await away[Symbol.asyncDispose]();
    await reads(visit.page.locator(".notices"), "The server is away.");
    assert.deepEqual(await findings(visit), []);
  });

  test("at any width nothing sticks out of the page or of a panel", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.elsewhere({ do: "reset" }, { do: "addCopy" }, { do: "cut", copy }, { do: "create" });
    for (const language of ["English", "日本語"]) {
      await visit.page.getByRole("radio", { name: language }).check();
      for (const width of [320, 360, 480, 600, 735, 737, 768, 959, 961, 1024, 1247, 1249, 1440, 1920, 2560]) {
        await visit.page.setViewportSize({ width, height: 800 });
        const widest = await visit.page.evaluate<number>("document.documentElement.scrollWidth");
        assert.ok(widest <= width, `${language} at ${width}: ${widest}`);
        const overhangs = await visit.page.evaluate<readonly string[]>(
          `[...document.querySelectorAll(".panel")].filter((panel) => panel.scrollWidth > panel.clientWidth)
             .map((panel) => panel.className)`,
        );
        assert.deepEqual(overhangs, [], `${language} at ${width}`);
      }
    }
  });
});
