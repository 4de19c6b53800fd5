import type { ReactNode } from "react";

/** What the API server calls the version that stands above it. The word is Kubernetes', in every language. */
export function ResourceVersion({ of }: { readonly of: string }): ReactNode {
  if (of === "") return undefined;
  return (
    <p className="resource-version" lang="en">
      resourceVersion {of}
    </p>
  );
}
