import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { browserAbsence } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { labInBrowser } from "./lab-in-browser.ts";
import { LabVisit, counter, counts, reads } from "./lab-visit.ts";

// The whole story of an API server and a copy of its state, by the buttons of the page and in the words of the page.

const english = {
  language: "en-GB",
  version: (version: number) => `version ${version}`,
  watchOpen: "watch open",
  watchCut: "watch cut",
  fresh: "Same as the truth",
  stale: "Stale",
  behind: (versions: number) => `${versions} versions behind`,
  lag: /last confirmed (\d+) s ago/,
  gone: "gone in truth",
  missing: "not here yet",
  older: "outdated",
  differencesWillDo: "the differences will do",
  willReadAll: "it will have to read everything",
  fullReads: "full reads",
  resyncs: "resyncs",
  watches: "watches",
  expired: "“too old”",
  create: "Create a Pod",
  change: (name: string) => `Change ${name}`,
  delete: (name: string) => `Delete ${name}`,
  cut: "Cut the watch: copy-1",
  connect: "Connect again: copy-1",
  read: "Read 100 times: copy-1",
  readResult: "100 reads of 3 Pods. Server: full reads 1 → 1, watches 1 → 1.",
  send: (name: string) => `Change ${name} as copy-1 has it`,
  start: "Start: Small controller",
  stop: "Stop: Small controller",
  lose: "Lose: copy-1",
  double: "Double: copy-1",
  delay: "Delay 5 s: copy-1",
  takeOut: "Take out: copy-1",
  compact: "Forget the history",
  differs: "differs from the truth",
  cannotKnow: "An event was taken out of its stream",
  told: {
    began: "The lab created web-2: version 2.",
    first: "copy-1 read everything once, 2 Pods at version 2, and opened a watch from there.",
    cut: "The watch of copy-1 was cut at version 3.",
    caughtUp:
      "copy-1 caught up by the differences: 4 changes, from version 3 to 7. Nothing was read in full.",
    tooOld: "copy-1 asked for what came after version 7, but the history begins after version 8: 410 Gone.",
    everything: "copy-1 read everything again, 3 Pods at version 12",
    refused: /copy-1 knew web-2 at version 12.*The Pod is at version 13 by now.*409 Conflict/,
    acted: "The small controller counted 2 in copy-1, wants 3, and created",
    lost: "was lost and the connection broke with it",
    doubled: "reached copy-1 twice",
    delivered: "reached copy-1, 5 s late",
    takenOut: "was taken out. Neither end can know.",
    compacted: /The history was forgotten up to version \d+/,
  },
  believes: /It counts 3 in copy-1 .* wants 3, so it does nothing.*1 version behind: in truth there are 2\./,
  byController: "small controller",
} as const;

/** The same in Japanese. */
const japanese: Phrases = {
  language: "ja-JP",
  version: (version) => `版 ${version}`,
  watchOpen: "watch は開いている",
  watchCut: "watch は切れている",
  fresh: "真実と同じ",
  stale: "古い",
  behind: (versions) => `${versions} 版遅れ`,
  lag: /最後の確認は (\d+)\s秒前/,
  gone: "もう無い",
  missing: "まだ来ていない",
  older: "前の姿",
  differencesWillDo: "差分で追いつけます",
  willReadAll: "全件の読み直しになります",
  fullReads: "全件読み込み",
  resyncs: "再同期",
  watches: "watch",
  expired: "「古すぎる」",
  create: "Pod を作る",
  change: (name) => `${name} を変える`,
  delete: (name) => `${name} を消す`,
  cut: "copy-1：watch を切る",
  connect: "copy-1：つなぎ直す",
  read: "copy-1：100 回読む",
  readResult: "3 個を 100 回読みました。サーバー：全件読み込み 1 → 1、watch 1 → 1。",
  send: (name) => `copy-1 が知る ${name} をもとに変える`,
  start: "小さなコントローラー：動かす",
  stop: "小さなコントローラー：止める",
  lose: "copy-1：失わせる",
  double: "copy-1：二度届ける",
  delay: "copy-1：5 秒遅らせる",
  takeOut: "copy-1：抜き取る",
  compact: "履歴を捨てる",
  differs: "真実と食い違う",
  cannotKnow: "途中でイベントが抜き取られました",
  told: {
    began: "実験室が web-2 を作りました（版 2）。",
    first: "copy-1 は最初の一度だけ全件（版 2 の 2 個）を読み、そこから watch を始めました。",
    cut: "copy-1 の watch を切りました（版 3）。",
    caughtUp: "copy-1 は差分だけで追いつきました（4 件、版 3 から 7 へ）。全件は読んでいません。",
    tooOld: "copy-1 は版 7 より後を求めましたが、履歴は版 8 より後しか残っていません：410 Gone。",
    everything: "copy-1 は差分では追いつけないので、全件（版 12 の 3 個）を読み直しました。",
    refused: /copy-1 が知る web-2（版 12）.*Pod はすでに版 13 .*409 Conflict/,
    acted: "小さなコントローラーは copy-1 で 2 個と数え、3 個にするため",
    lost: "が接続ごと失われました",
    doubled: "が二度届きました",
    delivered: "が 5 秒遅れて届きました",
    takenOut: "が抜き取られました。どちらの側も気づけません。",
    compacted: /版 \d+ までの履歴を捨てました/,
  },
  believes:
    /copy-1（版 \d+）で 3 個と数え、保つ数は 3 個なので、何もしません.*1 版遅れています。本当は 2 個です。/,
  byController: "小さなコントローラー",
};

