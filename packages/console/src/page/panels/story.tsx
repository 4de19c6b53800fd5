import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { useMessages } from "../text/messages-context.ts";
import { stepSeen, storySteps } from "../view/story-steps.ts";
import type { StoryPlace } from "../view/story-steps.ts";
import { StoryStep } from "./story-step.tsx";

/** The lab that the story is told with, and how far it has come. */
export interface StoryProps {
  readonly state: LabState;
  /** Where in the story one is; `undefined` while it is not told. */
  readonly place: StoryPlace | undefined;
  readonly onPlace: (next: (place: StoryPlace | undefined) => StoryPlace | undefined) => void;
}

/** A guided way through the lab, one step after the other. It has no other means than the buttons of the page have. */
export function Story({ onPlace, place, state }: StoryProps): ReactNode {
  const { story } = useMessages();
  const step = place === undefined ? undefined : storySteps[place.index];
  const onIndex = (index: number): void => onPlace(() => ({ index, tried: [] }));
  return (
    <section className="story" aria-labelledby="story-title">
      <div className="story-head">
        <h2 id="story-title">{story.title}</h2>
        {place !== undefined && <StepList index={place.index} state={state} onChoose={onIndex} />}
      </div>
      {step === undefined || place === undefined ? (
        <>
          <p>{story.invitation}</p>
          <ActionButton action="story" tone="primary" commands={[{ do: "reset" }]} onDone={() => onIndex(0)}>
            {story.begin}
          </ActionButton>
        </>
      ) : (
        <div className="step">
          <StoryStep
            key={step.id}
            step={step}
            place={place}
            state={state}
            onTried={(move) =>
              onPlace((before) =>
                before?.index === place.index ? { ...before, tried: [...before.tried, move] } : before,
              )
            }
            onAgain={() => onIndex(place.index)}
          />
          <p className="story-ways">
            <Way to={place.index - 1} onGo={onIndex}>
              {story.back}
            </Way>
            <Way to={place.index + 1} onGo={onIndex} isDue={stepSeen(step, state.log)}>
              {story.next}
            </Way>
            <button type="button" className="button button-quiet" onClick={() => onPlace(() => undefined)}>
              {story.hide}
            </button>
          </p>
        </div>
      )}
    </section>
  );
}

/** At either end it stays where it is, so that the focus does. */
function Way(props: {
  readonly to: number;
  readonly onGo: (index: number) => void;
  /** It is what comes next. */
  readonly isDue?: boolean;
  readonly children: string;
}): ReactNode {
  const { children, isDue = false, onGo, to } = props;
  const leads = to >= 0 && to < storySteps.length;
  return (
    <button
      type="button"
      className={`button button-${isDue && leads ? "primary" : "plain"}`}
      aria-disabled={!leads}
      onClick={() => leads && onGo(to)}
    >
      {children}
    </button>
  );
}

function StepList(props: {
  readonly index: number;
  readonly state: LabState;
  readonly onChoose: (index: number) => void;
}): ReactNode {
  const { story } = useMessages();
  return (
    <ol className="step-list" aria-label={story.stepsLabel}>
      {storySteps.map((step, number) => {
        const seen = stepSeen(step, props.state.log);
        const { title } = story.steps[step.id];
        return (
          <li key={step.id}>
            <button
              type="button"
              aria-current={number === props.index ? "step" : undefined}
              aria-label={`${number + 1} ${title}${seen ? ` (${story.tried})` : ""}`}
              data-seen={seen}
              onClick={() => props.onChoose(number)}
            >
              {number + 1}
            </button>
          </li>
        );
      })}
    </ol>
  );
}
