import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { parseMessage, type MessageRecord } from "../message/message.ts";
import { exchange, question, steadyRandom } from "../testdata/case-zone.ts";
import { naiveAnswer, type NaiveAnswer, type NaiveRecord } from "../testdata/naive-lookup.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { Zone } from "../zone/zone.ts";
import { Authority } from "./authority.ts";

const origin = "z";
const label = fc.constantFrom("a", "b", "*", "ab");
const owner = fc.array(label, { minLength: 1, maxLength: 4 });
const record: fc.Arbitrary<NaiveRecord> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      owner,
      type: fc.constant("A" as const),
      data: fc.constantFrom(["192", "0", "2", "1"], ["192", "0", "2", "2"]),
    }),
  },
  { weight: 1, arbitrary: fc.record({ owner, type: fc.constant("TXT" as const), data: fc.constant(["t"]) }) },
  { weight: 2, arbitrary: fc.record({ owner, type: fc.constant("CNAME" as const), data: owner }) },
  { weight: 1, arbitrary: fc.record({ owner, type: fc.constant("NS" as const), data: owner }) },
);
const zoneRecords = fc.array(record, { maxLength: 10 }).map(withoutConflicts);

/** Drops what no zone may hold: CNAME beside other data, a second CNAME, NS at a wildcard. */
function withoutConflicts(records: readonly NaiveRecord[]): NaiveRecord[] {
  const kept: NaiveRecord[] = [];
  for (const candidate of records) {
    const beside = kept.filter((other) => other.owner.join(".") === candidate.owner.join("."));
    const conflicts =
      (candidate.type === "CNAME" && beside.length > 0) ||
      beside.some((other) => other.type === "CNAME") ||
      (candidate.type === "NS" && candidate.owner[0] === "*");
    if (!conflicts) kept.push(candidate);
  }
  return kept;
}

function changesOf(records: readonly NaiveRecord[]): Map<string, RecordSet[]> {
  const changes = new Map<string, RecordSet[]>();
  for (const { owner: labels, type, data } of records) {
    const name = [...labels, origin].join(".");
    const text =
      type === "A"
        ? data.join(".")
        : type === "TXT"
          ? `"${data.join("")}"`
          : `${[...data, origin].join(".")}.`;
    changes.set(name, [...(changes.get(name) ?? []), { name, type, ttl: 5, data: [text] }]);
  }
  return changes;
}

function emptyZone(): Zone {
  return new Zone({
    origin,
    soa: { mname: "m", rname: "r", serial: 1, refresh: 1, retry: 1, expire: 1, minimum: 1, ttl: 1 },
    nameServers: ["ns.elsewhere"],
    nameServerTtl: 1,
  });
}

function lineOf({ name, type, data }: MessageRecord): string {
  const relative = (text: string): string => text.replace(/\.?$/, "").replace(/\.?z$/, "");
  return `${relative(name)} ${type} ${type === "A" ? data : type === "TXT" ? data.replaceAll('"', "") : relative(data)}`;
}

function served(authority: Authority, asked: readonly string[], type: string): NaiveAnswer {
  const reply = parseMessage(
    exchange(authority, question([...asked, origin].join("."), type), { transport: "tcp" })!,
  );
  const lines = reply.answers.map(lineOf);
  // Order counts along the chain, not within the last set.
  const chain = lines.filter((line) => line.includes(" CNAME "));
  const rest = lines.filter((line) => !line.includes(" CNAME ")).sort();
  const negative = reply.authority.some((found) => found.type === "SOA");
  return {
    rcode: reply.rcode === 3 ? "NXDOMAIN" : "NOERROR",
    aa: reply.authoritative,
    answer: [...chain, ...rest],
    authority: negative ? "soa" : reply.authority.length === 0 ? "none" : reply.authority.map(lineOf).sort(),
  };
}

const asked = fc.array(label, { minLength: 1, maxLength: 5 });
const type = fc.constantFrom("A", "TXT", "CNAME", "MX", "NS");

test("property: any small zone answers any question as the words of RFC 1034 and RFC 4592 say", () => {
  fc.assert(
    fc.property(
      zoneRecords,
      fc.array(fc.tuple(asked, type), { minLength: 1, maxLength: 20 }),
      (records, questions) => {
        const authority = new Authority({ random: steadyRandom });
        const zone = emptyZone();
        zone.replace(changesOf(records));
        authority.setZone(zone);
        for (const [name, askedType] of questions) {
          const expected = naiveAnswer(records, name, askedType);
          if (expected.answer.length > 15) continue;
          assert.deepEqual(served(authority, name, askedType), expected, `${name.join(".")} ${askedType}`);
        }
      },
    ),
    { numRuns: 1_500 },
  );
});

test("property: a zone that was changed step by step answers as one that was made at once", () => {
  const step = fc.record({ remove: fc.array(owner, { maxLength: 3 }), put: zoneRecords });
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      fc.array(fc.tuple(asked, type), { maxLength: 20 }),
      (steps, questions) => {
        const changed = emptyZone();
        const content = new Map<string, RecordSet[]>();
        for (const { remove, put } of steps) {
          const changes = changesOf(put);
          for (const labels of remove)
            if (!changes.has([...labels, origin].join("."))) changes.set([...labels, origin].join("."), []);
          changed.replace(changes);
          for (const [name, sets] of changes) {
            if (sets.length > 0) content.set(name, sets);
            else content.delete(name);
          }
        }
        const made = emptyZone();
        made.replace(content);
        assert.equal(changed.nameCount, made.nameCount);
        assert.deepEqual([...changed.recordSets()].slice(1), [...made.recordSets()].slice(1));
        const [first, second] = [changed, made].map((zone) => {
          const authority = new Authority({ random: steadyRandom });
          authority.setZone(zone);
          return authority;
        });
        for (const [name, askedType] of questions) {
          assert.deepEqual(served(first!, name, askedType), served(second!, name, askedType));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("of a localtargets set that does not fit, what fits is answered: k8gb neither knows EDNS nor comes over TCP", () => {
  const data = Array.from({ length: 60 }, (_, index) => `192.0.2.${index}`);
  const zone = emptyZone();
  const set = (name: string): RecordSet[] => [{ name, type: "A", ttl: 5, data }];
  zone.replace(new Map(["localtargets-a.z", "a.z"].map((name) => [name, set(name)])));
  const authority = new Authority({ random: steadyRandom });
  authority.setZone(zone);
  const ask = (name: string, transport: "udp" | "tcp"): { octets: number; tc: boolean; data: string[] } => {
    const octets = exchange(authority, question(name, "A"), { transport })!;
    const { truncated, answers } = parseMessage(octets);
    return { octets: octets.length, tc: truncated, data: answers.map((answer) => answer.data) };
  };

  assert.deepEqual(ask("a.z", "udp"), { octets: 21, tc: true, data: [] });
  const part = ask("localtargets-a.z", "udp");
  assert.ok(part.tc);
  assert.ok(part.octets <= 512 && part.octets > 512 - 16);
  assert.deepEqual(part.data, data.slice(0, part.data.length));
  assert.deepEqual(ask("localtargets-a.z", "tcp").data, data);
  assert.equal(authority.counters.truncated, 2);
});
