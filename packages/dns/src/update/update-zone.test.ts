import assert from "node:assert/strict";
import test from "node:test";
import type { Runtime, TcpConnection } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { DnsClient } from "../client/dns-client.ts";
import { FrameReader, toFrame } from "../message/frame-reader.ts";
import { composeMessage, parseMessage, type Message } from "../message/message.ts";
import { parseTsigKey, type TsigKey } from "../tsig/tsig-key.ts";
import { TsigKeyring } from "../tsig/tsig-keyring.ts";
import { verifyRequest, type RequestVerdict } from "../tsig/verify-request.ts";
import { updateZone, type UpdateVerdict, type UpdateZoneOptions } from "./update-zone.ts";

const key = parseTsigKey({
  name: "k.u.test",
  algorithm: "hmac-sha256",
  secret: "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
});
const at = (octet: number): { address: string; port: number } => ({ address: `10.0.0.${octet}`, port: 53 });

/** What a scripted server does with a message: the replies it sends. */
type Script = (seen: {
  readonly parsed: Message;
  readonly verdict: RequestVerdict;
  /** The same by other keys. */
  readonly verifyBy: (...keys: TsigKey[]) => RequestVerdict;
  readonly reply: (more?: Partial<Message>) => Uint8Array;
  readonly transport: "udp" | "tcp";
  /** Messages that this server had before. */
  readonly before: number;
}) => readonly Uint8Array[];

interface World {
  readonly sim: Simulation;
  readonly node: SimNode;
  /** A server whose replies a script makes. Returns what it has seen, by transport. */
  readonly scripted: (octet: number, script: Script) => Promise<string[]>;
  readonly update: (options?: Partial<UpdateZoneOptions>) => Promise<UpdateVerdict>;
}

function world(): World {
  const sim = new Simulation({ seed: 1 });
  const node = sim.node({ name: "client", addresses: ["10.0.0.1"] });
  const client = new DnsClient(node.runtime);
  return {
    sim,
    node,
    async scripted(octet, script) {
      const { runtime } = sim.node({ name: `server${octet}`, addresses: [at(octet).address] });
      const seen: string[] = [];
      const answer = (message: Uint8Array, transport: "udp" | "tcp"): readonly Uint8Array[] => {
        const parsed = parseMessage(message);
        seen.push(transport);
        const reply = (more: Partial<Message> = {}): Uint8Array =>
          composeMessage({
            id: parsed.id,
            opcode: parsed.opcode,
            response: true,
            questions: parsed.questions,
            ...more,
          });
        const verifyBy = (...keys: TsigKey[]): RequestVerdict =>
          verifyRequest(message, { keyring: new TsigKeyring(keys), clock: runtime.clock });
        const verdict = verifyBy(key);
        return script({ parsed, verdict, verifyBy, reply, transport, before: seen.length - 1 });
      };
      await serve(runtime, octet, answer);
      return seen;
    },
    update: (options = {}) =>
      sim.complete(
        updateZone(client, {
          zone: "u.test",
          primary: { servers: [at(2)] },
          key,
          changes: [{ kind: "add", name: "a.u.test", type: "A", ttl: 5, data: "192.0.2.1" }],
          deadlineMs: 5_000,
          ...options,
        }),
      ),
  };
}

async function serve(
  runtime: Runtime,
  octet: number,
  answer: (message: Uint8Array, transport: "udp" | "tcp") => readonly Uint8Array[],
): Promise<void> {
  const socket = await runtime.network.bindUdp({
    ...at(octet),
    onDatagram(datagram, from) {
      for (const reply of answer(datagram.slice(), "udp")) socket.send(reply, from);
    },
  });
  await runtime.network.listenTcp({
    ...at(octet),
    onConnection: (connection) => void serve(connection),
  });
  async function serve(connection: TcpConnection): Promise<void> {
    const frames = new FrameReader({ octetsMin: 12, octetsMax: 65_535 });
    for await (const chunk of connection.received)
      for (const frame of frames.read(chunk))
        if (typeof frame !== "string")
          for (const reply of answer(frame.slice(), "tcp")) await connection.write(toFrame(reply));
  }
}

