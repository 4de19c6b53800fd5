import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType } from "@meridian/kube";
import type { ResourceType } from "@meridian/kube";
import fc from "fast-check";
import type { ObjectReading } from "../client/object-reading.ts";
import type { WireReader } from "../client/wire-format.ts";
import { ControllerError } from "../controller-error.ts";
import { recordedAnswers } from "../testdata/recorded-answers.ts";
import { protobuf } from "./protobuf.ts";

const deploymentType: ResourceType = {
  ...{ group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
};
/** Octets that were overwritten, added or taken away. */
const damages = fc.array(
  fc.record({
    at: fc.nat(),
    octets: fc.uint8Array({ maxLength: 6 }),
    removed: fc.constantFrom(0, 1, 2, 4, 100),
  }),
  { minLength: 1, maxLength: 4 },
);
const steps = fc.constantFrom(1, 7, 100, 4096);

function damaged(octets: Uint8Array, all: readonly Damage[]): Uint8Array {
  let result = Buffer.from(octets);
  for (const { at, octets: added, removed } of all) {
    const from = at % (result.length + 1);
    result = Buffer.concat([result.subarray(0, from), added, result.subarray(from + removed)]);
  }
  return result;
}

interface Damage {
  readonly at: number;
  readonly octets: Uint8Array;
  readonly removed: number;
}

/** Reads to the end, and looks at all that is handed over. What is thrown must be the error of a broken stream. */
function readAll(octets: Uint8Array, step: number, reader: WireReader<unknown>): void {
  try {
    for (let at = 0; at < octets.length; at += step) reader.push(octets.subarray(at, at + step));
    reader.finish();
  } catch (error) {
    assertBroken(error);
  }
}

function assertBroken(error: unknown): void {
  assert.ok(error instanceof ControllerError, String(error instanceof Error ? error.stack : error));
  assert.ok(["MalformedResponse", "TruncatedResponse", "ResponseTooLarge"].includes(error.code), error.code);
}

/** Decodes and cuts a reading, whatever it is worth. */
function look(reading: ObjectReading): void {
  const { format, octets, start, end, uidStart, uidEnd } = reading;
  assert.ok((start <= uidStart && uidStart <= uidEnd && uidEnd <= end) || uidEnd === 0);
  assert.notEqual(reading.key, "");
  for (const act of [
    () => format.decode(octets, start, end),
    () => {
      const cut = format.withoutManagedFields?.(reading);
      if (cut !== undefined) format.decode(cut.octets, cut.start, cut.end);
    },
  ]) {
    try {
      act();
    } catch (error) {
      assertBroken(error);
    }
  }
}

test("a damaged list is read, or refused as a broken stream is", () => {
  for (const [name, type] of [
    ["configMaps", configMapType],
    ["deployments", deploymentType],
  ] as const) {
    fc.assert(
      fc.property(damages, steps, (all, step) => {
        const octets = damaged(recordedAnswers.lists[name].protobuf, all);
        const reader = protobuf.of(type)?.listReader(look);
        assert.ok(reader !== undefined);
        readAll(octets, step, reader);
      }),
      { numRuns: 1000 },
    );
  }
});

test("a damaged watch is read, or refused as a broken stream is", () => {
  fc.assert(
    fc.property(damages, steps, (all, step) => {
      const octets = damaged(recordedAnswers.watch.protobuf, all);
      const reader = protobuf.of(configMapType)?.watchReader((event) => {
        if (event !== undefined && "reading" in event) look(event.reading);
      });
      assert.ok(reader !== undefined);
      readAll(octets, step, reader);
    }),
    { numRuns: 1000 },
  );
});

test("any octets are refused, or read as something", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), steps, (octets, step) => {
      const format = protobuf.of(deploymentType);
      assert.ok(format !== undefined);
      readAll(octets, step, format.listReader(look));
      readAll(
        octets,
        step,
        format.watchReader(() => {}),
      );
      try {
        format.readStatus(octets);
      } catch (error) {
        assertBroken(error);
      }
    }),
    { numRuns: 1000 },
  );
});
