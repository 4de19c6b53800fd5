import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { composeMessage, parseMessage, type Message, type MessageRecord } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { zoneName } from "./loopback-fleet.ts";

/**
 * A cluster that runs k8gb, as far as peers see it: CoreDNS with k8gb's plugin, which answers over UDP without AA, heeds no
 * signature, knows no view, and says NXDOMAIN where a host has no target; and an operator that asks as k8gb's does: A only,
 * RD, no EDNS, 2 s, no TCP, whatever the first answer is.
 */
export class K8gbPeer implements AsyncDisposable {
  /** What it serves, by host. */
  readonly targets: Map<string, readonly string[]> = new Map();
  /** Names and types that it was asked for. */
  readonly asked: string[] = [];
  readonly #socket: Socket = createSocket("udp4");

  static async open({ address, port }: Endpoint): Promise<K8gbPeer> {
    const peer = new K8gbPeer();
    peer.#socket.on("message", (octets, from) => {
      const reply = peer.#answer(octets);
      if (reply !== undefined) peer.#socket.send(reply, from.port, from.address);
    });
    peer.#socket.bind(port, address);
    await once(peer.#socket, "listening");
    return peer;
  }

  #answer(octets: Uint8Array): Uint8Array | undefined {
    let question: Message;
    try {
      question = parseMessage(octets);
    } catch {
      return undefined;
    }
    const [asked] = question.questions;
    if (question.response || question.opcode !== 0 || asked === undefined) return undefined;
    this.asked.push(`${asked.name} ${asked.type}`);
    const name = asked.name.toLowerCase().replace(/\.$/, "");
    const isLocal = name.startsWith("localtargets-");
    const targets = (isLocal ? this.targets.get(name.slice("localtargets-".length)) : undefined) ?? [];
    const answers: MessageRecord[] =
      asked.type === "A" ? targets.map((data) => ({ name, type: "A", class: 1, ttl: 30, data })) : [];
    const soa = `ns1.dns.${zoneName}. hostmaster.dns.${zoneName}. 1000 7200 1800 86400 30`;
    const isApexSoa = name === zoneName && asked.type === "SOA";
    const authority =
      answers.length > 0 ? [] : [{ name: zoneName, type: "SOA", class: 1, ttl: 30, data: soa }];
    const plainOpt =
      question.edns === undefined ? {} : { edns: { ...question.edns, payloadSize: 512, options: [] } };
    return composeMessage({
      ...{ id: question.id, response: true, recursionDesired: question.recursionDesired ?? false },
      ...{ questions: question.questions, rcode: targets.length > 0 || isApexSoa ? 0 : 3 },
      answers: isApexSoa ? authority : answers,
      authority: isApexSoa ? [] : authority,
      ...plainOpt,
    });
  }

  /** What k8gb's operator reads from a peer about a host: its targets, none where it says anything else, or nothing. */
  async read(
    peer: Endpoint,
    host: string,
  ): Promise<
    { readonly rcode: number; readonly targets: readonly string[]; readonly octets: number } | "silence"
  > {
    const socket = createSocket("udp4");
    const question = composeMessage({
      ...{ id: 4711, recursionDesired: true },
      questions: [{ name: `localtargets-${host}`, type: "A", class: 1 }],
    });
    const reply = await new Promise<Uint8Array | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), 2_000);
      socket.once("message", (octets) => {
        clearTimeout(timer);
        resolve(octets);
      });
      socket.send(question, peer.port, peer.address);
    });
    socket.close();
    if (reply === undefined) return "silence";
    const message = parseMessage(reply);
    const targets = message.answers.filter(({ type }) => type === "A").map(({ data }) => data);
    return { rcode: message.rcode, targets: targets.sort(), octets: reply.length };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}
