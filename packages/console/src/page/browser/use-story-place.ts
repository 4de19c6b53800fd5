import { useEffect, useState } from "react";
import { storySteps } from "../view/story-steps.ts";
import type { StoryPlace } from "../view/story-steps.ts";

const key = "informer-lab.story";

/** Where one is in the story. The tab remembers it, so that a reload does not begin the story anew. */
export function useStoryPlace(): readonly [
  StoryPlace | undefined,
  (next: (place: StoryPlace | undefined) => StoryPlace | undefined) => void,
] {
  const [place, setPlace] = useState(recall);
  useEffect(() => remember(place), [place]);
  return [place, setPlace];
}

function recall(): StoryPlace | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? "{}") as Readonly<Record<string, unknown>>;
    const index = storySteps.findIndex(({ id }) => id === kept["step"]);
    const tried = Array.isArray(kept["tried"]) ? (kept["tried"] as readonly unknown[]) : [];
    const moves = storySteps[index]?.moves.map(({ id }) => id) ?? [];
    return index < 0 ? undefined : { index, tried: moves.filter((id) => tried.includes(id)) };
  } catch {
    return undefined; // storage is switched off, or holds something else
  }
}

function remember(place: StoryPlace | undefined): void {
  try {
    if (place === undefined) sessionStorage.removeItem(key);
    else {
      const step = storySteps[place.index]?.id;
      sessionStorage.setItem(key, JSON.stringify({ step, tried: place.tried }));
    }
  } catch {
    // Storage is switched off: the story lasts as long as the page.
  }
}
