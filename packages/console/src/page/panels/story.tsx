import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { useMessages } from "../text/messages-context.ts";
import { stepSeen, storySteps } from "../view/story-steps.ts";
import type { StoryStep } from "../view/story-steps.ts";

export interface StoryProps {
  readonly state: LabState;
  /** Where in the story one is; `undefined` while it is not told. */
  readonly index: number | undefined;
  readonly onIndex: (index: number | undefined) => void;
}

/** A guided way through the lab, one step after the other. It has no other means than the buttons of the page have. */
export function Story({ index, onIndex, state }: StoryProps): ReactNode {
  const { story } = useMessages();
  const step = index === undefined ? undefined : storySteps[index];
  return (
    <section className="story" aria-labelledby="story-title">
      <div className="story-head">
        <h2 id="story-title">{story.title}</h2>
        {index !== undefined && <StepList index={index} state={state} onChoose={onIndex} />}
      </div>
      {step === undefined || index === undefined ? (
        <>
          <p>{story.invitation}</p>
          <ActionButton action="story" tone="primary" commands={[{ do: "reset" }]} onDone={() => onIndex(0)}>
            {story.begin}
          </ActionButton>
        </>
      ) : (
        <div className="step">
          <Step key={step.id} step={step} state={state} index={index} />
          <p className="story-ways">
            <Way to={index - 1} onGo={onIndex}>
              {story.back}
            </Way>
            <Way to={index + 1} onGo={onIndex}>
              {story.next}
            </Way>
            <button type="button" className="button button-quiet" onClick={() => onIndex(undefined)}>
              {story.hide}
            </button>
          </p>
          {stepSeen(step, state.log) && (
            <p className="step-seen">
              <strong>{story.seenLabel}</strong> {story.steps[step.id].seen}
            </p>
          )}
        </div>
      )}
    </section>
  );
}

/** At either end it stays where it is, so that the focus does. */
function Way(props: {
  readonly to: number;
  readonly onGo: (index: number) => void;
  readonly children: string;
}): ReactNode {
  const { children, onGo, to } = props;
  const leads = to >= 0 && to < storySteps.length;
  return (
    <button
      type="button"
      className="button button-plain"
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

function Step(props: {
  readonly step: StoryStep;
  readonly state: LabState;
  readonly index: number;
}): ReactNode {
  const { index, state, step } = props;
  const { story } = useMessages();
  const text = story.steps[step.id];
  const [tried, setTried] = useState<ReadonlySet<string>>(new Set());
  const title = useRef<HTMLHeadingElement>(null);
  // A new step is read from its title on; its buttons come next.
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <div className="step-text">
        <p className="step-number">{story.stepOf(index + 1, storySteps.length)}</p>
        <h3 ref={title} tabIndex={-1}>
          {text.title}
        </h3>
        <p>{text.text}</p>
      </div>
      <ol className="moves">
        {step.moves.map((move) => (
          <li key={move.id}>
            <ActionButton
              action={`move-${move.id}`}
              tone={tried.has(move.id) ? "plain" : "primary"}
              commands={() => move.commands(state)}
              onDone={() => setTried((before) => new Set([...before, move.id]))}
            >
              {story.moves[move.id]}
            </ActionButton>
            {tried.has(move.id) && <span className="tried">✓ {story.tried}</span>}
          </li>
        ))}
      </ol>
    </>
  );
}
