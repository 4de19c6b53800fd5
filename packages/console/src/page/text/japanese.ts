import { labLimits } from "../../lab-state.ts";
import { fromTo } from "./from-to.ts";
import { japaneseSentence, withBoundNumbers } from "./japanese-log.ts";
import type { Messages } from "./messages.ts";

/** The page in Japanese. */
export const japanese: Messages = {
  language: "ja",
  title: "informer 実験室",
  tagline: "ひとつの真実と、いくつかの写し。そのあいだの接続は、自分の手で切れます。",
  skipToLab: "実験台へ移動",
  languageLabel: "言語",
  themeLabel: "配色",
  themes: { system: "端末に合わせる", light: "明るい", dark: "暗い" },

  connecting: "実験室につないでいます…",
  away: (since) => `サーバーから返事がありません。見えているのは ${since} の状態です。自動でつなぎ直します。`,
  reset: "最初から",
  complaintTitle: "できませんでした。",
  dismiss: "閉じる",
  serverAway: "サーバーから返事がありません。何も変わっていません。",
  refusal: ({ about, code }) => {
    switch (code) {
      case "BadCommand":
        return `「${about}」が伝わりませんでした。`;
      case "NoSuchCopy":
        return `${about} はもうありません。`;
      case "NoSuchPod":
        return `この写しに ${about} はありません。`;
      case "TooMany":
        return about === "copies"
          ? `写しは ${labLimits.copies} つまでです。`
          : `Pod は ${labLimits.pods} 個までです。`;
      case "Unavailable":
        return about === "busy"
          ? "実験室が立て込んでいます。少し待ってからもう一度お試しください。"
          : "実験室が API サーバーに問い合わせられませんでした。";
    }
  },

  aboutTitle: "ここで見えるもの",
  about: [
    "コントローラーは、いま何があるかを知らなければ働けません。毎回すべてを尋ねればサーバーが参ってしまい、たまにしか尋ねなければ気づくのが遅れます。そこで手元に写しを持ちます。最初に一度だけ全件を読み、あとは開いたままの接続で変更だけを送ってもらいます。この接続が watch で、こうして写しを持つのが informer です。",
    "「真実」は API サーバーで、正しいのはここだけです。「写し」はそれを追う本物の informer です。作り物はありません。Pod はそのサーバーにあり、写しはそれぞれ自分の watch で追いかけています。その watch を、ここで切れます。",
  ],
  aboutMore: "そこから言えること",
  lessons: [
    [
      "読むのはただ",
      "写しを読んでもサーバーには触れません。だからコントローラーは、毎回まるごと数え直せます。",
    ],
    [
      "写しは古いことがある",
      "watch が切れているあいだは何も届きません。消えた Pod が残って見え、増えた Pod は見えません。",
    ],
    [
      "過去は短い",
      "サーバーが覚えているのは最近の変更だけです。長く離れていた写しには差分を渡せず、全件の読み直しになります。",
    ],
    [
      "大事なのは今の姿",
      "途中で失われても、重なっても、遅れても、写しは最後の姿に行き着きます。知らせを覚えるのでなく今あるものを数えるコントローラーも、同じように正しく終わります。",
    ],
    [
      "書き込みは版を名乗る",
      "古い写しから書けば、見ていない変更を消してしまいます。サーバーは版を比べて断ります。",
    ],
  ],

  story: {
    title: "ひとめぐり",
    begin: "順番に試す",
    hide: "案内を閉じる",
    invitation:
      "写しは何の役に立ち、どう間違え、それでもなぜ困らないのか。短い八つの段で試します。実験室は最初の状態に戻ります。",
    stepsLabel: "段の一覧",
    stepOf: (step, steps) => `${steps} 段のうち ${step} 段目`,
    tried: "済み",
    back: "前へ",
    next: "次へ",
    seenLabel: "ここで見えたこと",
    late: "遅らせた知らせが向かっています。五秒かかります。",
    waiting: "続きを待っています。何も起きなければ、途中でほかの操作が入ったようです。",
    again: "この段をやり直す",
    ending:
      "次に試すなら：watch を黙らせる、イベントを抜き取る、写しを増やしてコントローラーにそちらを信じさせる。",
    steps: {
      differences: {
        title: "全件は一度、あとは差分",
        text: "写しは Pod をすべて一度読み、watch を開いています。Pod をひとつ作ってください。届くのはその変更だけです。",
        seen: "両側が同じ版になりました。サーバーの数えた全件読み込みは 1 回のままです。",
      },
      reading: {
        title: "読むのはただ",
        text: "コントローラーは写しを絶えず読みます。百回読んで、サーバーの数を見てください。",
        seen: "サーバーの数は動きません。どの読み取りも写しの外へ出ていないからです。",
      },
      cut: {
        title: "切れた写しは古くなる",
        text: "watch を切り、Pod をひとつ消して、もうひとつを二度変えます。真実は先へ進みます。",
        seen: "写しは元の場所に止まっています。消した Pod がまだ居て、変えた Pod は前のイメージのまま。遅れは伸び、読む側はこれを信じます。",
      },
      caughtUp: {
        title: "差分で追いつく",
        text: "つなぎ直します。見逃した分はまだ履歴にあるので、写しは自分の版より後だけを求めます。",
        seen: "差分で足りました。全件読み込みは増えていません。二度変わった Pod は今の姿で並びます。途中の姿はもう問題になりません。",
      },
      tooOld: {
        title: "長く離れすぎた",
        text: "今度は履歴に入りきらないほど書いてから、つなぎ直します。",
        seen: "サーバーはもう差分を答えられませんでした（410 Gone）。写しは全件を読み直し、全件読み込みと再同期がひとつずつ増えました。",
      },
      staleWrite: {
        title: "古い写しからの書き込み",
        text: "写しを切り離して Pod を変え、そのうえで写しが知る姿をもとに変更を送ります。",
        seen: "サーバーは版を比べて断りました。409 Conflict です。写しが古ければ思い違いはします。それでも、ほかの誰かの変更を消すことはできません。",
      },
      controller: {
        title: "写しを信じるコントローラー",
        text: "小さなコントローラーは、写しで数えて Pod を三つに保ちます。切り離して Pod をひとつ消すと、三つあると数えて満足します。それからつなぎ直します。",
        seen: "写しが古いあいだは何もせず、新しくなったとたんに正しく動きました。知らせを覚えていたのでなく、数え直したのです。",
      },
      faults: {
        title: "失う、重なる、遅れる",
        text: "写しへ向かう知らせに、順に手を加えます。そのたびに Pod をひとつ消します。",
        seen: "どの場合も三つに戻りました。今あるものを数える側に必要なのは、知らせがいつか届くことです。ちょうど一度、遅れずに、ではありません。",
      },
    },
    moves: {
      create: "Pod を作る",
      read: "写しを 100 回読む",
      cut: "watch を切る",
      deleteFirst: "Pod を消す",
      changeTwice: "Pod を二度変える",
      connect: "つなぎ直す",
      overflow: "入りきらないほど書く",
      changeOnce: "Pod を変える",
      sendFromCopy: "写しから変更を送る",
      startController: "コントローラーを動かす",
      loseAndDelete: "削除の知らせを失わせる",
      doubleAndDelete: "二度届ける",
      delayAndDelete: "5 秒遅らせる",
    },
  },

  score: {
    title: "どこまで来ているか",
    caption: "新しい版の並び：何が書かれ、どの写しがそれを持っているか",
    who: "版",
    cell: {
      created: "作成",
      changed: "変更",
      deleted: "削除",
      forgotten: "忘れられた",
      has: "持っている",
      unseen: "まだ見ていない",
      lost: "見ないまま忘れられた",
      takenOut: "抜き取られた",
      future: "",
      other: "",
    },
    legend: [
      ["created", "作成"],
      ["changed", "変更"],
      ["deleted", "削除"],
      ["forgotten", "履歴に無い"],
      ["has", "写しにある"],
      ["unseen", "未達、まだ送れる"],
      ["lost", "未達、もう送れない"],
      ["takenOut", "抜き取られ、写しは知らない"],
    ],
  },

  truth: "真実",
  truthNote: "API サーバーが持つもの。正しいのはここだけです。",
  version: (version) => withBoundNumbers(`版 ${version}`),
  versionShort: (version) => `版${version}`,
  pods: "Pod",
  noPods: "Pod はありません。",
  create: "Pod を作る",
  change: "変える",
  delete: "消す",
  onPod: (action, name) => `${name} を${action}`,
  history: "履歴",
  historyLength: "残す件数",
  bounds: (min, max) => `（${min}〜${max}）`,
  historyEmpty: "何も覚えていません。",
  forgotten: (version) => withBoundNumbers(`版 ${version} までは忘れました`),
  compact: "履歴を捨てる",
  changes: { created: "作成", changed: "変更", deleted: "削除" },
  by: ({ user, who }) =>
    ({ page: "あなた", lab: "実験室", controller: "小さなコントローラー", other: user })[who],
  counters: "サーバーの数えたもの",
  counterNames: {
    fullReads: "全件読み込み",
    watches: "watch",
    watchesOpen: "開通中",
    resyncs: "再同期",
    expired: "「古すぎる」",
    events: "イベント",
    reads: "読まれた回数",
  },

  copies: "写し",
  noCopies: "写しがありません。ひとつ増やしてください。",
  addCopy: "写しを増やす",
  removeCopy: "外す",
  noVersion: "まだ空",
  wire: (wire, connected) => {
    if (wire === "cut") return "watch は切れている";
    if (wire === "silent") return connected ? "無音（つながっていると思っている）" : "無音";
    return connected ? "watch は開いている" : "接続中";
  },
  fresh: "真実と同じ",
  stale: "古い",
  behind: (versions) => withBoundNumbers(`${versions} 版遅れ`),
  differs: "真実と食い違う",
  confirmed: (seconds) =>
    seconds === null ? "一度も確かめていない" : withBoundNumbers(`最後の確認は ${seconds} 秒前`),
  outlook: {
    fresh: "ここで読めるのは、今の姿です。",
    differences: "履歴はそこまで残っています。差分で追いつけます。",
    everything: "履歴はそこまで残っていません。全件の読み直しになります。",
    heldBack: "知らせは来ていますが、途中で止められています。",
    differs:
      "途中でイベントが抜き取られましたが、写しには分かりません。同じ Pod がまた変わるか、全件を読み直せば直ります。",
    catchingUp: "差分が届くところです。",
  },
  podMark: { older: "前の姿", gone: "もう無い", missing: "まだ来ていない" },
  cut: "watch を切る",
  silence: "黙らせる",
  connect: "つなぎ直す",
  nextEvent: "次のイベントに手を加える",
  lose: "失わせる",
  loseSilently: "抜き取る",
  double: "二度届ける",
  delay: (seconds) => `${seconds} 秒遅らせる`,
  armed: (fault) =>
    ({
      lose: "次のイベントは接続ごと失われます。",
      loseSilently: "次のイベントは誰にも知られず抜き取られます。",
      double: "次のイベントは二度届きます。",
      delay: "次のイベントは遅れて届きます。",
    })[fault],
  heldBack: (events) => withBoundNumbers(`${events} 件が止められている`),
  read: (times) => `${times} 回読む`,
  readResult: ({ fullReads, pods, times, watches }) =>
    withBoundNumbers(
      `${pods} 個を ${times} 回読みました。サーバー：全件読み込み ${fromTo(...fullReads)}、watch ${fromTo(...watches)}。`,
    ),
  copyPods: "この写しの Pod",
  sendChange: "変える",
  sendChangeLabel: (name, copy) => `${copy} が知る ${name} をもとに変える`,
  actionOn: (action, copy) => `${copy}：${action}`,

  controller: "小さなコントローラー",
  controllerNote: "Pod を決まった数に保ちます。知っているのは、写しに書いてあることだけです。",
  controllerMark: "小さなコントローラーの書き込み",
  trusts: "信じる写し",
  wants: "保つ数",
  start: "動かす",
  stop: "止める",
  running: "動いている",
  stopped: "止まっている",
  thought: (thought) => {
    const { actual, behind, copy, decides, desired, seen, state, version } = thought;
    if (state === "stopped") return "いまは動いていません。";
    if (state === "never") return "これから数えます。";
    const decision = { nothing: "何もしません", create: "ひとつ作ります", delete: "ひとつ消します" }[decides];
    const belief = `${copy}（版 ${version}）で ${seen} 個と数え、保つ数は ${desired} 個なので、${decision}。`;
    if (state === "right") return withBoundNumbers(`${belief}写しは真実と同じです。`);
    const lag = behind > 0 ? `写しは ${behind} 版遅れています` : "写しは真実と食い違っています";
    return withBoundNumbers(`${belief}${lag}。本当は ${actual} 個です。`);
  },
  controllerCounters: { counts: "数えた", writes: "書いた", refusals: "断られた" },

  log: "起きたこと",
  logNote: "新しいものが上です。",
  logEmpty: "まだ何も起きていません。",
  sentence: japaneseSentence,
  more: (sentences) => `ほかに ${sentences} 行あります。`,
  footer: "このページの中身はすべて、開いたサーバーから届いています。ほかには何も尋ねません。",
};
