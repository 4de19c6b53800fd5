import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { nameFromText } from "../name/name.ts";
import type { VerifiedRequest } from "../server/dns-request.ts";
import type { RecordSet } from "../zone/record-set.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import { Zone } from "../zone/zone.ts";
import { OctetPool } from "./octet-pool.ts";
import { readTransferMessage } from "./record-reader.ts";
import { soaFromRecord } from "./soa-record.ts";
import { applyDeltas, toRecordSets } from "./transferred-sets.ts";
import { TransferPolicy } from "./transfer-policy.ts";
import { TransferReader, type TransferContent } from "./transfer-reader.ts";
import { TransferServer, type TransferServerOptions } from "./transfer-server.ts";

const zoneText = `$ORIGIN p.test.
$TTL 60
@ SOA ns host 4294967290 60 10 300 30
@ NS ns
ns A 192.0.2.53
www A 192.0.2.1
`;
const makeZone = (): Zone => parseZoneFile(zoneText).zone!;
const set = (name: string, data: readonly string[], type = "A"): [string, RecordSet[]] => [
  name,
  data.length === 0 ? [] : [{ name, type, ttl: 60, data }],
];

interface World {
  readonly sim: Simulation;
  readonly server: TransferServer;
  readonly request: (more?: RequestOptions) => VerifiedRequest;
  readonly ask: (more?: RequestOptions) => Promise<Uint8Array[]>;
}
interface RequestOptions {
  readonly zone?: string;
  readonly have?: number;
  readonly transport?: "udp" | "tcp";
  readonly address?: string;
  readonly key?: string;
  readonly message?: Partial<Message>;
  readonly signal?: AbortSignal;
}

function world(zones: readonly Zone[], more: Partial<TransferServerOptions> = {}): World {
  const sim = new Simulation({ seed: 1 });
  const { clock } = sim.node({ name: "dns", addresses: ["10.0.0.1"] }).runtime;
  const server = new TransferServer({
    clock,
    zones: { zone: (origin) => zones.find((zone) => zone.origin === origin) },
    policy: new TransferPolicy([{ zone: ".", allow: [{ clients: "10.0.0.0/8" }, { key: "k" }] }]),
    ...more,
  });
  const request = (options: RequestOptions = {}): VerifiedRequest => {
    const { zone = "P.test", have, transport = "tcp", address = "10.0.0.2", message } = options;
    const soa = { name: zone, type: "SOA", class: 1, ttl: 0, data: `. . ${have ?? 0} 0 0 0 0` };
    return {
      message: composeMessage({
        id: 7,
        questions: [{ name: zone, type: have === undefined ? "AXFR" : "IXFR", class: 1 }],
        authority: have === undefined ? [] : [soa],
        ...message,
      }),
      client: new ReusedClient(transport, { address, port: 5_353 }),
      signal: options.signal ?? new AbortController().signal,
      key: options.key,
      octetsMax: transport === "udp" ? 1232 : 65_535,
    };
  };
  const collect = async (options?: RequestOptions): Promise<Uint8Array[]> => {
    const messages: Uint8Array[] = [];
    for await (const message of server.answer(request(options))) messages.push(message);
    return messages;
  };
  return { sim, server, request, ask: (options) => sim.complete(collect(options)) };
}

function contentOf(messages: readonly Uint8Array[], have?: number): TransferContent | undefined {
  const pool = new OctetPool();
  const limits = { recordsMax: 1e6, octetsMax: 1e9 };
  const reader = new TransferReader({ origin: nameFromText("p.test"), haveSerial: have, limits });
  for (const message of messages) {
    const content = reader.read(readTransferMessage(message, pool).records, message.length);
    if (content !== undefined) return content;
  }
  return undefined;
}

/** Rcode and extended error. */
const refusal = (messages: readonly Uint8Array[]): unknown[] => {
  assert.equal(messages.length, 1);
  const { rcode, edns, answers, questions } = parseMessage(messages[0]!);
  assert.equal(answers.length, 0);
  assert.equal(questions.length, 1);
  return [rcode, ...(edns?.options.filter(({ code }) => code === 15).map(({ octets }) => octets[1]) ?? [])];
};
const edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

