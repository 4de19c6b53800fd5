import { clientVerbs } from "../test/conformance/controller/client-verbs.ts";
import { concurrentWriters } from "../test/conformance/controller/concurrent-writers.ts";
import { describeConformance } from "../test/conformance/controller/conformance-group.ts";
import { informers } from "../test/conformance/controller/informers.ts";
import { paging } from "../test/conformance/controller/paging.ts";
import { watches } from "../test/conformance/controller/watches.ts";
import { realControlPlaneAbsence } from "./harness/real-control-plane.ts";
import { RealServer } from "./harness/real-server.ts";

// kube-apiserver as others configure it: what goes through its caches and connections has other paths there.

const absence = await realControlPlaneAbsence();

describeConformance(
  {
    name: "kube-apiserver without a watch cache and streaming lists",
    open: () =>
      RealServer.start({ apiserverArgs: ["--watch-cache=false", "--feature-gates=WatchList=false"] }),
    skips: {
      "watches: a streaming list tells the whole state, says where it ends, and goes on":
        "streaming lists are turned off",
      "watches: a watch whose time is over ends with a bookmark, from which the next one misses nothing":
        "bookmarks come from the watch cache",
    },
    absence,
  },
  [paging, watches, informers],
);

describeConformance(
  {
    name: "kube-apiserver that sends clients elsewhere now and then (GOAWAY)",
    open: () => RealServer.start({ apiserverArgs: ["--goaway-chance=0.02"] }),
    skips: {},
    absence,
  },
  [concurrentWriters, informers],
);

describeConformance(
  {
    name: "kube-apiserver that takes few streams on a connection",
    open: () => RealServer.start({ apiserverArgs: ["--http2-max-streams-per-connection=8"] }),
    skips: {
      "watches: many watches share a connection and do not disturb each other": "eight share one",
    },
    absence,
  },
  [watches],
);

describeConformance(
  {
    name: "kube-apiserver that speaks HTTP/1.1 alone",
    open: () => RealServer.start({ apiserverArgs: ["--disable-http2-serving"] }),
    skips: {
      "watches: many watches share a connection and do not disturb each other": "each has its own",
    },
    absence,
  },
  [clientVerbs, watches, informers],
);
