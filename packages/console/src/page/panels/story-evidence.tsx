import type { ReactNode } from "react";
import type { LabState } from "../../lab-state.ts";
import { CopyPodLines } from "../parts/copy-pod-lines.tsx";
import { CounterList } from "../parts/counter-list.tsx";
import { PodLine } from "../parts/pod-line.tsx";
import { StaleSign } from "../parts/stale-sign.tsx";
import { Thought } from "../parts/thought.tsx";
import { useMessages } from "../text/messages-context.ts";
import type { StoryEvidence as Evidence } from "../view/story-steps.ts";

/** The lab, and what of it a step is about. */
interface EvidenceProps {
  readonly state: LabState;
  readonly shows: readonly Evidence[];
}

/** What a step of the story is about, as the panels below show it: one need not look for it there. */
export function StoryEvidence({ shows, state }: EvidenceProps): ReactNode {
  const text = useMessages();
  const refusal = state.log.map(({ event }) => event).findLast(({ code }) => code === "staleWriteRefused");
  return (
    <div className="evidence">
      {(shows.includes("pods") || shows.includes("counts")) && (
        <div className="evidence-sides">
          <TruthSide state={state} shows={shows} />
          <CopySide state={state} shows={shows} />
        </div>
      )}
      {shows.includes("refusal") && refusal !== undefined && (
        <p className="evidence-refusal">{text.sentence(refusal)}</p>
      )}
      {shows.includes("thought") && <Thought state={state} />}
    </div>
  );
}

function TruthSide({ shows, state }: EvidenceProps): ReactNode {
  const text = useMessages();
  const { counters, pods, version } = state.truth;
  return (
    <div className="evidence-side">
      <h4>
        {text.truth} <span className="readout">{text.versionShort(version)}</span>
      </h4>
      {shows.includes("pods") && pods.length === 0 && <p className="note">{text.noPods}</p>}
      {shows.includes("pods") && pods.length > 0 && (
        <ul className="pods">
          {pods.map((pod) => (
            <PodLine key={pod.name} name={pod.name} held={pod} />
          ))}
        </ul>
      )}
      {shows.includes("counts") && (
        <CounterList
          counters={[
            [text.counterNames.fullReads, counters.fullReads],
            [text.counterNames.watches, counters.watches],
          ]}
        />
      )}
    </div>
  );
}

function CopySide({ shows, state }: EvidenceProps): ReactNode {
  const text = useMessages();
  const [copy] = state.copies;
  if (copy === undefined) return <p className="note">{text.noCopies}</p>;
  return (
    <div className="evidence-side" data-stale={copy.stale}>
      <h4>
        {copy.name}{" "}
        <span className="readout">
          {copy.version === null ? text.noVersion : text.versionShort(copy.version)}
        </span>
      </h4>
      {shows.includes("pods") && <CopyPodLines copy={copy} />}
      {copy.stale && (
        <p className="evidence-stale">
          <strong>
            <StaleSign /> {copy.behind > 0 ? text.behind(copy.behind) : text.differs}
          </strong>{" "}
          <span className="lag">{text.confirmed(copy.lagSeconds)}</span>
        </p>
      )}
      {shows.includes("counts") && (
        <CounterList
          counters={[
            [text.counterNames.reads, copy.reads],
            [text.counterNames.resyncs, copy.counters.resyncs],
          ]}
        />
      )}
    </div>
  );
}