test("who may not have a zone learns that, and not whether there is one", async () => {
  const { ask } = world([makeZone()]);
  assert.deepEqual(refusal(await ask({ address: "192.0.2.1", message: { edns } })), [5, 18]);
  assert.deepEqual(refusal(await ask({ address: "192.0.2.1" })), [5]);
  assert.deepEqual(refusal(await ask({ address: "192.0.2.1", zone: "nx.test", message: { edns } })), [5, 18]);
  assert.deepEqual(refusal(await ask({ address: "192.0.2.1", have: 1 })), [5]);
  assert.deepEqual(refusal(await ask({ zone: "nx.test" })), [9]);
  assert.deepEqual(refusal(await ask({ zone: "www.p.test" })), [9]);
  assert.equal(contentOf(await ask({ address: "192.0.2.1", key: "k" }))?.kind, "whole");
});

test("a zone that is not ready, AXFR over UDP and what is no transfer request are refused", async () => {
  const zone = makeZone();
  const { ask } = world([zone]);
  assert.deepEqual(refusal(await ask({ transport: "udp" })), [4]);
  assert.deepEqual(refusal(await ask({ have: 1, message: { authority: [] } })), [1]);
  assert.deepEqual(
    refusal(await ask({ message: { questions: [{ name: "p.test", type: "AXFR", class: 3 }] } })),
    [5],
  );
  zone.setReady(false);
  assert.deepEqual(refusal(await ask({ message: { edns } })), [2, 14]);
});

test("F8, F9: the SOA is first and last only, the apex NS set is in it, and the question has its case", async () => {
  const messages = await world([makeZone()]).ask();
  const { questions, answers, authoritative, edns: opt } = parseMessage(messages[0]!);
  assert.deepEqual(questions, [{ name: "P.test", type: "AXFR", class: 1 }]);
  const names = answers.map(({ name, type }) => `${name.toLowerCase()} ${type}`);
  assert.deepEqual([names[0], names[1], names.at(-1)], ["p.test SOA", "p.test NS", "p.test SOA"]);
  assert.deepEqual(names.slice(2, -1).sort(), ["ns.p.test A", "www.p.test A"]);
  assert.ok(authoritative && opt === undefined);
});

test("C13: a transfer has no name of the zones above, below or beside", async () => {
  const zoneOf = (origin: string): Zone =>
    parseZoneFile(`$ORIGIN ${origin}.\n@ 60 SOA ns host 1 60 10 300 30\n@ 60 NS ns\nns 60 A 192.0.2.1\n`)
      .zone!;
  const zones = [makeZone(), zoneOf("test"), zoneOf("a.p.test"), zoneOf("xp.test")];
  const owners = new Set<string>();
  for (const message of await world(zones).ask({ zone: "p.test" }))
    for (const { name } of parseMessage(message).answers) owners.add(name.toLowerCase());
  assert.deepEqual([...owners].sort(), ["ns.p.test", "p.test", "www.p.test"]);
});

test("a weighted set is transferred with all its records, whatever their weights", async () => {
  const zone = makeZone();
  const groups = [
    { weight: 0, data: ["192.0.2.7"] },
    { weight: 9, data: ["192.0.2.8", "192.0.2.9"] },
  ];
  const data = groups.flatMap((group) => group.data);
  const weighted: RecordSet = {
    name: "w.p.test",
    type: "A",
    ttl: 5,
    data,
    policy: { kind: "weighted", groups },
  };
  zone.replace(new Map([["w.p.test", [weighted]]]));
  const content = contentOf(await world([zone]).ask());
  assert.ok(content?.kind === "whole");
  assert.deepEqual(toRecordSets(content.records).find(({ name }) => name === "w.p.test")?.data, data);
});

function bigZone(): Zone {
  const zone = makeZone();
  zone.replace(new Map(Array.from({ length: 4_000 }, (_, index) => set(`n${index}.p.test`, ["192.0.2.1"]))));
  return zone;
}

