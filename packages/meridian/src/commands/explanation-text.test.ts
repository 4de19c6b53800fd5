import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterExplanation } from "./explanation-text.ts";
import { explanationText, unknownHostText } from "./explanation-text.ts";

const now = Date.UTC(2026, 10, 30, 12, 0, 10);
const at = (secondsAgo: number): string => new Date(now - secondsAgo * 1000).toISOString();

const us: ClusterExplanation = {
  name: "us",
  geoTag: "us",
  explanation: {
    host: "failover.cloud.example.com",
    geoTag: "us",
    zone: "cloud.example.com",
    gslb: { namespace: "demo", name: "failover" },
    strategy: { type: "failover", primaryGeoTag: "eu", dnsTtlSeconds: 5, splitBrainThresholdSeconds: 0 },
    health: {
      policy: "Any",
      verdict: "Healthy",
      services: [{ namespace: "demo", name: "failover", state: "healthy", readyEndpoints: 2 }],
    },
    local: { targets: { A: ["198.51.100.1"], AAAA: [] }, published: true, source: "Ingress demo/failover" },
    peers: [
      {
        geoTag: "eu",
        servers: ["127.0.10.1:5300"],
        views: [
          {
            family: "A",
            state: "fresh",
            targets: ["192.0.2.1"],
            asOf: at(1.2),
            verdict: "1 of type A from 127.0.10.1:5300",
          },
          { family: "AAAA", state: "empty", targets: [], asOf: at(1.2), verdict: "NODATA" },
        ],
      },
      {
        geoTag: "ap",
        servers: ["127.0.10.4:5300"],
        views: [
          {
            family: "A",
            state: "unreachable",
            targets: [],
            unreachableSince: at(9),
            verdict: "no reply in time",
          },
        ],
      },
    ],
    decision: {
      picked: ["eu"],
      targets: { A: ["192.0.2.1"], AAAA: [] },
      reasons: [{ geoTag: "eu", picked: true, rule: "Primary", text: "the healthy primary answers alone" }],
      held: false,
      at: at(0.4),
    },
    dns: [],
    warnings: [],
  },
  answers: [
    { type: "A", said: "data", addresses: ["192.0.2.1"] },
    { type: "AAAA", said: "no records", addresses: [] },
  ],
};

const za: ClusterExplanation = {
  name: "za",
  geoTag: "za",
  unreachable: "connection refused",
  answers: [{ type: "A", said: "no answer (no reply in 2000 ms)", addresses: [] }],
};

test("each cluster is explained from health to what its DNS server answers, and one that cannot be asked says so", () => {
  assert.equal(
    explanationText("failover.cloud.example.com", [us, za], now).join("\n"),
    `failover.cloud.example.com

cluster us
  Gslb      demo/failover, failover, primary eu, TTL 5 s
  health    Healthy (Any of: demo/failover healthy, 2 ready)
  local     198.51.100.1 from Ingress demo/failover, published
  peer eu   fresh: 192.0.2.1 (A, 1 of type A from 127.0.10.1:5300; answered 1.2 s ago)
  peer ap   unreachable: no addresses (A, no reply in time; never answered, unreachable since 9.0 s ago; asked at 127.0.10.4:5300)
  decision  eu: 192.0.2.1 (0.4 s ago)
            eu: the healthy primary answers alone
  DNS now   A 192.0.2.1
            AAAA no records

cluster za
  operator  cannot be asked: connection refused
  DNS now   A no answer (no reply in 2000 ms)`,
  );
});

test("W-02: where there are weights, it is told why one client does not see their shares, and which TTL is advised", () => {
  const linesFor = (dnsTtlSeconds: number, weight?: Readonly<Record<string, number>>): readonly string[] => {
    const strategy = {
      ...{ type: "roundRobin", dnsTtlSeconds, splitBrainThresholdSeconds: 0 },
      ...(weight === undefined ? {} : { weight }),
    };
    const explanation = { ...us.explanation!, strategy };
    return explanationText("x.example", [{ ...us, explanation }], now).filter((line) =>
      line.startsWith("  weights"),
    );
  };
  const text = "  weights   shares of many resolvers' questions: each keeps its answer for";
  assert.deepEqual(linesFor(30, { eu: 80, us: 20 }), [`${text} 30 s, and so does a client`]);
  assert.deepEqual(linesFor(300, { eu: 80, us: 20 }), [
    `${text} 300 s, and so does a client; 30 s or less evens out sooner`,
  ]);
  assert.deepEqual(linesFor(300), []);
});

test("a host is unknown where no cluster that could be asked knows it, and those that they know are told", () => {
  const told = (knownHosts?: readonly string[]): ClusterExplanation => ({
    ...{ name: "eu", geoTag: "eu", answers: [] },
    explanation: {
      ...{ host: "x.example", geoTag: "eu", peers: [], dns: [], warnings: [] },
      ...(knownHosts === undefined ? {} : { knownHosts }),
    },
  });
  const silent: ClusterExplanation = { name: "us", geoTag: "us", answers: [], unreachable: "no answer" };
  assert.equal(unknownHostText("x.example", [silent]), undefined);
  assert.equal(unknownHostText("x.example", [told(["a.example"]), told()]), undefined);
  assert.equal(
    unknownHostText("x.example", [told(["b.example", "a.example"]), silent, told(["a.example"])]),
    "no cluster knows x.example; those that they know: a.example, b.example",
  );
  assert.equal(
    unknownHostText("x.example", [told([])]),
    "no cluster knows x.example; there is no Gslb with a host yet",
  );
});
