import type { ResourceDefinition } from "../definition.ts";
import { builtIn } from "./built-in.ts";
import { pathColumn } from "./cells.ts";
import { integer, kind, object, text, time } from "./schema-nodes.ts";

/** Leases (coordination.k8s.io/v1): who leads. */
export const leases: ResourceDefinition = builtIn({
  group: "coordination.k8s.io",
  kind: "Lease",
  schema: kind("Lease says who holds a role, and since when.", {
    spec: object("The lease.", {
      holderIdentity: text("Who holds it."),
      leaseDurationSeconds: integer("How long others wait after the last renewal before they take it."),
      acquireTime: time("When the holder took it."),
      renewTime: time("When the holder renewed it last."),
      leaseTransitions: integer("How often it changed hands."),
      strategy: text("How a holder is chosen by coordinated election."),
      preferredHolder: text("Who should take it next."),
    }),
  }),
  columns: [pathColumn("Holder", ".spec.holderIdentity", "Who holds it.")],
  rules: {
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: true,
    microTimes: [
      ["spec", "acquireTime"],
      ["spec", "renewTime"],
    ],
  },
});