/** Signs as a right server does. */
function sign(verdict: RequestVerdict, reply: Uint8Array): Uint8Array {
  assert.ok(verdict.kind === "verified");
  return verdict.signer.sign(reply);
}

const good: Script = ({ verdict, reply }) => [sign(verdict, reply())];

test("a signed NOERROR is applied", async () => {
  const { scripted, update } = world();
  const seen = await scripted(2, good);
  assert.deepEqual(await update(), { state: "applied", server: at(2) });
  assert.deepEqual(seen, ["udp"]);
});

test("what others say while the server thinks is not believed: unsigned, a wrong MAC, another id, another question", async () => {
  const { scripted, update } = world();
  const stranger: TsigKey = { ...key, secret: new Uint8Array(32) };
  await scripted(2, ({ parsed, verifyBy, reply }) => {
    const forged = verifyBy(stranger);
    assert.ok(forged.kind === "failed");
    // Each reply to the same request needs a signer of its own.
    return [
      reply({ rcode: 5 }),
      reply({ rcode: 0 }),
      forged.seal(reply({ rcode: 9 })),
      sign(verifyBy(key), reply({ id: parsed.id ^ 1, rcode: 5 })),
      sign(verifyBy(key), reply({ questions: [{ name: "v.test", type: "SOA", class: 1 }], rcode: 5 })),
      Uint8Array.of(1, 2, 3),
      sign(verifyBy(key), reply()),
    ];
  });
  const verdict = await update();
  assert.equal(verdict.state, "applied", JSON.stringify(verdict));
});

const lies: readonly {
  readonly name: string;
  readonly script: Script;
  readonly reason: RegExp;
  readonly error?: string;
}[] = [
  { name: "an unsigned reply", script: ({ reply }) => [reply()], reason: /unsigned/ },
  {
    name: "a reply with a wrong MAC",
    script: ({ verdict, reply }) => {
      const signed = sign(verdict, reply());
      // Behind the MAC are id, error and the length of nothing.
      signed[signed.length - 10]! ^= 1;
      return [signed];
    },
    reason: /MAC is wrong/,
  },
  {
    name: "a server that does not know the key",
    script: ({ verifyBy, reply }) => {
      const verdict = verifyBy();
      assert.ok(verdict.kind === "failed");
      return [verdict.seal(reply({ rcode: 9 }))];
    },
    reason: /without a MAC/,
    error: "BADKEY",
  },
];
for (const { name, script, reason, error } of lies) {
  test(`${name} is unproved, after UDP and TCP were tried`, async () => {
    const { scripted, update } = world();
    const seen = await scripted(2, script);
    const verdict = await update();
    assert.ok(verdict.state === "unproved", JSON.stringify(verdict));
    assert.match(verdict.reason, reason);
    assert.equal(verdict.error, error);
    assert.deepEqual(seen, ["udp", "udp", "tcp"]);
  });
}

test("silence over UDP is asked again, then over TCP, and is unreachable at the deadline", async () => {
  const { sim, scripted, update } = world();
  const seen = await scripted(2, () => []);
  assert.deepEqual(await update(), { state: "unreachable", reason: "no reply in time" });
  assert.deepEqual(seen, ["udp", "udp", "tcp"]);
  assert.ok(Math.abs(sim.nowMs - 5_000) < 1, `${sim.nowMs}`);
});

test("a lost reply is asked for again; what then fails may be the first copy's doing, and is marked so", async () => {
  const { scripted, update } = world();
  await scripted(2, ({ verdict, reply, before }) =>
    before === 0 ? [] : [sign(verdict, reply({ rcode: 7 }))],
  );
  const prerequisites = [{ kind: "setAbsent", name: "a.u.test", type: "A" }] as const;
  assert.deepEqual(await update({ prerequisites }), {
    state: "unmet",
    rcode: "YXRRSET",
    server: at(2),
    repeated: true,
  });
});

test("a truncated reply is fetched over TCP", async () => {
  const { scripted, update } = world();
  const seen = await scripted(2, ({ verdict, reply, transport }) => [
    sign(verdict, reply({ truncated: transport === "udp" })),
  ]);
  assert.equal((await update()).state, "applied");
  assert.deepEqual(seen, ["udp", "tcp"]);
});

