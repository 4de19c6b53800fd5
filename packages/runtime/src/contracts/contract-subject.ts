import type { Runtime } from "../runtime.ts";

/** Two nodes that can reach each other; on a real machine both are the same. */
export interface ContractNodes {
  readonly server: Runtime;
  readonly client: Runtime;
  readonly serverAddress: string;
  readonly clientAddress: string;
}

/** An implementation of the runtime that a contract is checked on. */
export interface ContractSubject {
  readonly name: string;
  /** Runs `body` on fresh nodes, lets time go on until it has settled, and cleans up. */
  readonly run: (body: (nodes: ContractNodes) => Promise<void>) => Promise<void>;
}

/** Collects a stream, e.g. the body of an answer. */
export async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** A text as UTF-8. */
export function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** UTF-8 as a text. */
export function toText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Something that happens once, to be waited for. */
export class Moment {
  readonly come: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.come = new Promise((resolve) => (this.#resolve = resolve));
  }

  now(): void {
    this.#resolve();
  }
}

/** Goes to the server and back on a connection of its own: what was sent before has had its chance to come. */
export async function goRound({ server, client, serverAddress }: ContractNodes): Promise<void> {
  const far = new Moment();
  await using listener = await server.network.listenTcp({
    address: serverAddress,
    port: 0,
    onConnection: (connection) => {
      void collect(connection.received)
        .then(() => connection.end())
        .then(() => far.now());
    },
  });
  await using near = await client.network.connectTcp({ to: listener.local });
  await near.end();
  await collect(near.received);
  await far.come;
}

/** Resolves when a number no longer grows while others go round ten times. */
export async function untilStill(nodes: ContractNodes, read: () => number): Promise<void> {
  for (let before = Number.NaN; before !== read();) {
    before = read();
    for (let round = 0; round < 10; round++) await goRound(nodes);
  }
}

/** Octets that tell their place, so that loss, doubling and disorder show. */
export function pattern(length: number, start = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = ((start + i) * 31 + ((start + i) >> 8)) & 0xff;
  return bytes;
}
