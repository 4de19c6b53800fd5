import assert from "node:assert/strict";
import { test } from "node:test";
import { weightGroups, weightLabels } from "./weight-labels.ts";

const targets = new Map([
  ["eu", { A: ["10.0.0.1", "10.0.0.2"], AAAA: [] }],
  ["us", { A: ["10.1.0.1", "10.1.0.2"], AAAA: [] }],
  ["za", { A: ["10.2.0.1", "10.2.0.2", "10.2.0.3"], AAAA: [] }],
]);

test("each address of a weighted cluster gets a label", () => {
  assert.deepEqual(weightLabels({ eu: 35, us: 50, za: 15 }, targets, "A"), {
    "weight-eu-0-35": "10.0.0.1",
    "weight-eu-1-35": "10.0.0.2",
    "weight-us-0-50": "10.1.0.1",
    "weight-us-1-50": "10.1.0.2",
    "weight-za-0-15": "10.2.0.1",
    "weight-za-1-15": "10.2.0.2",
    "weight-za-2-15": "10.2.0.3",
  });
  assert.deepEqual(weightLabels({ eu: 1, us: 0 }, targets, "A"), {
    "weight-eu-0-1": "10.0.0.1",
    "weight-eu-1-1": "10.0.0.2",
    "weight-us-0-0": "10.1.0.1",
    "weight-us-1-0": "10.1.0.2",
  });
  assert.deepEqual(weightLabels({}, targets, "A"), {});
  assert.deepEqual(weightLabels({ eu: 1 }, targets, "AAAA"), {});
});

test("labels are read back into groups, geo tags with dashes too", () => {
  const labels = {
    strategy: "roundRobin",
    "weight-us-east-1-0-70": "10.1.0.1",
    "weight-us-east-1-1-70": "10.1.0.2",
    "weight-eu-0-30": "10.0.0.1",
  };
  assert.deepEqual(weightGroups(labels, ["10.0.0.1", "10.1.0.1", "10.1.0.2"]), [
    { geoTag: "eu", weight: 30, targets: ["10.0.0.1"] },
    { geoTag: "us-east-1", weight: 70, targets: ["10.1.0.1", "10.1.0.2"] },
  ]);
});

test("D10: an address that two clusters share counts once, and turns no weighting off", () => {
  const labels = {
    "weight-eu-0-30": "10.0.0.1",
    "weight-us-0-70": "10.0.0.1",
    "weight-us-1-70": "10.1.0.2",
  };
  assert.deepEqual(weightGroups(labels, ["10.0.0.1", "10.1.0.2"]), [
    { geoTag: "eu", weight: 30, targets: ["10.0.0.1"] },
    { geoTag: "us", weight: 70, targets: ["10.1.0.2"] },
  ]);
});

test("D10: a cluster without a weight gets the mean of the others, and balancing goes on", () => {
  const labels = { "weight-eu-0-30": "10.0.0.1", "weight-us-0-50": "10.1.0.1" };
  assert.deepEqual(weightGroups(labels, ["10.0.0.1", "10.1.0.1", "10.2.0.1", "10.2.0.2"])?.at(-1), {
    geoTag: "",
    weight: 40,
    targets: ["10.2.0.1", "10.2.0.2"],
  });
});

test("no weight labels, or only labels of other addresses: no groups", () => {
  assert.equal(weightGroups({ strategy: "roundRobin" }, ["10.0.0.1"]), undefined);
  assert.equal(weightGroups({ "weight-0-eu": "10.0.0.1" }, ["10.0.0.1"]), undefined);
  assert.equal(weightGroups({ "weight-eu-0-1": "10.9.9.9" }, ["10.0.0.1"]), undefined);
});
