import { composeMessage, parseMessage, type Authority, type Zone } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { zoneName } from "../fleet/fleet-map.ts";

/** What a DNS server answers for one name, asked directly: no datagram, no size limit. */
export interface DirectAnswer {
  readonly rcodes: readonly [number, number];
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
}

/** The balanced zone of a DNS server, found without reading a name: this is asked at each step. */
export function servedZone(authority: Authority | undefined): Zone | undefined {
  return authority?.zones.find((zone) => zone.origin === zoneName);
}

const output = new Uint8Array(65_535);
const client = new ReusedClient("tcp", { address: "10.9.0.1", port: 40_000 });

/** Packs the two questions about a name once. */
export function packQuestions(name: string): readonly [Uint8Array, Uint8Array] {
  const pack = (type: string): Uint8Array =>
    composeMessage({ id: 7, opcode: 0, questions: [{ name, type, class: 1 }] });
  return [pack("A"), pack("AAAA")];
}

/** Asks an authority both questions; targets are sorted, since their order is a matter of strategy. */
export function askDirectly(authority: Authority, [v4, v6]: readonly [Uint8Array, Uint8Array]): DirectAnswer {
  const a = ask(authority, v4, "A");
  const aaaa = ask(authority, v6, "AAAA");
  return { rcodes: [a.rcode, aaaa.rcode], A: a.targets, AAAA: aaaa.targets };
}

/**
 * Asks an authority about a host whose answers are drawn: each shows the targets of one cluster, so the whole is read
 * from the zone. A draw that is no part of the whole is returned as it is, for the checkers to find.
 */
export function askWhole(
  authority: Authority,
  of: { readonly host: string; readonly questions: readonly [Uint8Array, Uint8Array] },
): DirectAnswer {
  const drawn = askDirectly(authority, of.questions);
  const sets = servedZone(authority)?.recordSetsOf(of.host) ?? [];
  const whole = (type: "A" | "AAAA"): readonly string[] => {
    const data = sets.find((set) => set.type === type)?.data ?? [];
    const isPart =
      drawn[type].every((target) => data.includes(target)) && (drawn[type].length > 0 || data.length === 0);
    return isPart ? data.toSorted() : drawn[type];
  };
  return { rcodes: drawn.rcodes, A: whole("A"), AAAA: whole("AAAA") };
}

export function targetsIn(answer: DirectAnswer): readonly string[] {
  return [...answer.A, ...answer.AAAA].toSorted();
}

function ask(
  authority: Authority,
  question: Uint8Array,
  type: string,
): { readonly rcode: number; readonly targets: readonly string[] } {
  const length = authority.answer(question, 0, question.length, client, output);
  const message = parseMessage(output.slice(0, length));
  const targets = message.answers.filter((record) => record.type === type).map((record) => record.data);
  return { rcode: message.rcode, targets: targets.toSorted() };
}
