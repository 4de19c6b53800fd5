import type { ReactNode } from "react";
import type { CopyState, LabState } from "../../lab-state.ts";
import { ActionButton } from "../parts/action-button.tsx";
import { CopyPodLines } from "../parts/copy-pod-lines.tsx";
import { CounterList } from "../parts/counter-list.tsx";
import { ResourceVersion } from "../parts/resource-version.tsx";
import { StaleSign } from "../parts/stale-sign.tsx";
import { WireSign } from "../parts/wire-sign.tsx";
import { useMessages } from "../text/messages-context.ts";
import { copyOutlook } from "../view/copy-outlook.ts";

const readTimes = 100;
const delayMs = 5_000;

/** A copy, and the lab that it is compared with. */
interface CopyProps {
  readonly copy: CopyState;
  readonly state: LabState;
}

/** One informer: what it has, how far that is from the truth, and what can be done to its wire. */
export function Copy({ copy, state }: CopyProps): ReactNode {
  const text = useMessages();
  const { name, version, wire } = copy;
  const titleId = `${name}-title`;
  return (
    <article className="panel copy" aria-labelledby={titleId} data-wire={wire} data-stale={copy.stale}>
      <header className="panel-head">
        <h3 id={titleId}>{name}</h3>
        <p className="readout">{version === null ? text.noVersion : text.version(version)}</p>
      </header>
      <p className="wire">
        <WireSign wire={wire} /> {text.wire(wire, copy.connected)}
      </p>
      <ResourceVersion of={copy.resourceVersion} />
      <Staleness copy={copy} state={state} />
      <CopyPods copy={copy} />
      <WireButtons copy={copy} />
      <CopyCounters copy={copy} />
      <Reading copy={copy} state={state} />
    </article>
  );
}

function Staleness({ copy, state }: CopyProps): ReactNode {
  const text = useMessages();
  const confirmed = text.confirmed(copy.lagSeconds);
  return (
    <div className="staleness">
      {copy.stale ? (
        <p className="stale-line">
          <strong>
            <StaleSign /> {text.stale}
          </strong>{" "}
          <span>{copy.behind > 0 ? text.behind(copy.behind) : text.differs}</span>{" "}
          <span className="lag">{confirmed}</span>
        </p>
      ) : (
        <p className="fresh-line">
          <strong>{text.fresh}</strong> <span className="lag">{confirmed}</span>
        </p>
      )}
      <p className="note">{text.outlook[copyOutlook(copy, state)]}</p>
    </div>
  );
}

function CopyPods({ copy }: { readonly copy: CopyState }): ReactNode {
  const text = useMessages();
  return (
    <div className="block">
      <h4>{text.copyPods}</h4>
      <CopyPodLines
        copy={copy}
        actionsOf={({ name }) => (
          <ActionButton
            action="staleWrite"
            tone="quiet"
            label={text.sendChangeLabel(name, copy.name)}
            commands={[{ do: "staleWrite", copy: copy.name, name }]}
          >
            {text.sendChange}
          </ActionButton>
        )}
      />
    </div>
  );
}

function WireButtons({ copy }: { readonly copy: CopyState }): ReactNode {
  const text = useMessages();
  const { armed, heldBack, name, wire } = copy;
  const isOpen = wire === "open";
  const on = (action: string): string => text.actionOn(action, name);
  const toggle = isOpen ? text.cut : text.connect;
  return (
    <>
      <div className="row">
        <ActionButton
          action="wire"
          tone="primary"
          label={on(toggle)}
          commands={[{ do: isOpen ? "cut" : "connect", copy: name }]}
        >
          {toggle}
        </ActionButton>
        {wire !== "silent" && (
          <ActionButton
            action="silence"
            label={on(text.silence)}
            commands={[{ do: "cut", copy: name, how: "silence" }]}
          >
            {text.silence}
          </ActionButton>
        )}
      </div>
      <fieldset className="faults">
        <legend>{text.nextEvent}</legend>
        <div className="row">
          <ActionButton action="lose" label={on(text.lose)} commands={[{ do: "loseEvent", copy: name }]}>
            {text.lose}
          </ActionButton>
          <ActionButton
            action="double"
            label={on(text.double)}
            commands={[{ do: "doubleEvent", copy: name }]}
          >
            {text.double}
          </ActionButton>
          <ActionButton
            action="delay"
            label={on(text.delay(delayMs / 1000))}
            commands={[{ do: "delayEvent", copy: name, ms: delayMs }]}
          >
            {text.delay(delayMs / 1000)}
          </ActionButton>
          <ActionButton
            action="takeOut"
            label={on(text.loseSilently)}
            commands={[{ do: "loseEvent", copy: name, silently: true }]}
          >
            {text.loseSilently}
          </ActionButton>
        </div>
        {armed !== null && <p className="armed">{text.armed(armed.fault)}</p>}
        {heldBack > 0 && <p className="armed">{text.heldBack(heldBack)}</p>}
      </fieldset>
    </>
  );
}

function Reading({ copy, state }: CopyProps): ReactNode {
  const text = useMessages();
  const { name } = copy;
  const read = state.log
    .map(({ event }) => event)
    .findLast((event) => event.code === "copyRead" && event.copy === name);
  return (
    <div className="reading">
      <ActionButton
        action="read"
        label={text.actionOn(text.read(readTimes), name)}
        commands={[{ do: "readCopy", copy: name, times: readTimes }]}
      >
        {text.read(readTimes)}
      </ActionButton>
      {read?.code === "copyRead" && copy.reads > 0 && (
        <p className="note">
          {text.readResult({
            times: read.times,
            pods: read.pods,
            fullReads: [read.before.fullReads, read.after.fullReads],
            watches: [read.before.watches, read.after.watches],
          })}
        </p>
      )}
      <ActionButton
        action="removeCopy"
        tone="quiet"
        label={text.actionOn(text.removeCopy, name)}
        commands={[{ do: "removeCopy", copy: name }]}
      >
        {text.removeCopy}
      </ActionButton>
    </div>
  );
}

function CopyCounters({ copy }: { readonly copy: CopyState }): ReactNode {
  const { counterNames } = useMessages();
  const { counters, reads } = copy;
  return (
    <CounterList
      counters={[
        [counterNames.fullReads, counters.fullReads],
        [counterNames.resyncs, counters.resyncs],
        [counterNames.watches, counters.watches],
        [counterNames.expired, counters.expired],
        [counterNames.events, counters.events],
        [counterNames.reads, reads],
      ]}
    />
  );
}
