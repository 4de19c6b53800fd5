import { composeMessage, type Edns, type Message } from "@meridian/dns";

const plainEdns: Edns = { payloadSize: 1232, version: 0, dnssecOk: false, options: [] };

function question(name: string, type: string, more: Partial<Message> = {}): Uint8Array {
  return composeMessage({ id: 0x4242, questions: [{ name, type, class: 1 }], ...more });
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.replace(/\s/g, "").match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

/** Messages that a server of the zone `p.test` may meet, sound ones and odd ones; mutations start from them. */
export const dnsSamples: readonly Uint8Array[] = [
  question("www.p.test", "A"),
  question("WWW.p.test", "AAAA", { edns: plainEdns, recursionDesired: true }),
  question("big.p.test", "TXT", { edns: { ...plainEdns, payloadSize: 4096, dnssecOk: true } }),
  question("x.sub.p.test", "AAAA", { edns: plainEdns }),
  question("a.b.dn.p.test", "A"),
  question("alias2.p.test", "MX"),
  question("loop1.p.test", "ANY"),
  question("x.y.wild.p.test", "TXT"),
  question("www.example.org", "A", { edns: plainEdns }),
  question("p.test", "AXFR"),
  question("p.test", "IXFR", {
    authority: [{ name: "p.test", type: "SOA", class: 1, ttl: 0, data: "ns. h. 1 2 3 4 5" }],
  }),
  question("p.test", "SOA", {
    opcode: 4,
    answers: [{ name: "p.test", type: "SOA", class: 1, ttl: 1, data: "ns. h. 1 2 3 4 5" }],
  }),
  question("p.test", "SOA", {
    opcode: 5,
    authority: [{ name: "www.p.test", type: "A", class: 255, ttl: 0, data: "" }],
  }),
  composeMessage({ id: 7, questions: [{ name: "version.bind", type: "TXT", class: 3 }] }),
  question("www.p.test", "A", {
    edns: {
      ...plainEdns,
      options: [
        { code: 10, octets: new Uint8Array(24) },
        { code: 8, octets: hex("0001 18 00 c00002") },
        { code: 3, octets: new Uint8Array() },
        { code: 11, octets: new Uint8Array() },
      ],
    },
  }),
  // A TSIG of an unknown key, an OPT with a compressed owner, and a bare header.
  hex(`4242 0000 0001 0000 0000 0001 03777777 0170 0474657374 00 0001 0001
       036b6579 00 00fa 00ff 00000000 0021 0b686d61632d736861323536 00 000065000000 012c 0004 01020304 4242 0000 0000`),
  hex("4242 0000 0001 0000 0000 0001 03777777 0170 0474657374 00 0001 0001 c00c 0029 04d0 00000000 0000"),
  hex("4242 7800 0000 0000 0000 0000"),
];