test("a transfer is of one moment, however the zone changes while it is taken", async () => {
  const zone = bigZone();
  const { server, request, sim } = world([zone]);
  const before = [...zone.recordSets()].length;
  const { serial } = zone;
  const messages: Uint8Array[] = [];
  const take = async (): Promise<void> => {
    for await (const message of server.answer(request())) {
      messages.push(message);
      zone.replace(
        new Map([
          set(`n${4_000 - messages.length}.p.test`, []),
          set(`new${messages.length}.p.test`, ["192.0.2.2"]),
        ]),
      );
    }
  };
  await sim.complete(take());
  assert.ok(messages.length > 3);
  const content = contentOf(messages);
  assert.ok(content?.kind === "whole");
  assert.equal(soaFromRecord(content.soa).serial, serial);
  assert.equal(content.records.length, before);
});

test("a peer that takes nothing loses its transfer and its place; so does one that takes too long", async () => {
  const zone = bigZone();
  const { server, request, sim } = world([zone], { idleMs: 1_000, totalMs: 3_000, transfersMax: 1 });
  const silent = server.answer(request())[Symbol.asyncIterator]();
  await sim.complete(silent.next());
  const next = server.answer(request({ address: "10.0.0.3" }))[Symbol.asyncIterator]();
  const waiting = next.next();
  await sim.complete(waiting);
  assert.ok(sim.nowMs >= 1_000 && sim.nowMs < 1_100, "the second began when the first was given up");
  await assert.rejects(sim.complete(silent.next()), /too slowly/);
  const slowly = async (): Promise<void> => {
    for (;;) {
      await sim.complete(new Promise<void>((resolve) => void sim.schedule(sim.nowMs + 900, resolve)));
      if ((await sim.complete(next.next())).done === true) return;
    }
  };
  await assert.rejects(slowly(), /too slowly/);
  assert.equal(server.counters.broken, 2);
});

test("a peer loses its transfer with its connection: after 10 seconds in which it takes nothing", async () => {
  const { server, request, sim } = world([bigZone()], { transfersMax: 1 });
  await sim.complete(server.answer(request())[Symbol.asyncIterator]().next());
  const next = server.answer(request({ address: "10.0.0.3" }))[Symbol.asyncIterator]();
  await sim.complete(next.next());
  assert.ok(sim.nowMs >= 10_000 && sim.nowMs < 10_100, `${sim.nowMs}`);
  await next.return?.();
});

test("one peer gets one transfer of a zone at a time", async () => {
  const { server, request, sim } = world([bigZone()]);
  const first = server.answer(request())[Symbol.asyncIterator]();
  await sim.complete(first.next());
  let begun = false;
  const second = server.answer(request())[Symbol.asyncIterator]();
  const waiting = second.next().then((message) => ((begun = true), message));
  await sim.run({ untilMs: sim.nowMs + 100 });
  assert.equal(begun, false);
  await first.return?.();
  await sim.complete(waiting);
  assert.ok(begun);
});

test("F10: differences come condensed; who is current or ahead gets one SOA, who is too far behind the zone", async () => {
  const zone = makeZone();
  const { ask, server } = world([zone], { journalOctetsMax: 700 });
  const first = zone.serial;
  const kind = async (have: number): Promise<string> => contentOf(await ask({ have }), have)?.kind ?? "none";
  assert.equal(await kind(first), "current");
  assert.equal(await kind((first + 1) >>> 0), "current");
  zone.replace(new Map([set("x.p.test", ["192.0.2.7"])]));
  const content = contentOf(await ask({ have: first }), first);
  assert.ok(content?.kind === "deltas");
  assert.deepEqual(
    content.deltas.map(({ removed, added }) => [removed.length, added.length]),
    [[1, 2]],
  );
  for (let step = 0; step < 12; step++) zone.replace(new Map([set("x.p.test", [`192.0.2.${step}`])]));
  assert.equal(await kind(first), "whole", "the journal holds some steps only");
  assert.equal(await kind((zone.serial - 1) >>> 0), "deltas");
  assert.equal(await kind((zone.serial - 3) >>> 0), "deltas");
  assert.equal(await kind(4_294_967_000), "whole", "a serial from elsewhere");
  assert.ok(server.counters.incremental >= 3);
});

