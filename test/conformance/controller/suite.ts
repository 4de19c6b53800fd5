import { access } from "./access.ts";
import { clientVerbs } from "./client-verbs.ts";
import { concurrentWriters } from "./concurrent-writers.ts";
import type { ConformanceGroup } from "./conformance-group.ts";
import { controllers } from "./controllers.ts";
import { customResources } from "./custom-resources.ts";
import { discovery } from "./discovery.ts";
import { events } from "./events.ts";
import { informers } from "./informers.ts";
import { leases } from "./leases.ts";
import { paging } from "./paging.ts";
import { patches } from "./patches.ts";
import { selectors } from "./selectors.ts";
import { serverSideApply } from "./server-side-apply.ts";
import { waiting } from "./waiting.ts";
import { silentNetworks } from "./silent-networks.ts";
import { watches } from "./watches.ts";

/**
 * What must hold of the controller library together with any Kubernetes API server. It runs whole against a real
 * kube-apiserver (`e2e/controller-conformance.test.ts`), and against ours but for what `skips.ts` names.
 */
export const controllerSuite: readonly ConformanceGroup[] = [
  clientVerbs,
  patches,
  serverSideApply,
  paging,
  selectors,
  concurrentWriters,
  access,
  leases,
  events,
  watches,
  customResources,
  discovery,
  waiting,
  informers,
  silentNetworks,
  controllers,
];
