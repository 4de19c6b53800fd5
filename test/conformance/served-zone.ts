import assert from "node:assert/strict";
import { Authority, composeMessage, parseMessage, parseZoneFile, type Message } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";

const rcodes = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];

/** A zone in memory, and its answers in the notation of the tables. */
export class ServedZone {
  readonly #authority: Authority;
  readonly #output = new Uint8Array(65_535);

  constructor(text: string) {
    const { runtime } = new Simulation({ seed: 1 }).node({ name: "dns", addresses: ["192.0.2.53"] });
    this.#authority = new Authority({ random: runtime.random, clock: runtime.clock });
    const { zone, problems } = parseZoneFile(text);
    assert.ok(zone !== undefined, JSON.stringify(problems));
    this.#authority.setZone(zone);
  }

  ask(name: string, type: string): Message {
    const question = composeMessage({ id: 1, questions: [{ name, type, class: 1 }] });
    const client = new ReusedClient("tcp", { address: "192.0.2.200", port: 40_000 });
    const length = this.#authority.answer(question, 0, question.length, client, this.#output);
    return parseMessage(this.#output.subarray(0, length));
  }

  /** `NOERROR aa | answers | authority | additional`, each record as `owner TYPE data`, sorted within a section. */
  answer(name: string, type: string): string {
    const message = this.ask(name, type);
    const section = (records: Message["answers"]): string =>
      records
        .map((record) => `${record.name} ${record.type} ${record.type === "SOA" ? "" : record.data}`.trim())
        .sort()
        .join(", ");
    const rcode = rcodes[message.rcode] ?? String(message.rcode);
    return [
      `${rcode}${message.authoritative ? " aa" : ""}`,
      section(message.answers),
      section(message.authority),
      section(message.additional),
    ].join(" | ");
  }
}
