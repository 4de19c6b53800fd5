import type { ReactNode } from "react";

/** A picture of a wire: whole, broken, or with nothing in it. The words beside it say the same. */
export function WireSign({ wire }: { readonly wire: "open" | "cut" | "silent" }): ReactNode {
  return (
    <svg className="wire-sign" data-wire={wire} viewBox="0 0 40 12" aria-hidden="true" focusable="false">
      <circle cx="4" cy="6" r="3" />
      {wire === "cut" ? <path d="M7 6h8M25 6h8M17.5 2.5l5 7" /> : <path d="M7 6h26" />}
      <circle cx="36" cy="6" r="3" className="wire-end" />
    </svg>
  );
}
