import { useEffect, useRef } from "react";
import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { useMessages } from "../text/messages-context.ts";
import { connectAgain, isMoveDue, stepSeen, storySteps } from "../view/story-steps.ts";
import type { StoryMoveId, StoryPlace, StoryStep as StepOfStory } from "../view/story-steps.ts";
import { StoryEvidence } from "./story-evidence.tsx";

/** A step, what was done of it, and who hears of more. */
interface StepProps {
  readonly step: StepOfStory;
  readonly place: StoryPlace;
  readonly state: LabState;
  readonly onTried: (move: StoryMoveId) => void;
  readonly onAgain: () => void;
}

/** One step: what to do, in its order, and what is to be seen of it. */
export function StoryStep(props: StepProps): ReactNode {
  const { onAgain, place, state, step } = props;
  const { story } = useMessages();
  const text = story.steps[step.id];
  const title = useRef<HTMLHeadingElement>(null);
  // A new step is read from its title on; its buttons come next.
  useEffect(() => {
    title.current?.focus({ preventScroll: true });
    const panel = title.current?.closest(".story");
    // What is to be seen needs room below it.
    if (panel && panel.getBoundingClientRect().bottom > innerHeight * 0.7) panel.scrollIntoView();
  }, []);
  const seen = stepSeen(step, state.log);
  const again = (): void => {
    title.current?.focus({ preventScroll: true });
    onAgain();
  };
  return (
    <>
      <div className="step-text">
        <p className="step-number">{story.stepOf(place.index + 1, storySteps.length)}</p>
        <h3 ref={title} tabIndex={-1}>
          {text.title}
        </h3>
        <p>{text.text}</p>
      </div>
      <div className="step-moves">
        <Moves {...props} />
        {!seen && <Waiting {...props} onAgain={again} />}
      </div>
      <StoryEvidence state={state} shows={step.shows} />
      <div className="step-outcome" role="status">
        {seen && (
          <p className="step-seen">
            <strong>{story.seenLabel}</strong> {text.seen}
            {place.index === storySteps.length - 1 && <span className="ending">{story.ending}</span>}
          </p>
        )}
      </div>
    </>
  );
}

function Moves({ onTried, place, state, step }: StepProps): ReactNode {
  const { story } = useMessages();
  return (
    <ol className="moves">
      {step.moves.map((move) => {
        const tried = place.tried.includes(move.id);
        const due = isMoveDue(step, move, place.tried);
        return (
          <li key={move.id}>
            <ActionButton
              action={`move-${move.id}`}
              tone={tried || !due ? "plain" : "primary"}
              blocked={!due}
              commands={() => move.commands(state)}
              onDone={() => onTried(move.id)}
            >
              {story.moves[move.id]}
            </ActionButton>
            {tried && <span className="tried">✓ {story.tried}</span>}
          </li>
        );
      })}
    </ol>
  );
}

/** Once all was done there may be something to wait for, or something else was done in between. */
function Waiting({ onAgain, place, state, step }: StepProps): ReactNode {
  const { story } = useMessages();
  if (step.moves.some(({ id }) => !place.tried.includes(id))) return undefined;
  const isLate = (state.copies[0]?.heldBack ?? 0) > 0 && state.copies[0]?.wire === "open";
  if (isLate) return <p className="waiting">{story.late}</p>;
  return (
    <p className="waiting">
      {story.waiting}{" "}
      <ActionButton action="again" tone="quiet" commands={connectAgain(state)} onDone={onAgain}>
        {story.again}
      </ActionButton>
    </p>
  );
}
