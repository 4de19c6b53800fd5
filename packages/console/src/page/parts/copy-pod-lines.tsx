import type { ReactNode } from "react";
import type { CopiedPodRow, CopyState } from "../../lab-state.ts";
import { useMessages } from "../text/messages-context.ts";
import { PodLine } from "./pod-line.tsx";

/** What a copy has, and what it lacks, in one list by name. */
export function CopyPodLines(props: {
  readonly copy: CopyState;
  readonly actionsOf?: (pod: CopiedPodRow) => ReactNode;
}): ReactNode {
  const { actionsOf, copy } = props;
  const text = useMessages();
  const rows = [
    ...copy.pods.map((pod) => ({ name: pod.name, pod })),
    ...copy.missing.map((name) => ({ name, pod: undefined })),
  ].toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  if (rows.length === 0) return <p className="note">{text.noPods}</p>;
  return (
    <ul className="pods">
      {rows.map(({ name, pod }) =>
        pod === undefined ? (
          <PodLine key={name} name={name} mark="missing" />
        ) : (
          <PodLine key={name} name={name} held={pod} mark={pod.mark}>
            {actionsOf?.(pod)}
          </PodLine>
        ),
      )}
    </ul>
  );
}
