import type { LabEvent, Writer } from "../../lab-state.ts";
import { fromTo } from "./from-to.ts";

/** One line of the log, in Japanese. */
export function japaneseSentence(event: LabEvent): string {
  return withBoundNumbers(sentenceOf(event));
}

/** A number stays on the line of the word that it counts, or numbers: Japanese breaks lines wherever there is a space. */
export function withBoundNumbers(text: string): string {
  return text.replaceAll(/(?<=版) (?=\d)|(?<=\d) (?=[版個件回秒行])/g, "\u00a0");
}

function sentenceOf(event: LabEvent): string {
  switch (event.code) {
    case "started":
      return `実験を始めました。履歴には新しい ${event.historyMax} 件の書き込みだけが残ります。`;
    case "podCreated":
      return `${writer(event.by)}が ${event.name} を作りました（版 ${event.version}）。`;
    case "podChanged":
      return `${writer(event.by)}が ${event.name} を変えました（版 ${event.version}）。`;
    case "podDeleted":
      return `${writer(event.by)}が ${event.name} を消しました（版 ${event.version}）。`;
    case "pageRefused":
      return `サーバーは ${event.name} の${actions[event.action]}を断りました：${answer(event)}。`;
    case "copyAdded":
      return `${event.copy} を増やしました。`;
    case "copyRemoved":
      return `${event.copy} を外しました。`;
    case "everythingRead": {
      const read = `版 ${event.version} の ${event.pods} 個`;
      return {
        first: `${event.copy} は最初の一度だけ全件（${read}）を読み、そこから watch を始めました。`,
        tooOld: `${event.copy} は差分では追いつけないので、全件（${read}）を読み直しました。これが再同期です。`,
        other: `${event.copy} は念のため全件（${read}）を読み直しました。`,
      }[event.why];
    }
    case "wireCut":
      return `${event.copy} の watch を切りました（${at(event.version)}）。これからの変更は届きません。`;
    case "wireSilent":
      return `${event.copy} の watch が黙りました（${at(event.version)}）。つながって見えるのに、何も届きません。`;
    case "wireConnected":
      return event.behind === 0
        ? `${event.copy} の watch がつながりました。取りこぼしはありません。`
        : `${event.copy} の watch がつながりました。写しは ${event.behind} 版遅れています。`;
    case "caughtUp":
      return event.changes === 0
        ? `${event.copy} は版 ${event.toVersion} から続きを追っています。取り戻す変更はありませんでした。`
        : `${event.copy} は差分だけで追いつきました（${event.changes} 件、版 ${event.fromVersion} から ${event.toVersion} へ）。全件は読んでいません。`;
    case "tooOld":
      return `${event.copy} は版 ${event.version} より後を求めましたが、履歴は版 ${event.oldestResumable} より後しか残っていません：410 Gone。`;
    case "compacted":
      return `版 ${event.oldestResumable} までの履歴を捨てました。そこまで来ていない写しは、全件を読み直すことになります。`;
    case "historyMaxSet":
      return `これから履歴には ${event.historyMax} 件の書き込みが残ります。`;
    case "copyRead": {
      const { after, before } = event;
      const quiet = before.fullReads === after.fullReads && before.watches === after.watches;
      const counted = `全件読み込み ${fromTo(before.fullReads, after.fullReads)}、watch ${fromTo(before.watches, after.watches)}`;
      return `${event.copy} を ${event.times} 回（毎回 ${event.pods} 個）読みました。サーバーの数は${counted}${quiet ? "。気づいてもいません" : "（増えた分は別の理由です）"}。`;
    }
    case "staleWriteRefused": {
      const sent = `${event.copy} が知る ${event.name}（版 ${event.sentVersion}）をもとに変更を送りました`;
      return event.currentVersion === null
        ? `${sent}。その Pod はもう無いので、サーバーは断りました：${answer(event)}。`
        : `${sent}。Pod はすでに版 ${event.currentVersion} なので、サーバーは断りました：${answer(event)}。通していたら、写しが見ていない変更を消してしまうところでした。`;
    }
    case "staleWriteAccepted":
      return `${event.copy} が知る ${event.name}（版 ${event.sentVersion}）をもとにした変更は、それが最新だったので通りました（版 ${event.version}）。`;
    case "faultArmed":
      return {
        lose: `${event.copy} への次のイベントは、接続ごと失われます。`,
        loseSilently: `${event.copy} への次のイベントは、接続を残したまま抜き取られます。`,
        double: `${event.copy} への次のイベントは、二度届きます。`,
        delay: `${event.copy} への次のイベントは、${seconds(event.ms)}遅れて届きます。`,
      }[event.fault];
    case "eventLost":
      return `${event.copy} へ向かう${news(event)}が接続ごと失われました。切れたと分かるので、写しは聞き直せます。`;
    case "eventLostSilently":
      return `${event.copy} へ向かう${news(event)}が抜き取られました。どちらの側も気づけません。`;
    case "eventDoubled":
      return `${event.copy} に${news(event)}が二度届きました。二度目は何も変えません。`;
    case "eventDelayed":
      return `${event.copy} へ向かう${news(event)}が ${seconds(event.ms)}のあいだ止められています。`;
    case "eventDelivered":
      return `${event.copy} に${news(event)}が ${seconds(event.ms)}遅れて届きました。`;
    case "controllerStarted":
      return `小さなコントローラーは、これから ${event.copy} を信じて Pod を ${event.desired} 個に保ちます。`;
    case "controllerStopped":
      return `小さなコントローラーが止まりました。`;
    case "controllerActed": {
      const did = event.action === "create" ? "作りました" : "消しました";
      return `小さなコントローラーは ${event.copy} で ${event.seen} 個と数え、${event.desired} 個にするため ${event.name} を${did}。${stale(event)}`;
    }
    case "controllerRefused":
      return `小さなコントローラーは ${event.name} の${actions[event.action]}を断られました：${answer(event)}。${stale(event)}また数え直します。`;
  }
}

const actions = { create: "作成", change: "変更", delete: "削除" } as const;
const changes = { created: "作成", changed: "変更", deleted: "削除" } as const;

function writer(by: Writer): string {
  if (by.who === "page") return "あなた";
  if (by.who === "lab") return "実験室";
  return by.who === "controller" ? "小さなコントローラー" : `別のプログラム（${by.user}）`;
}

function answer(refused: { readonly status: number; readonly reason: string }): string {
  return `${refused.status} ${refused.reason}`.trim();
}

function at(version: number | null): string {
  return version === null ? "まだ何も読まないうち" : `版 ${version}`;
}

function stale({ behind, copy }: { readonly behind: number; readonly copy: string }): string {
  return behind === 0 ? "" : `${copy} は ${behind} 版遅れていました。`;
}

function news(event: {
  readonly name: string;
  readonly change: keyof typeof changes;
  readonly version: number;
}): string {
  return `知らせ「${event.name} の${changes[event.change]}」（版 ${event.version}）`;
}

function seconds(ms: number): string {
  return `${ms / 1000} 秒`;
}
