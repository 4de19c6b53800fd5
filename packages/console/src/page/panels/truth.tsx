import type { ReactNode } from "react";
import { labLimits } from "../../lab-state.ts";
import type { TruthState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CounterList } from "../parts/counter-list.tsx";
import { NumberField } from "../parts/number-field.tsx";
import { PodLine } from "../parts/pod-line.tsx";
import { ResourceVersion } from "../parts/resource-version.tsx";
import { useLabDesk } from "../stream/lab-desk.tsx";
import { useMessages } from "../text/messages-context.ts";

/** The API server's side, with its history. */
export function Truth({ truth }: { readonly truth: TruthState }): ReactNode {
  const text = useMessages();
  const { counterNames } = text;
  const { fullReads, watches, watchesOpen } = truth.counters;
  return (
    <section className="panel truth" aria-labelledby="truth-title">
      <header className="panel-head">
        <h2 id="truth-title">{text.truth}</h2>
        <p className="readout">{text.version(truth.version)}</p>
      </header>
      <p className="note">{text.truthNote}</p>
      <ResourceVersion of={truth.resourceVersion} />
      <TruthPods truth={truth} />
      <History truth={truth} />
      <div className="block">
        <h3>{text.counters}</h3>
        <CounterList
          counters={[
            [counterNames.fullReads, fullReads],
            [counterNames.watches, watches],
            [counterNames.watchesOpen, watchesOpen],
          ]}
        />
      </div>
    </section>
  );
}

function TruthPods({ truth }: { readonly truth: TruthState }): ReactNode {
  const text = useMessages();
  return (
    <div className="block">
      <h3>{text.pods}</h3>
      {truth.pods.length === 0 && <p className="note">{text.noPods}</p>}
      <ul className="pods">
        {truth.pods.map(({ name, ...held }) => (
          <PodLine key={name} name={name} held={held}>
            <ActionButton
              action="change"
              tone="quiet"
              label={text.onPod(text.change, name)}
              commands={[{ do: "change", name }]}
            >
              {text.change}
            </ActionButton>
            <ActionButton
              action="delete"
              tone="danger"
              label={text.onPod(text.delete, name)}
              commands={[{ do: "delete", name }]}
            >
              {text.delete}
            </ActionButton>
          </PodLine>
        ))}
      </ul>
      <ActionButton action="create" tone="primary" commands={[{ do: "create" }]}>
        {text.create}
      </ActionButton>
    </div>
  );
}

function History({ truth }: { readonly truth: TruthState }): ReactNode {
  const text = useMessages();
  const { send } = useLabDesk();
  return (
    <div className="block">
      <h3>{text.history}</h3>
      {truth.history.length === 0 && <p className="note">{text.historyEmpty}</p>}
      <ol className="history">
        {truth.history.toReversed().map(({ by, change, name, version }) => (
          <li key={version} data-who={by.who}>
            <span className="pod-version">{text.versionShort(version)}</span>{" "}
            <span className="pod-name">{name}</span> <span>{text.changes[change]}</span>{" "}
            <span className="by">{text.by(by)}</span>
          </li>
        ))}
      </ol>
      {truth.oldestResumable > 0 && <p className="forgotten">{text.forgotten(truth.oldestResumable)}</p>}
      <div className="row">
        <NumberField
          label={text.historyLength}
          value={truth.historyMax}
          min={1}
          max={labLimits.historyMax}
          onChoose={(records) => void send([{ do: "setHistory", records }])}
        />
        <ActionButton action="compact" commands={[{ do: "compact" }]}>
          {text.compact}
        </ActionButton>
      </div>
    </div>
  );
}
