import assert from "node:assert/strict";
import { test } from "node:test";
import {
  hostHealth,
  readyEndpoints,
  type BackendHealth,
  type HostHealth,
  type ServiceHealthPolicy,
} from "./health.ts";

const letters: Readonly<Record<string, BackendHealth>> = { H: "healthy", U: "unhealthy", N: "notFound" };

/** Policy, Services (H healthy, U unhealthy, N missing), verdict. */
const table: readonly (readonly [ServiceHealthPolicy, string, HostHealth])[] = [
  ["Any", "", "NotFound"],
  ["All", "", "NotFound"],
  ["Any", "H", "Healthy"],
  ["Any", "U", "Unhealthy"],
  ["Any", "N", "NotFound"],
  ["Any", "HH", "Healthy"],
  ["Any", "HN", "Healthy"],
  ["Any", "HU", "Healthy"],
  ["Any", "UN", "Unhealthy"],
  ["Any", "NN", "NotFound"],
  ["Any", "UU", "Unhealthy"],
  ["Any", "HHH", "Healthy"],
  ["All", "H", "Healthy"],
  ["All", "HH", "Healthy"],
  ["All", "U", "Unhealthy"],
  ["All", "UU", "Unhealthy"],
  ["All", "N", "NotFound"],
  ["All", "NN", "NotFound"],
  ["All", "HN", "NotFound"],
  ["All", "HU", "Unhealthy"],
  ["All", "UH", "Unhealthy"],
  ["All", "UN", "NotFound"],
  ["All", "HUH", "Unhealthy"],
];

for (const [policy, services, verdict] of table) {
  test(`${policy} over ${services === "" ? "no Service" : services} is ${verdict}`, () => {
    assert.equal(
      hostHealth(
        policy,
        Array.from(services, (letter) => letters[letter]!),
      ),
      verdict,
    );
  });
}

test("an endpoint is ready with an address and ready true, null or absent", () => {
  const slice = {
    endpoints: [
      { addresses: ["10.0.0.1"], conditions: { ready: true } },
      { addresses: ["10.0.0.2"], conditions: { ready: false } },
      { addresses: ["10.0.0.3"], conditions: { ready: null } },
      { addresses: ["10.0.0.4"] },
      { addresses: [], conditions: { ready: true } },
    ],
  };
  assert.equal(readyEndpoints(slice), 3);
  assert.equal(readyEndpoints({}), 0);
  assert.equal(readyEndpoints({ endpoints: null }), 0);
});