test("over UDP, what does not fit is answered with the SOA alone", async () => {
  const zone = makeZone();
  const { ask } = world([zone]);
  const have = zone.serial;
  await ask({ have });
  zone.replace(new Map([set("x.p.test", ["192.0.2.7"])]));
  const answers = async (message: Partial<Message> = {}): Promise<number> => {
    const [reply] = await ask({ have, transport: "udp", message });
    assert.ok(reply!.length <= 512);
    return parseMessage(reply!).answers.length;
  };
  assert.equal(await answers(), 5);
  zone.replace(new Map(Array.from({ length: 30 }, (_, index) => set(`n${index}.p.test`, ["192.0.2.1"]))));
  assert.equal(await answers(), 1);
});

test("random changes taken by IXFR give the zone that AXFR gives", async () => {
  const name = fc.constantFrom("a", "b", "w.b", "*.b", "c");
  const change = fc.oneof(
    fc
      .tuple(name, fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }))
      .map(([label, hosts]) => (zone: Zone) => {
        const owner = `${label}.p.test`;
        zone.replace(
          new Map([
            set(
              owner,
              hosts.map((host) => `192.0.2.${host}`),
            ),
          ]),
        );
      }),
    fc.tuple(name, fc.boolean()).map(([label, there]) => (zone: Zone) => {
      zone.replace(new Map([set(`t.${label}.p.test`, there ? ["a.p.test."] : [], "CNAME")]));
    }),
    fc.integer({ min: 1, max: 3 }).map((minimum) => (zone: Zone) => zone.setSoa({ minimum })),
    fc
      .subarray(["ns.p.test", "ns2.p.test", "ns.other"], { minLength: 1 })
      .map((names) => (zone: Zone) => zone.setNameServers(names)),
    fc
      .integer({ min: 2, max: 1000 })
      .map((ahead) => (zone: Zone) => zone.setSoa({ serial: (zone.serial + ahead) >>> 0 })),
  );
  /** Batches of changes; after each the copy is brought up to date. */
  const batches = fc.array(fc.array(change, { maxLength: 4 }), { minLength: 1, maxLength: 6 });
  let incremental = 0;
  await fc.assert(
    fc.asyncProperty(batches, async (list) => {
      const zone = bigEnough();
      const { ask, server } = world([zone]);
      const copy = new Zone({ origin: "p.test", soa: zone.soa, nameServers: ["."], nameServerTtl: 0 });
      const fetch = async (have?: number): Promise<void> => {
        const content = contentOf(await ask(have === undefined ? {} : { have }), have);
        if (content?.kind === "whole")
          copy.replaceAll(soaFromRecord(content.soa), toRecordSets(content.records));
        if (content?.kind !== "deltas") return;
        const changes = new Map(applyDeltas(copy, content.deltas));
        const apex = changes.get("p.test");
        const ns = apex?.find((each) => each.type === "NS");
        if (apex !== undefined)
          changes.set(
            "p.test",
            apex.filter((each) => each !== ns),
          );
        const { serial, ...soa } = soaFromRecord(content.soa);
        copy.replace(changes, {
          serial,
          soa,
          ...(ns === undefined ? {} : { nameServers: ns.data, nameServerTtl: ns.ttl }),
        });
      };
      await fetch();
      for (const batch of list) {
        for (const each of batch) each(zone);
        await fetch(copy.serial);
        const content = contentOf(await ask());
        assert.ok(content?.kind === "whole");
        assert.equal(copy.serial, zone.serial);
        assert.deepEqual(sorted(copy.recordSets()), sorted([...zone.recordSets()]));
        assert.deepEqual(
          sorted(toRecordSets(content.records)),
          sorted([...copy.recordSets()].filter(({ type }) => type !== "SOA")),
        );
      }
      incremental += server.counters.incremental;
    }),
    { numRuns: 60 },
  );
  assert.ok(incremental > 60, `${incremental}`);
});

/** With more names than a batch changes, so that differences are worth sending. */
function bigEnough(): Zone {
  const zone = makeZone();
  zone.replace(new Map(Array.from({ length: 30 }, (_, index) => set(`fill${index}.p.test`, ["192.0.2.1"]))));
  return zone;
}

function sorted(sets: Iterable<RecordSet>): string[] {
  return [...sets]
    .flatMap(({ name, type, ttl, data }) => data.map((text) => `${name} ${ttl} ${type} ${text}`))
    .sort();
}
