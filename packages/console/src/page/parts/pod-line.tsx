import type { ReactNode } from "react";
import { useMessages } from "../text/messages-context.ts";
import { StaleSign } from "./stale-sign.tsx";

/** How a Pod of a copy differs from the truth; `missing` is only in the truth. */
export type PodMark = "same" | "older" | "gone" | "missing";

/** A Pod, and how it stands to the truth. */
export interface PodLineProps {
  readonly name: string;
  /** Without it there is only the name: the copy has no such Pod. */
  readonly held?: { readonly value: string; readonly version: number };
  readonly mark?: PodMark;
  /** What can be done with it. */
  readonly children?: ReactNode;
}

/** One Pod in a list, as the truth or a copy has it. */
export function PodLine({ children, held, mark = "same", name }: PodLineProps): ReactNode {
  const text = useMessages();
  return (
    <li data-mark={mark}>
      <span className="pod-name">{name}</span>{" "}
      {held !== undefined && (
        <>
          <span className="pod-value">{held.value}</span>{" "}
          <span className="pod-version">{text.versionShort(held.version)}</span>{" "}
        </>
      )}
      {mark !== "same" && (
        <span className="mark">
          <StaleSign /> {text.podMark[mark]}
        </span>
      )}
      {children !== undefined && <span className="pod-actions">{children}</span>}
    </li>
  );
}