for (const [rcode, name] of [
  [2, "SERVFAIL"],
  [5, "REFUSED"],
  [9, "NOTAUTH"],
  [10, "NOTZONE"],
] as const) {
  test(`${name} is refused, and the next primary is asked`, async () => {
    const { scripted, update } = world();
    await scripted(2, ({ verdict, reply }) => [sign(verdict, reply({ rcode }))]);
    assert.deepEqual(await update(), { state: "refused", rcode: name, server: at(2) });
    await scripted(3, good);
    assert.deepEqual(await update({ primary: { servers: [at(2), at(3)] } }), {
      state: "applied",
      server: at(3),
    });
  });
}

test("a silent primary leaves time for the next", async () => {
  const { scripted, update } = world();
  await scripted(3, good);
  assert.deepEqual(await update({ primary: { servers: [at(9), at(3)] } }), {
    state: "applied",
    server: at(3),
  });
});

test("BADTIME is believed where it is signed: once, and the server's time is remembered", async () => {
  const { node, scripted, update } = world();
  node.skewMs = -3_600_000;
  const verdicts: string[] = [];
  const seen = await scripted(2, ({ verdict, reply }) => {
    verdicts.push(verdict.kind === "failed" ? verdict.error : verdict.kind);
    return [verdict.kind === "failed" ? verdict.seal(reply({ rcode: 9 })) : sign(verdict, reply())];
  });
  assert.equal((await update()).state, "applied");
  assert.equal((await update()).state, "applied");
  assert.deepEqual(verdicts, ["BADTIME", "verified", "verified"]);
  assert.deepEqual(seen, ["udp", "udp", "udp"]);
});

test("a server that says BADTIME again and again is given up", async () => {
  const { scripted, update } = world();
  const seen = await scripted(2, ({ verdict, reply }) => {
    assert.ok(verdict.kind === "verified" || verdict.kind === "failed");
    return [
      verdict.kind === "failed"
        ? verdict.seal(reply({ rcode: 9 }))
        : verdict.signer.signBadTime(reply({ rcode: 9 })),
    ];
  });
  const verdict = await update({ deadlineMs: 3_000 });
  assert.ok(verdict.state === "unproved" && verdict.error === "BADTIME", JSON.stringify(verdict));
  assert.ok(seen.length <= 4, String(seen));
});

test("the primary is found by the SOA; without one, nothing is sent", async () => {
  const { scripted, update } = world();
  const record = { class: 1, ttl: 5 };
  await scripted(4, ({ parsed, reply }) => {
    const [asked] = parsed.questions;
    if (asked!.type === "SOA" && asked!.name === "u.test")
      return [
        reply({
          answers: [{ ...record, name: "u.test", type: "SOA", data: "ns.u.test. h.u.test. 1 2 3 4 5" }],
        }),
      ];
    if (asked!.type === "A" && asked!.name === "ns.u.test")
      return [reply({ answers: [{ ...record, name: "ns.u.test", type: "A", data: "10.0.0.2" }] })];
    return [reply()];
  });
  const seen = await scripted(2, good);
  assert.deepEqual(await update({ primary: { findAt: [at(4)] } }), { state: "applied", server: at(2) });
  const missing = await update({ zone: "x.u.test", changes: [], primary: { findAt: [at(4)] } });
  assert.ok(missing.state === "unreachable" && /no zone there/.test(missing.reason));
  assert.deepEqual(seen, ["udp"]);
});

test("without a key a reply is believed as it is", async () => {
  const { scripted, sim } = world();
  await scripted(2, ({ reply, verdict }) => {
    assert.equal(verdict.kind, "unsigned");
    return [reply()];
  });
  const client = new DnsClient(sim.node({ name: "other", addresses: ["10.0.0.7"] }).runtime);
  const verdict = await sim.complete(
    updateZone(client, { zone: "u.test", primary: { servers: [at(2)] }, changes: [], deadlineMs: 1_000 }),
  );
  assert.equal(verdict.state, "applied");
});

test("an abort ends it with its reason", async () => {
  const { sim, update } = world();
  const stop = new AbortController();
  sim.schedule(100, () => stop.abort(new Error("enough")));
  await assert.rejects(update({ signal: stop.signal }), /enough/);
});
