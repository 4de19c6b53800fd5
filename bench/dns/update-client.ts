import { createSocket } from "node:dgram";
import type { Socket } from "node:dgram";
import { addressesOf, origin } from "./bench-zone.ts";
import { composeRawQuestion, parseRawHeader } from "./raw-question.ts";
import { composeAddressUpdate } from "./update-message.ts";

// A program of its own, so that it can have a core and the real-time class: `node update-client.js JSON` prints UpdateTimes.

/** What the client is told. Each change takes the next host, so that no answer is an old one. */
export interface UpdateOrder {
  readonly port: number;
  readonly firstHost: number;
  readonly hosts: number;
  readonly changes: number;
  /** Makes the new addresses, with the number of the pass over the hosts; far from that of the run before. */
  readonly firstChange: number;
  /** Ask for the name until the new address is in the answer; else wait for the update's own answer only. */
  readonly watch: boolean;
}

export interface UpdateTimes {
  /** From the sent UPDATE to its answer. */
  readonly acceptedMs: readonly number[];
  /** From the sent UPDATE to the first answer with the new address; empty without `watch`. */
  readonly seenMs: readonly number[];
  readonly rcodes: Readonly<Record<string, number>>;
}

const order = JSON.parse(process.argv[2]!) as UpdateOrder;
const updates = await connected(order.port);
const questions = await connected(order.port);
const acceptedMs: number[] = [];
const seenMs: number[] = [];
const rcodes: Record<string, number> = {};
for (let n = 0; n < order.changes; n++) {
  const host = (order.firstHost + n) % order.hosts;
  const name = `host${host}.${origin}`;
  const addresses = addressesOf(host, 1 + ((order.firstChange + Math.floor(n / order.hosts)) % 90));
  const id = (order.firstChange * 1000 + n) & 0xffff;
  const update = composeAddressUpdate({ id, name, addresses, timeSeconds: Math.floor(Date.now() / 1000) });
  const begin = performance.now();
  const accepted = answered(updates, id).then((message) => {
    acceptedMs.push(performance.now() - begin);
    const { rcode } = parseRawHeader(message);
    rcodes[rcode] = (rcodes[rcode] ?? 0) + 1;
  });
  updates.send(update);
  if (order.watch) {
    const wanted = Buffer.from(addresses[0].split(".").map(Number));
    for (;;) {
      const answer = answered(questions, id);
      questions.send(composeRawQuestion({ id, name, type: "A" }));
      if ((await answer).includes(wanted)) break;
      if (performance.now() - begin > 20_000) throw new Error(`${name}: no new address within 20 s`);
    }
    seenMs.push(performance.now() - begin);
  }
  await accepted;
}
updates.close();
questions.close();
console.log(JSON.stringify({ acceptedMs, seenMs, rcodes } satisfies UpdateTimes));

async function connected(port: number): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.connect(port, "127.0.0.1", resolve));
  return socket;
}

/** The next message with this id. */
function answered(socket: Socket, id: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("no answer within 20 s")), 20_000);
    const take = (message: Buffer): void => {
      if (message.readUInt16BE(0) !== id) return;
      clearTimeout(timer);
      socket.off("message", take);
      resolve(message);
    };
    socket.on("message", take);
  });
}
