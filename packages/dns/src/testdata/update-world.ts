import assert from "node:assert/strict";
import { ReusedClient } from "@meridian/runtime";
import { Simulation, type SimNode } from "@meridian/runtime/sim";
import { parseMessage } from "../message/message.ts";
import { composeUpdate, type UpdateChange } from "../update/compose-update.ts";
import type { UpdateRule } from "../update/update-policy.ts";
import { UpdateServer } from "../update/update-server.ts";
import type { Zone } from "../zone/zone.ts";
import { loadZone } from "./case-zone.ts";

const zoneText = `
$ORIGIN u.test.
$TTL 60
@      SOA ns1 hostmaster 100 7200 1800 86400 30
@      NS  ns1
@      NS  ns2.example.
@      TXT "apex"
ns1    A   192.0.2.53
www    A   192.0.2.1
www    A   192.0.2.2
www    AAAA 2001:db8::1
alias  CNAME Www
mail   MX  10 Www
a.ent  A   192.0.2.3
*.wild A   192.0.2.4
cloud  NS  NS1.Cloud
cloud  NS  ns2.cloud
`;
/** Lets the key `k` do everything. */
const anything: readonly UpdateRule[] = [{ key: "k", match: "subdomain", types: ["ANY"] }];

/** A server of updates of one zone, and how to send it some. */
export interface UpdatedWorld {
  readonly zone: Zone;
  readonly sim: Simulation;
  readonly node: SimNode;
  readonly server: UpdateServer;
  /** The rcode of a whole message. */
  readonly send: (message: Uint8Array, key?: string) => Promise<number>;
  readonly update: (...changes: UpdateChange[]) => Promise<number>;
}

/** One that serves `u.test` at serial 100. */
export async function openWorld(
  options: { readonly rules?: readonly UpdateRule[]; readonly text?: string } = {},
): Promise<UpdatedWorld> {
  const sim = new Simulation({ seed: 1 });
  const node = sim.node({ name: "server", addresses: ["10.0.0.1"] });
  const zone = loadZone(options.text ?? zoneText);
  const server = await sim.complete(
    UpdateServer.open(node.runtime, {
      authority: { zone: (origin) => (origin === "static.test" ? {} : undefined) },
      zones: [{ zone, journal: "u.test", rules: options.rules ?? anything }],
    }),
  );
  const send: UpdatedWorld["send"] = async (message, key = "k") => {
    const client = new ReusedClient("udp", { address: "10.0.0.9", port: 4_000 });
    const answers = server.handle({
      message,
      client,
      key,
      octetsMax: 512,
      signal: new AbortController().signal,
    });
    const octets = await sim.complete(
      (async () => {
        for await (const answer of answers) return answer;
        return undefined;
      })(),
    );
    assert.ok(octets !== undefined);
    const reply = parseMessage(octets);
    assert.ok(reply.response && reply.opcode === 5);
    return reply.rcode;
  };
  return {
    zone,
    sim,
    node,
    server,
    send,
    update: (...changes) => send(composeUpdate({ zone: "u.test", prerequisites: [], changes })),
  };
}

/** Spelled out once more: what clients see is not what the code says it is. */
export const rcode = {
  noError: 0,
  formErr: 1,
  nxDomain: 3,
  refused: 5,
  yxDomain: 6,
  yxRRset: 7,
  nxRRset: 8,
  notAuth: 9,
  notZone: 10,
} as const;
/** What a set of the zone has; nothing where it is not there. */
export const dataOf = (zone: Zone, owner: string, type: string): readonly string[] =>
  zone.recordSetsOf(owner).find((set) => set.type === type)?.data ?? [];
/** Adds a record of TTL 60. */
export const add = (name: string, type: string, data: string): UpdateChange => ({
  kind: "add",
  name,
  type,
  ttl: 60,
  data,
});
