import assert from "node:assert/strict";
import { test } from "node:test";
import { configMapType, leaseType } from "@meridian/kube";
import type { KubeObject, ResourceType } from "@meridian/kube";
import type { ObjectReading } from "../client/object-reading.ts";
import type { RawWatchEvent } from "../client/watch-event-reader.ts";
import type { WireFormatOfKind } from "../client/wire-format.ts";
import { dropManagedFields } from "../informer/managed-fields.ts";
import { recordedAnswers } from "../testdata/recorded-answers.ts";
import type { RecordedEvent, RecordedObject } from "../testdata/recorded-answers.ts";
import { protobuf } from "./protobuf.ts";

const deploymentType: ResourceType = {
  ...{ group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
};
const lists = {
  configMaps: configMapType as ResourceType,
  deployments: deploymentType,
  leases: leaseType as ResourceType,
};
const listNames = Object.keys(lists) as (keyof typeof lists)[];
const steps = [1, 3, 64, 1000, 1_000_000];

function formatOf(type: ResourceType): WireFormatOfKind {
  const format = protobuf.of(type);
  assert.ok(format !== undefined);
  return format;
}

const decoded = ({ format, octets, start, end }: ObjectReading): unknown => format.decode(octets, start, end);

/** What a reading tells without decoding. */
const identity = (reading: ObjectReading): object => ({
  key: reading.key,
  version: String(reading.version),
  uid: reading.octets.toString("utf8", reading.uidStart, reading.uidEnd),
});

const identityOf = ({ metadata }: RecordedObject): object => {
  const { namespace, name, resourceVersion, uid } = metadata as KubeObject["metadata"];
  return { key: `${namespace}/${name}`, version: resourceVersion, uid };
};

function pushed(
  octets: Uint8Array,
  step: number,
  reader: { readonly push: (chunk: Uint8Array) => void },
): void {
  for (let at = 0; at < octets.length; at += step) {
    const chunk = octets.slice(at, at + step);
    reader.push(chunk);
    chunk.fill(0xff); // whoever kept it, and not a copy, would see
  }
}

for (const name of listNames) {
  test(`a list of ${name} is the same as in JSON, however it is cut`, () => {
    const { json, protobuf } = recordedAnswers.lists[name];
    assert.ok(json.items.length > 0);
    for (const step of steps) {
      const items: unknown[] = [];
      const identities: object[] = [];
      const reader = formatOf(lists[name]).listReader((item) => {
        items.push(decoded(item));
        identities.push(identity(item));
      });
      pushed(protobuf, step, reader);
      assert.deepEqual(reader.finish(), json.metadata);
      assert.deepEqual(items, json.items);
      assert.deepEqual(identities, json.items.map(identityOf));
    }
  });
}

test("managed fields are taken out of the octets, and nothing else", () => {
  for (const name of listNames) {
    const { json, protobuf } = recordedAnswers.lists[name];
    const items: unknown[] = [];
    const identities: object[] = [];
    const reader = formatOf(lists[name]).listReader((item) => {
      const cut = item.format.withoutManagedFields?.(item) as ObjectReading;
      assert.ok(cut.end - cut.start <= item.end - item.start);
      items.push(decoded(cut));
      identities.push(identity(cut));
      assert.equal(cut.format.withoutManagedFields?.(cut), cut, "where there are none it stays as it is");
    });
    reader.push(protobuf);
    const expected = json.items.map((item) => dropManagedFields(item as unknown as KubeObject));
    assert.deepEqual(items, expected);
    assert.deepEqual(identities, json.items.map(identityOf));
  }
});

function eventsOf(octets: Uint8Array, step: number): readonly RecordedEvent[] {
  const events: RecordedEvent[] = [];
  const take = (event: RawWatchEvent | undefined): void => {
    assert.ok(event !== undefined);
    const object = "reading" in event ? decoded(event.reading) : event.object;
    events.push({ type: event.type, object: object as RecordedObject });
  };
  const reader = formatOf(configMapType).watchReader(take);
  pushed(octets, step, reader);
  reader.finish();
  return events;
}

/** Kind and version stand in the envelope, and the copy adds them to objects. */
const withoutKind = ({ type, object }: RecordedEvent): RecordedEvent => {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return { type, object: type === "ERROR" ? object : rest };
};

for (const name of ["watch", "stream", "expired"] as const) {
  test(`the events of a recorded watch (${name}) are the same as in JSON, however they are cut`, () => {
    const { json, protobuf } = recordedAnswers[name];
    for (const step of steps) assert.deepEqual(eventsOf(protobuf, step), json.map(withoutKind));
  });
}

test("a reader that has enough is given no more events", () => {
  let events = 0;
  const reader = formatOf(configMapType).watchReader(() => {
    events++;
    return "stop";
  });
  pushed(recordedAnswers.watch.protobuf, 100, reader);
  assert.equal(events, 1);
});

test("a Status that refuses a request is the same as in JSON", () => {
  const { json, protobuf } = recordedAnswers.refusal;
  assert.deepEqual(formatOf(configMapType).readStatus(protobuf), json);
});

test("events of another kind are skipped, and a list of another kind is refused", () => {
  const skipped: unknown[] = [];
  const reader = formatOf(leaseType).watchReader((event) => void skipped.push(event));
  reader.push(recordedAnswers.watch.protobuf);
  assert.deepEqual(skipped, [undefined, undefined, undefined]);
  const list = formatOf(leaseType).listReader(() => {});
  assert.throws(() => list.push(recordedAnswers.lists.configMaps.protobuf), {
    code: "MalformedResponse",
    message: /v1 ConfigMapList/,
  });
});

test("what ends too early is truncated, wherever it is cut", () => {
  const { protobuf } = recordedAnswers.lists.configMaps;
  for (let end = 0; end < protobuf.length; end++) {
    const reader = formatOf(configMapType).listReader(() => {});
    reader.push(protobuf.subarray(0, end));
    // Behind the list stand two empty fields, which say nothing more of it.
    if (end === protobuf.length - 4 || end === protobuf.length - 2) continue;
    assert.throws(() => reader.finish(), { code: "TruncatedResponse" }, `${end} octets`);
  }
  const events = recordedAnswers.watch.protobuf;
  let whole = 0;
  for (let end = 0; end <= events.length; end++) {
    const reader = formatOf(configMapType).watchReader(() => {});
    reader.push(events.subarray(0, end));
    try {
      reader.finish();
      whole++;
    } catch (error) {
      assert.equal((error as { readonly code?: string }).code, "TruncatedResponse");
    }
  }
  assert.equal(whole, 4, "before, between and behind three events");
});

test("kinds without a schema, as those of custom resources, have no protobuf", () => {
  const custom = { ...configMapType, group: "example.com", kind: "Widget", plural: "widgets" };
  assert.equal(protobuf.of(custom), undefined);
  assert.equal(protobuf.of({ ...configMapType, version: "v2" }), undefined);
  assert.ok(protobuf.kinds.includes("apps/v1 Deployment"));
});
