import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { useMessages } from "../text/messages-context.ts";
import { stepSeen, storySteps } from "../view/story-steps.ts";
import type { StoryStep } from "../view/story-steps.ts";

/** A guided way through the lab, one step after the other, that uses the lab as anybody can. */
export function Story({ state }: { readonly state: LabState }): ReactNode {
  const { story } = useMessages();
  const [index, setIndex] = useState<number>();
  const step = index === undefined ? undefined : storySteps[index];
  return (
    <section className="story" aria-labelledby="story-title">
      <h2 id="story-title">{story.title}</h2>
      {step === undefined || index === undefined ? (
        <>
          <p>{story.invitation}</p>
          <ActionButton action="story" tone="primary" commands={[{ do: "reset" }]} onDone={() => setIndex(0)}>
            {story.begin}
          </ActionButton>
        </>
      ) : (
        <>
          <StepList index={index} state={state} onChoose={setIndex} />
          <StepView key={step.id} step={step} state={state} index={index} />
          <p className="story-ways">
            <button
              type="button"
              className="button button-plain"
              aria-disabled={index === 0}
              onClick={() => setIndex(Math.max(0, index - 1))}
            >
              {story.back}
            </button>
            <button
              type="button"
              className="button button-plain"
              aria-disabled={index === storySteps.length - 1}
              onClick={() => setIndex(Math.min(storySteps.length - 1, index + 1))}
            >
              {story.next}
            </button>
            <button type="button" className="button button-quiet" onClick={() => setIndex(undefined)}>
              {story.hide}
            </button>
          </p>
        </>
      )}
    </section>
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

function StepView(props: {
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
    <div className="step">
      <p className="step-number">{story.stepOf(index + 1, storySteps.length)}</p>
      <h3 ref={title} tabIndex={-1}>
        {text.title}
      </h3>
      <p>{text.text}</p>
      <ol className="moves">
        {step.moves.map((move) => (
          <li key={move.id} data-tried={tried.has(move.id)}>
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
      {stepSeen(step, state.log) && (
        <p className="step-seen">
          <strong>{story.seenLabel}</strong> {text.seen}
        </p>
      )}
    </div>
  );
}