type Widened<T> = T extends RegExp
  ? RegExp
  : T extends string
    ? string
    : T extends (...args: infer A) => string
      ? (...args: A) => string
      : { readonly [K in keyof T]: Widened<T[K]> };
type Phrases = Omit<Widened<typeof english>, "language"> & { readonly language: "en-GB" | "ja-JP" };

const absence = await browserAbsence();

for (const phrases of [english, japanese] as readonly Phrases[]) {
  describe(`the story of the copies, in ${phrases.language}`, { skip: absence ?? false }, () => {
    const here = labInBrowser();
    let visit: LabVisit;
    const { told } = phrases;
    /** What the controller made it end at, since it may create a Pod of another name. */
    const podNames = async (): Promise<string[]> => visit.truth.locator(".pods .pod-name").allInnerTexts();

    before(async () => {
      visit = await LabVisit.open(here.browser, here.lab.url, { language: phrases.language });
    });

    test("a copy reads everything once, and then has the differences", async () => {
      await reads(visit.log, told.began);
      await reads(visit.log, told.first);
      await reads(visit.copy(), phrases.watchOpen);
      await visit.press(phrases.create);
      await reads(visit.truth, phrases.version(3));
      await reads(visit.copy(), phrases.version(3));
      await reads(visit.copy(), "web-3");
      await reads(visit.copy(), phrases.fresh);
      assert.equal(await counter(visit.truth, phrases.fullReads), 1);
    });

    test("a hundred reads of the copy move no counter of the server", async () => {
      await visit.press(phrases.read);
      await reads(visit.copy(), phrases.readResult);
      assert.equal(await counter(visit.truth, phrases.fullReads), 1);
      assert.equal(await counter(visit.truth, phrases.watches), 1);
    });

    test("cut off, the copy stays as it was: what is gone still stands in it, what is new does not", async () => {
      await visit.press(phrases.cut);
      await reads(visit.copy(), phrases.watchCut);
      await reads(visit.log, told.cut);
      await visit.press(phrases.delete("web-1"));
      await visit.press(phrases.create);
      await reads(visit.truth, phrases.version(5));
      await reads(visit.copy(), phrases.stale);
      await reads(visit.copy(), phrases.behind(2));
      await reads(visit.copy(), phrases.version(3));
      await reads(visit.copy().getByRole("listitem").filter({ hasText: "web-1" }), phrases.gone);
      await reads(visit.copy().getByRole("listitem").filter({ hasText: "web-4" }), phrases.missing);
      await reads(visit.copy(), phrases.differencesWillDo);
      const lag = async (): Promise<number> =>
        Number(phrases.lag.exec(await visit.copy().innerText())?.[1] ?? Number.NaN);
      const early = await lag();
      await eventually("the lag grows", async () => assert.ok((await lag()) > early));
    });

    test("connected again it catches up by the differences, and ends at the last state of what changed twice", async () => {
      await visit.press(phrases.change("web-2"));
      await reads(visit.truth, phrases.version(6));
      await visit.press(phrases.change("web-2"));
      await reads(visit.copy().getByRole("listitem").filter({ hasText: "web-2" }), phrases.older);
      await visit.press(phrases.connect);
      await reads(visit.copy(), phrases.fresh);
      await reads(visit.copy(), phrases.version(7));
      await reads(visit.copy().getByRole("listitem").filter({ hasText: "web-2" }), "web:3");
      await reads(visit.log, told.caughtUp);
      await counts(visit.copy(), phrases.fullReads, 1);
      await counts(visit.copy(), phrases.resyncs, 0);
      await counts(visit.copy(), phrases.watches, 2);
    });

    test("after more writes than the history holds it has to read everything again", async () => {
      await visit.press(phrases.cut);
      await reads(visit.copy(), phrases.watchCut);
      for (let version = 8; version <= 12; version++) {
        await visit.press(phrases.change("web-2"));
        await reads(visit.truth, phrases.version(version));
      }
      await reads(visit.copy(), phrases.willReadAll);
      await visit.press(phrases.connect);
      await reads(visit.copy(), phrases.fresh);
      await reads(visit.log, told.tooOld);
      await reads(visit.log, told.everything);
      await counts(visit.copy(), phrases.fullReads, 2);
      await counts(visit.copy(), phrases.resyncs, 1);
      await counts(visit.copy(), phrases.expired, 1);
      await counts(visit.truth, phrases.fullReads, 2);
    });

    test("a change that is sent from a stale copy is refused with 409, and the log says why", async () => {
      await visit.press(phrases.cut);
      await reads(visit.copy(), phrases.watchCut);
      await visit.press(phrases.change("web-2"));
      await reads(visit.truth, phrases.version(13));
      await visit.press(phrases.send("web-2"));
      await reads(visit.log, told.refused);
      await reads(visit.truth, phrases.version(13));
      await visit.press(phrases.connect);
      await reads(visit.copy(), phrases.fresh);
    });

    test("a controller believes its stale copy and does nothing; with a fresh one it counts again and is right", async () => {
      await visit.press(phrases.start);
      await reads(visit.controller, /copy-1/);
      await visit.press(phrases.cut);
      await reads(visit.copy(), phrases.watchCut);
      await visit.press(phrases.delete("web-3"));
      await reads(visit.controller, phrases.believes);
      assert.deepEqual(await podNames(), ["web-2", "web-4"]);
      await visit.press(phrases.connect);
      await reads(visit.log, told.acted);
      await eventually("there are three Pods again", async () => assert.equal((await podNames()).length, 3));
      await reads(visit.truth.locator(".history"), phrases.byController);
      await reads(visit.copy(), phrases.fresh);
    });

    for (const fault of ["lose", "double", "delay"] as const) {
      test(`the end state is right whatever befalls an event: ${fault}`, async () => {
        const sign = { lose: told.lost, double: told.doubled, delay: told.delivered }[fault];
        const [victim = ""] = await podNames();
        await visit.press(phrases[fault]);
        await visit.press(phrases.delete(victim));
        await reads(visit.log, sign);
        await eventually("there are three Pods again", async () =>
          assert.equal((await podNames()).length, 3),
        );
        await reads(visit.copy(), phrases.fresh);
        await counts(visit.copy(), phrases.resyncs, 1);
      });
    }

    test("an event that is taken out leaves the copy wrong at the newest version, and the page says so", async () => {
      await visit.press(phrases.stop);
      await visit.press(phrases.takeOut);
      await visit.press(phrases.create);
      await reads(visit.log, told.takenOut);
      await reads(visit.copy(), phrases.cannotKnow);
      const [first = ""] = await podNames();
      await visit.press(phrases.change(first));
      await reads(visit.copy(), phrases.differs);
      assert.equal(
        await visit.copy().locator(".readout").innerText(),
        await visit.truth.locator(".readout").innerText(),
      );
    });

    test("once the history is forgotten, only a full read helps a copy that was away", async () => {
      await visit.press(phrases.cut);
      await reads(visit.copy(), phrases.watchCut);
      const [first = ""] = await podNames();
      await visit.press(phrases.change(first));
      await visit.press(phrases.compact);
      await reads(visit.log, told.compacted);
      await reads(visit.copy(), phrases.willReadAll);
      await visit.press(phrases.connect);
      await reads(visit.copy(), phrases.fresh);
      await counts(visit.copy(), phrases.resyncs, 2);
    });

    test("all this was asked of one origin, and nothing was complained of", () => {
      visit.assertQuiet();
    });
  });
}
