import { composeMessage, parseMessage, type Edns, type Message } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import type { ReferenceWorld } from "./reference-world.ts";

export const plainEdns: Edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

/** How a cluster's DNS server is asked; default for A, over UDP and without EDNS. */
export interface Asking {
  readonly type?: string;
  readonly edns?: Edns;
  readonly from?: string;
  readonly transport?: "udp" | "tcp";
}

/** The reply of a cluster's DNS server in octets; `undefined` is silence. */
export function reply(world: ReferenceWorld, name: string, asking: Asking = {}): Uint8Array | undefined {
  const { type = "A", edns, from = "203.0.113.1", transport = "udp" } = asking;
  const asked = composeMessage({
    ...{ id: 7, questions: [{ name, type, class: 1 }] },
    ...(edns === undefined ? {} : { edns }),
  });
  const output = new Uint8Array(65_535);
  const client = new ReusedClient(transport, { address: from, port: 40_000 });
  const length = world.cluster.authority.answer(asked, 0, asked.length, client, output);
  return length === 0 ? undefined : output.slice(0, length);
}

/** The reply, which must come. */
export function ask(world: ReferenceWorld, name: string, asking: Asking = {}): Message {
  return parseMessage(reply(world, name, asking)!);
}

/** An answer as `NOERROR 192.0.2.1`, and what a denial is cached by. */
export function said(world: ReferenceWorld, name: string, type = "A"): string {
  const { rcode, answers, authority } = ask(world, name, { type });
  const codes = new Map([
    [0, "NOERROR"],
    [3, "NXDOMAIN"],
    [5, "REFUSED"],
  ]);
  const negative = authority.map((record) => `${record.type} of ${record.name} for ${record.ttl}`);
  return [codes.get(rcode) ?? rcode, ...answers.map(({ data }) => data), ...negative].join(" ");
}
