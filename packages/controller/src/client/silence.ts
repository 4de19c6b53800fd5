import type { Clock } from "@meridian/runtime";

/** Watches for silence; dispose it when the talk is over. */
export interface Silence extends Disposable {
  /** Something was heard. Cheap: no timer is set anew. */
  heard(): void;
}

/** Calls `onSilence` once when nothing was heard for so long. */
export function expectSpeech(
  clock: Pick<Clock, "after" | "monotonicMs">,
  ms: number,
  onSilence: () => void,
): Silence {
  let heardAtMs = clock.monotonicMs();
  const check = (): void => {
    const restMs = heardAtMs + ms - clock.monotonicMs();
    if (restMs <= 0) onSilence();
    else cancel = clock.after(restMs, check);
  };
  let cancel = clock.after(ms, check);
  return {
    heard: () => void (heardAtMs = clock.monotonicMs()),
    [Symbol.dispose]: () => cancel(),
  };
}
