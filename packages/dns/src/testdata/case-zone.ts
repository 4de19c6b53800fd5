import { ReusedClient, type Clock, type DatagramClient, type Random } from "@meridian/runtime";
import { Authority, type AuthorityOptions } from "../server/authority.ts";
import { composeMessage, parseMessage, type Edns, type Message } from "../message/message.ts";
import { concatenate } from "../message/octets.ts";
import { parseZoneFile } from "../zone/zone-file.ts";
import type { Zone } from "../zone/zone.ts";

/** The zone of the sixty cases, and some names that other cases need. */
export const caseZoneText: string = `
$ORIGIN p.test.
$TTL 60
@       SOA ns1 hostmaster 7 7200 1800 86400 30
@       NS  ns1
@       NS  ns2.example.
ns1     A   192.0.2.53
www     A   192.0.2.1
www     A   192.0.2.2
www     AAAA 2001:db8::1
*.wild  A   192.0.2.10
*.wild  TXT "wild"
host.wild  A 192.0.2.11
a.ent.wild A 192.0.2.12
b.c.d   A   192.0.2.13
alias   CNAME www
alias2  CNAME alias
dangling CNAME nope
ext     CNAME www.example.org.
deepcn  CNAME x.sub
loop1   CNAME loop2
loop2   CNAME loop1
self    CNAME self
*.wcn   CNAME www
*.wloop CNAME bar.wloop
f.*.wc2 A   192.0.2.14
sub     NS  ns.sub
ns.sub  A   192.0.2.54
a.sub   NS  ns.example.
sub2    NS  ns.other.example.
sib     NS  ns.sub
big     TXT "${"x".repeat(250)}" "${"y".repeat(250)}" "${"z".repeat(47)}"
${Array.from({ length: 100 }, (_, index) => `many A 198.51.100.${index + 1}`).join("\n")}
t666    TYPE666 \\# 4 01020304
mail    MX  10 www
srv     SRV 1 2 443 www
dn      DNAME target
a.target A 192.0.2.20
dnself  DNAME dnself
dnx     DNAME www.example.org.
svc     HTTPS 1 . alpn="h2,h3" port=8443
caa     CAA 0 issue "ca.example"
`;

/** The same numbers at every run. */
export const steadyRandom: Random = {
  uint32: () => 0x12345678,
  float: () => 0.5,
  bytes: (length) => new Uint8Array(length).fill(7),
  uuid: () => "00000000-0000-4000-8000-000000000000",
};

/** A clock that stands. */
export const stillClock: Clock = {
  now: () => 1_700_000_000_000,
  monotonicMs: () => 0,
  sleep: () => Promise.resolve(),
  after: () => () => {},
};

export function loadZone(text: string): Zone {
  const { zone, problems } = parseZoneFile(text);
  if (zone === undefined) throw new Error(JSON.stringify(problems, undefined, 2));
  return zone;
}

/** An authority for zones given as text. */
export function authorityOf(texts: readonly string[], options: Partial<AuthorityOptions> = {}): Authority {
  const authority = new Authority({
    random: steadyRandom,
    clock: stillClock,
    // The clock stands, so that no second would ever be over.
    rateLimit: false,
    ...options,
  });
  for (const text of texts) authority.setZone(loadZone(text));
  return authority;
}

const output = new Uint8Array(65_535);

/** The raw answer, or `undefined` for silence. The message stands in the middle of a buffer, as it may in a batch. */
export function exchange(authority: Authority, message: Uint8Array, client: Partial<DatagramClient> = {}): Uint8Array | undefined {
  const input = new Uint8Array(message.length + 20).fill(0xee);
  input.set(message, 10);
  output.fill(0xdd);
  const { address = "192.0.2.200", port = 40_000, transport = "udp" } = client;
  const whole = new ReusedClient(transport, { address, port });
  const length = authority.answer(input, 10, message.length, whole, output);
  return length === 0 ? undefined : output.slice(0, length);
}

export const plainEdns: Edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

/** A question as octets; `edns: true` adds a plain OPT. */
export function question(
  name: string,
  type: string,
  more: Partial<Omit<Message, "edns">> & { readonly class?: number; readonly edns?: Edns | true } = {},
): Uint8Array {
  const { class: questionClass = 1, edns, ...fields } = more;
  return composeMessage({
    id: 0x4242,
    questions: [{ name, type, class: questionClass }],
    ...fields,
    ...(edns === undefined ? {} : { edns: edns === true ? plainEdns : edns }),
  });
}

/**
 * A readable form of what matters in an answer. Options of OPT are `code=data`, of a cookie only what the client sent and
 * how many octets the server added. Records of one set are sorted if that is asked for, where a server turns them.
 */
export function describe(octets: Uint8Array | undefined, order: "as sent" | "sorted" = "as sent"): string {
  if (octets === undefined) return "silence";
  const message = parseMessage(octets);
  const rcode = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED", "YXDOMAIN"][message.rcode] ?? `${message.rcode}`;
  const flags = `${message.authoritative ? " aa" : ""}${message.truncated ? " tc" : ""}`;
  const section = (title: string, records: Message["answers"]): string => {
    const texts = records.map(({ name, type, data }) => `${name} ${type} ${data}`);
    const shown = order === "sorted" ? sortSets(texts) : texts;
    return texts.length === 0 ? "" : ` ${title}: ${shown.join(", ")}`;
  };
  return (
    rcode +
    flags +
    section("an", message.answers) +
    section("ns", message.authority) +
    section("ar", message.additional) +
    (message.edns === undefined ? "" : ` opt${message.edns.options.map(describeOption).join("")}`)
  );
}

function describeOption({ code, octets }: Edns["options"][number]): string {
  const isCookie = code === 10;
  const shown = Buffer.from(isCookie ? octets.subarray(0, 8) : octets).toString("hex");
  return ` ${code}=${shown}${isCookie ? `+${octets.length - 8}` : ""}`;
}

/** Sorts neighbours that have owner and type in common. */
function sortSets(texts: readonly string[]): string[] {
  const setOf = (text: string): string => text.split(" ", 2).join(" ");
  const sets: string[][] = [];
  for (const text of texts) {
    const last = sets.at(-1);
    if (last !== undefined && setOf(last[0]!) === setOf(text)) last.push(text);
    else sets.push([text]);
  }
  return sets.flatMap((set) => set.toSorted());
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(text.replace(/\s/g, "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return concatenate(parts);
}
