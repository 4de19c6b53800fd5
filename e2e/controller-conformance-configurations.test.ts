import assert from "node:assert/strict";
import { protobuf } from "@meridian/controller/protobuf";
import { configMapType } from "@meridian/kube";
import { clientVerbs } from "../test/conformance/controller/client-verbs.ts";
import { concurrentWriters } from "../test/conformance/controller/concurrent-writers.ts";
import { describeConformance } from "../test/conformance/controller/conformance-group.ts";
import type { ConformanceGroup } from "../test/conformance/controller/conformance-group.ts";
import { controllers } from "../test/conformance/controller/controllers.ts";
import { informers } from "../test/conformance/controller/informers.ts";
import { paging } from "../test/conformance/controller/paging.ts";
import { refusal } from "../test/conformance/controller/refusal.ts";
import { controllerSuite } from "../test/conformance/controller/suite.ts";
import { watches } from "../test/conformance/controller/watches.ts";
import { writeSome } from "../test/conformance/controller/write-some.ts";
import { realControlPlaneAbsence } from "./harness/real-control-plane.ts";
import { RealServer } from "./harness/real-server.ts";

// kube-apiserver as others configure it: what goes through its caches and connections has other paths there. Whole by
// `npm run proof`; else with what follows collections, where the paths differ most.

const absence = await realControlPlaneAbsence();
const whole = process.env["MERIDIAN_CONFIGURATIONS"] === "1";

describeConformance(
  {
    name: "kube-apiserver without a watch cache and streaming lists",
    open: () =>
      RealServer.start({ apiserverArgs: ["--watch-cache=false", "--feature-gates=WatchList=false"] }),
    skips: whole
      ? {
          "watches: a streaming list tells the whole state, says where it ends, and goes on":
            "streaming lists are turned off",
          "watches: a watch whose time is over ends with a bookmark, from which the next one misses nothing":
            "bookmarks come from the watch cache",
        }
      : {},
    absence,
  },
  whole ? [paging, watches, informers] : [informers],
);

describeConformance(
  {
    name: "kube-apiserver that sends clients elsewhere now and then (GOAWAY)",
    open: () => RealServer.start({ apiserverArgs: ["--goaway-chance=0.02"] }),
    skips: {},
    absence,
  },
  whole ? [concurrentWriters, informers] : [informers],
);

if (whole) {
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
}

describeConformance(
  {
    name: "kube-apiserver that speaks HTTP/1.1 alone",
    open: () => RealServer.start({ apiserverArgs: ["--disable-http2-serving"] }),
    skips: whole
      ? { "watches: many watches share a connection and do not disturb each other": "each has its own" }
      : {},
    absence,
  },
  whole ? [clientVerbs, watches, informers] : [informers],
);

describeConformance(
  {
    name: "kube-apiserver whose objects come as protobuf",
    open: () => RealServer.start({ copies: { wireFormat: protobuf } }),
    skips: {},
    absence,
  },
  whole ? controllerSuite : [informers, controllers],
);

/** What only a server with a store of its own can show. */
const storeOutages: ConformanceGroup = {
  subject: "outages of etcd",
  cases: {
    "an etcd that is killed in the middle of writes is followed on": async (world) => {
      const { plane } = world.server as RealServer;
      const copy = world.follow();
      await copy.informer.synced;
      for (let round = 0; round < 3; round++) {
        const writing = writeSome(world.client, world.namespace, round).catch(() => {});
        await plane.restartEtcd();
        await writing;
      }
      // The API server finds its store again at a time of its own.
      await world.eventually("writes are taken again", () => writeSome(world.client, world.namespace, 99));
      await copy.catchUp();
    },

    "a version that etcd has compacted is expired, and a copy that watches is none the wiser": async (
      world,
    ) => {
      const { client, namespace } = world;
      const { plane } = world.server as RealServer;
      const copy = world.follow();
      await copy.informer.synced;
      const { metadata } = await client.list(configMapType, { namespace });
      await writeSome(client, namespace, 0);
      await plane.compact();
      const { resourceVersion = "" } = metadata;
      const exact = { namespace, resourceVersion, resourceVersionMatch: "Exact" } as const;
      await refusal(client.list(configMapType, exact), { code: 410, reason: "Expired" });
      await writeSome(client, namespace, 1);
      await copy.catchUp();
      assert.equal(copy.informer.status.resyncs, 0);
    },
  },
};

describeConformance(
  {
    name: "kube-apiserver whose etcd fails",
    open: () => RealServer.start({ apiserverArgs: ["--watch-cache=false"] }),
    skips: {},
    absence,
  },
  [storeOutages],
);
