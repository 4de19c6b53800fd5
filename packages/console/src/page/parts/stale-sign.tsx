import type { ReactNode } from "react";

/** The sign of what is old. Words stand beside it. */
export function StaleSign(): ReactNode {
  return (
    <span className="stale-sign" aria-hidden="true">
      ▲
    </span>
  );
}
