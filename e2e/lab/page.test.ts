import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { browserAbsence } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { labInBrowser } from "./lab-in-browser.ts";
import { LabProcess } from "./lab-process.ts";
import { LabVisit, counter, reads } from "./lab-visit.ts";

// The page around the story: language, appearance, the stream, several copies, and what it may not do.

describe("the page of the lab", { skip: (await browserAbsence()) ?? false }, () => {
  const here = labInBrowser();

  const languageOf = (visit: LabVisit): Promise<string | null> =>
    visit.page.locator("html").getAttribute("lang");

  test("it speaks the browser's language at first, and the chosen one from then on", async () => {
    {
      await using german = await LabVisit.open(here.browser, here.lab.url, { language: "de-DE" });
      assert.equal(await languageOf(german), "en");
    }
    await using visit = await LabVisit.open(here.browser, here.lab.url, { language: "ja-JP" });
    assert.equal(await languageOf(visit), "ja");
    assert.equal(await visit.page.title(), "informer 実験室");
    await visit.page.getByRole("radio", { name: "English" }).check();
    await visit.region("The truth").waitFor();
    assert.equal(await languageOf(visit), "en");
    assert.equal(await visit.page.title(), "Informer lab");
    await visit.page.reload();
    await visit.region("The truth").waitFor();
    assert.equal(await languageOf(visit), "en");
    visit.assertQuiet();
  });

  test("it is as light as the system, or as one wishes, and remembers the wish", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url, { theme: "dark" });
    const lightness = (): Promise<number> =>
      visit.page.evaluate<number>(`Number(/\\d+/.exec(getComputedStyle(document.body).backgroundColor)[0])`);
    assert.ok((await lightness()) < 64);
    await visit.page.emulateMedia({ colorScheme: "light" });
    assert.ok((await lightness()) > 192);
    await visit.page.getByRole("radio", { name: "Dark" }).check();
    assert.ok((await lightness()) < 64);
    await visit.page.reload();
    await visit.truth.waitFor();
    assert.ok((await lightness()) < 64);
    await visit.page.getByRole("radio", { name: "System" }).check();
    assert.ok((await lightness()) > 192);
  });

  test("nothing moves for who does not want it", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url, { reducedMotion: "reduce" });
    await visit.elsewhere({ do: "create" });
    const moving = await visit.page.evaluate<number>("document.getAnimations().length");
    assert.equal(moving, 0);
  });

  test("several copies stand beside each other, each as far as it has come", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.press("Start over");
    await reads(visit.truth, "version 2");
    await visit.press("Add a copy");
    await visit.press("Add a copy");
    await reads(visit.copy("copy-3"), "version 2");
    await visit.press("Let it go silent: copy-2");
    await reads(visit.copy("copy-2"), "silent, believes it is connected");
    await visit.press("Cut the watch: copy-1");
    await visit.press("Create a Pod");
    await reads(visit.copy("copy-1"), "1 version behind");
    await reads(visit.copy("copy-2"), "1 event held back");
    await reads(visit.copy("copy-3"), "Same as the truth");
    const boxes = await Promise.all(
      [visit.truth, visit.copy("copy-1"), visit.copy("copy-2")].map((part) => part.boundingBox()),
    );
    const [truth, first, second] = boxes.map((box) => box?.x ?? 0);
    assert.ok(truth! < first! && first! < second!, "the truth is on the left, copies to the right of it");
    await reads(
      visit.page.getByRole("row", { name: /^copy-1/ }),
      /^copy-1 ▲ Stale has it has it not seen yet/,
    );

    await visit.press("Connect again: copy-1");
    await visit.press("Connect again: copy-2");
    await reads(visit.copy("copy-1"), "Same as the truth");
    await reads(visit.copy("copy-2"), "Same as the truth");
    await visit.press("Remove: copy-2");
    await visit.copy("copy-2").waitFor({ state: "detached" });
    assert.equal(await counter(visit.truth, "full reads"), 3);
    visit.assertQuiet();
  });

  test("on a phone the copies stand below the truth", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url, { width: 360, height: 780 });
    await visit.elsewhere({ do: "reset" });
    // Asked one after the other, while the page may still be drawing the new start.
    await eventually("the copy is below the truth, and as wide as the screen", async () => {
      const truth = await visit.truth.boundingBox();
      const copy = await visit.copy().boundingBox();
      assert.ok(copy!.y >= truth!.y + truth!.height);
      assert.ok(copy!.width > 300);
    });
  });

  test("what the lab refuses is said, and can be put away", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.elsewhere({ do: "reset" });
    for (let copies = 2; copies <= 6; copies++) await visit.elsewhere({ do: "addCopy" });
    await visit.copy("copy-6").waitFor();
    await visit.press("Add a copy");
    const notices = visit.page.locator(".notices");
    await reads(notices, "There are 6 copies, and no more fit.");
    await visit.press("Close");
    await eventually("it is gone", async () => assert.equal(await notices.innerText(), ""));
    await visit.elsewhere({ do: "reset" });
  });

  test("a name that could be markup is text", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.page.route("**/lab/commands", (route) =>
      route.fulfill({ json: { refusal: { code: "NoSuchCopy", about: "<img src=x onerror=alert(1)>" } } }),
    );
    await visit.press("Create a Pod");
    await reads(visit.page.locator(".notices"), "There is no <img src=x onerror=alert(1)> any more.");
    visit.assertQuiet();
  });

  test("when the server goes away the page says so, and it goes on by itself when the server is back", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    const { port } = here.lab;
    await here.lab[Symbol.asyncDispose]();
    const notices = visit.page.locator(".notices");
    await reads(notices, "The server is away.");
    await visit.press("Create a Pod");
    await reads(notices, "The server does not answer. Nothing was changed.");
    here.lab = await LabProcess.start(port);
    await eventually("the page has connected again", async () =>
      assert.doesNotMatch(await notices.innerText(), /The server is away/),
    );
    await visit.press("Create a Pod");
    await reads(visit.copy(), "web-3");
    await eventually("nothing is complained of any more", async () =>
      assert.equal(await notices.innerText(), ""),
    );
  });

  test("the answer of an error in place of a stream does not end it", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    let refused = 0;
    await visit.page.route("**/lab/events", async (route) => {
      if (refused++ === 0) await route.fulfill({ status: 503, body: "busy" });
      else await route.continue();
    });
    await visit.page.reload();
    await visit.truth.waitFor({ timeout: 15_000 });
    assert.equal(refused, 2);
  });

  test("a tab that nobody sees has no stream, and the newest state as soon as it is seen", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    await visit.elsewhere({ do: "reset" });
    await reads(visit.truth, "version 2");
    const turn = (hidden: boolean): Promise<unknown> =>
      visit.page.evaluate(
        `Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
         document.dispatchEvent(new Event("visibilitychange"));`,
      );
    const streams = (): number => visit.asked.filter((url) => url.endsWith("/lab/events")).length;
    const before = streams();
    await turn(true);
    await visit.elsewhere({ do: "create" });
    await reads(visit.truth, "version 2");
    await turn(false);
    await reads(visit.truth, "version 3");
    assert.equal(streams(), before + 1);
    assert.equal(await visit.page.locator(".notices").innerText(), "");
  });

  test("there is neither a style attribute nor a script in the document", async () => {
    await using visit = await LabVisit.open(here.browser, here.lab.url);
    const found = await visit.page.evaluate<number>(
      `document.querySelectorAll("[style], style, script:not([src]), [onclick]").length`,
    );
    assert.equal(found, 0);
    visit.assertQuiet();
  });
});
