import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordSet, ZoneSoa } from "@meridian/dns";
import { publishedName, publishedText } from "../decide/published-host.ts";
import { ViewCopy, type ViewTransferContent } from "./view-copy.ts";

const zone = "cloud.example.com";
const server = { address: "10.0.0.2", port: 53 };
const soa = (serial: number): ZoneSoa => ({
  ...{ mname: "ns.x", rname: "host.x", serial, refresh: 1, retry: 1, expire: 1, minimum: 1, ttl: 1 },
});

/** `a A 5 192.0.2.1 192.0.2.2`, with `_` for the blanks in TXT data. */
function sets(...lines: readonly string[]): readonly RecordSet[] {
  return lines.map((line) => {
    const [label, type, ttl, ...data] = line.split(" ");
    const name = label === "@" ? `_localtargets.${zone}` : `${label}._localtargets.${zone}`;
    return { name, type: type!, ttl: Number(ttl), data: data.map((text) => text.replaceAll("_", " ")) };
  });
}

const whole = (serial: number, ...lines: readonly string[]): ViewTransferContent => ({
  ...{ kind: "whole", soa: soa(serial), sets: sets(...lines), server },
});
const changes = (
  serial: number,
  removed: readonly string[],
  added: readonly string[],
): ViewTransferContent => ({
  ...{ kind: "changes", soa: soa(serial), removed: sets(...removed), added: sets(...added), server },
});
const failover = '"v=1"_"strategy=failover"_"primary=eu"';
const app = `app.${zone}`;

test("a whole view says which hosts a peer carries, how it balances them and where it serves them", () => {
  const copy = new ViewCopy(zone);
  assert.deepEqual([copy.serial, copy.carries(app)], [undefined, false]);
  const change = copy.apply(
    whole(
      7,
      `app TXT 5 ${failover}`,
      "app A 5 192.0.2.1 192.0.2.2",
      "app AAAA 5 2001:db8::1",
      `*.x TXT 9 ${failover}`,
      "@ NS 5 ns.",
    ),
  );
  assert.deepEqual([...change!.hosts].sort(), [`*.x.${zone}`, app]);
  assert.equal(change!.isCarriageChanged, true);
  assert.deepEqual([copy.serial, copy.size], [7, 2]);
  assert.deepEqual(
    [copy.targets(app, "A"), copy.targets(app, "AAAA")],
    [["192.0.2.1", "192.0.2.2"], ["2001:db8::1"]],
  );
  assert.deepEqual(copy.policy(app), {
    strategy: { type: "failover", primaryGeoTag: "eu" },
    strategyName: "failover",
    ttlSeconds: 5,
    splitBrainThresholdSeconds: 0,
  });
  assert.deepEqual([copy.carries(`*.x.${zone}`), copy.targets(`*.x.${zone}`, "A")], [true, []]);
  assert.deepEqual([copy.carries(`other.${zone}`), copy.policy(`other.${zone}`)], [false, undefined]);
});

test("differences change only the hosts that they name, and say whether what is carried changed", () => {
  const copy = new ViewCopy(zone);
  copy.apply(whole(7, `app TXT 5 ${failover}`, "app A 5 192.0.2.1", `b TXT 5 ${failover}`));
  const moved = copy.apply(changes(8, ["app A 5 192.0.2.1"], ["app A 5 192.0.2.9"]));
  assert.deepEqual([[...moved!.hosts], moved!.isCarriageChanged, copy.serial], [[app], false, 8]);
  assert.deepEqual(copy.targets(app, "A"), ["192.0.2.9"]);
  const emptied = copy.apply(changes(9, ["app A 5 192.0.2.9"], []));
  assert.deepEqual(
    [emptied!.isCarriageChanged, copy.carries(app), copy.targets(app, "A")],
    [false, true, []],
  );
  const gone = copy.apply(changes(10, [`app TXT 5 ${failover}`], []));
  assert.deepEqual([gone!.isCarriageChanged, copy.carries(app), copy.size], [true, false, 1]);
  const later = copy.apply(changes(11, [`b TXT 5 ${failover}`], [`b TXT 6 ${failover}`]));
  assert.deepEqual([later!.isCarriageChanged, copy.policy(`b.${zone}`)?.ttlSeconds], [true, 6]);
});

test("a whole view in place of another names the hosts that differ", () => {
  const copy = new ViewCopy(zone);
  copy.apply(whole(7, `app TXT 5 ${failover}`, "app A 5 192.0.2.1", "b A 5 192.0.2.2", "c A 5 192.0.2.3"));
  const change = copy.apply(whole(9, `app TXT 5 ${failover}`, "app A 5 192.0.2.1", "b A 5 192.0.2.7"));
  assert.deepEqual([...change!.hosts].sort(), [`b.${zone}`, `c.${zone}`]);
});

for (const [what, removed, added] of [
  ["a record that is not there is removed", ["app A 5 192.0.2.8"], []],
  ["a record that is there is added", [], ["app A 5 192.0.2.1"]],
  ["a host that is not there loses one", ["z A 5 192.0.2.1"], []],
] as const)
  test(`differences in which ${what} change nothing: the whole is to be fetched`, () => {
    const copy = new ViewCopy(zone);
    copy.apply(whole(7, "app A 5 192.0.2.1"));
    assert.equal(copy.apply(changes(8, removed, added)), undefined);
    assert.deepEqual([copy.serial, copy.targets(app, "A")], [7, ["192.0.2.1"]]);
  });

test("what a name stands for that is too short for its host is forgotten with the host", () => {
  const label = "a".repeat(58);
  const host = `${[label, label, label, label].join(".")}.${zone}`;
  const name = publishedName(host, zone).split(".")[0]!;
  const text = publishedText(host, zone, failover.replaceAll("_", " ")).replaceAll(" ", "_");
  const copy = new ViewCopy(zone);
  const isKnownAfter = (serial: number): boolean => {
    copy.apply(changes(serial, [], [`${name} A 5 192.0.2.1`]));
    return copy.carries(host);
  };
  copy.apply(whole(7, `${name} TXT 5 ${text}`));
  assert.equal(isKnownAfter(8), true);
  copy.apply(changes(9, [`${name} TXT 5 ${text}`, `${name} A 5 192.0.2.1`], []));
  assert.equal(isKnownAfter(10), false);
  copy.apply(whole(11, `${name} TXT 5 ${text}`));
  copy.apply(whole(12, "app A 5 192.0.2.1"));
  assert.equal(isKnownAfter(13), false);
});

test("records of types that are not known here say nothing", () => {
  const copy = new ViewCopy(zone);
  copy.apply(whole(7, "app HTTPS 5 1_."));
  assert.equal(copy.carries(app), false);
});
