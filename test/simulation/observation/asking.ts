import { composeMessage, parseMessage, type Authority, type Message, type Zone } from "@meridian/dns";
import { ReusedClient } from "@meridian/runtime";
import { clientAddress } from "../fleet/fleet-map.ts";

/** What a DNS server answers for one name, asked directly: no datagram, no size limit. */
export interface DirectAnswer {
  readonly rcodes: readonly [number, number];
  readonly A: readonly string[];
  readonly AAAA: readonly string[];
}

/** A question as octets and as what they say. */
export interface PackedQuestion {
  readonly octets: Uint8Array;
  readonly message: Message;
}

/** The two questions about a name. */
export type PackedQuestions = readonly [PackedQuestion, PackedQuestion];

/** A zone of a DNS server, found without reading a name: this is asked at each step. */
export function servedZone(authority: Authority | undefined, name: string): Zone | undefined {
  return authority?.zones.find((zone) => zone.origin === name);
}

const output = new Uint8Array(65_535);
const client = new ReusedClient("tcp", { address: clientAddress, port: 40_000 });
const payloadSize = 4_096;
const clientSubnetOption = 8;

/** Packs the two questions about a name once, from a client or, with its subnet, for another one. */
export function packQuestions(name: string, subnet?: string): PackedQuestions {
  const options = subnet === undefined ? [] : [{ code: clientSubnetOption, octets: subnetOctets(subnet) }];
  const pack = (type: string): PackedQuestion => {
    const octets = composeMessage({
      id: 7,
      questions: [{ name, type, class: 1 }],
      edns: { payloadSize, version: 0, dnssecOk: false, options },
    });
    return { octets, message: parseMessage(octets) };
  };
  return [pack("A"), pack("AAAA")];
}

/** Asks both questions; targets are sorted, since their order is a matter of strategy. */
export function askDirectly(
  answer: (question: PackedQuestion) => Message,
  [v4, v6]: PackedQuestions,
): DirectAnswer {
  const of = (question: PackedQuestion, type: string): { rcode: number; targets: readonly string[] } => {
    const { rcode, answers } = answer(question);
    const targets = answers.filter((record) => record.type === type).map((record) => record.data);
    return { rcode, targets: targets.toSorted() };
  };
  const a = of(v4, "A");
  const aaaa = of(v6, "AAAA");
  return { rcodes: [a.rcode, aaaa.rcode], A: a.targets, AAAA: aaaa.targets };
}

/** How an authority answers. */
export function answerOf(authority: Authority): (question: PackedQuestion) => Message {
  return ({ octets }) => {
    const length = authority.answer(octets, 0, octets.length, client, output);
    return parseMessage(output.slice(0, length));
  };
}

/**
 * Asks an authority about a host whose answers are drawn: each shows the targets of one cluster, so the whole is read
 * from the zone. A draw that is no part of the whole is returned as it is, for the checkers to find.
 */
export function askWhole(
  authority: Authority,
  of: { readonly host: string; readonly zone: string; readonly questions: PackedQuestions },
): DirectAnswer {
  const drawn = askDirectly(answerOf(authority), of.questions);
  const sets = servedZone(authority, of.zone)?.recordSetsOf(of.host) ?? [];
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

/** RFC 7871 §6: family, source prefix length, scope, address. */
function subnetOctets(address: string): Uint8Array {
  return Uint8Array.from([0, 1, 32, 0, ...address.split(".").map(Number)]);
}
