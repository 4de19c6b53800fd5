import assert from "node:assert/strict";
import test from "node:test";
import { ReusedClient, type DatagramClient } from "@meridian/runtime";
import { concat, hex } from "../testdata/case-zone.ts";
import { answerProxied } from "./proxy-datagrams.ts";
import { ProxyHeader } from "./proxy-header.ts";
import { ProxySources } from "./proxy-sources.ts";

const signature = "0d0a0d0a000d0a515549540a";
const ipv4 = "c0000207 c0000201 1234 0035";
const ipv6 = "20010db8000000000000000000000001 20010db8000000000000000000000002 1234 0035";

const cases: readonly {
  readonly name: string;
  readonly octets: string;
  readonly transport?: "stream" | "datagram";
  readonly verdict: "ok" | "short" | "bad";
}[] = [
  { name: "UDP over IPv4", octets: `${signature} 21 12 000c ${ipv4}`, verdict: "ok" },
  { name: "UDP over IPv6", octets: `${signature} 21 22 0024 ${ipv6}`, verdict: "ok" },
  { name: "TCP over IPv4", octets: `${signature} 21 11 000c ${ipv4}`, transport: "stream", verdict: "ok" },
  { name: "with TLVs", octets: `${signature} 21 12 0010 ${ipv4} 04000100`, verdict: "ok" },
  { name: "LOCAL without addresses", octets: `${signature} 20 00 0000`, verdict: "ok" },
  { name: "LOCAL with addresses to pass over", octets: `${signature} 20 11 000c ${ipv4}`, verdict: "ok" },
  { name: "nothing yet", octets: "", verdict: "short" },
  { name: "part of the signature", octets: "0d0a0d0a", verdict: "short" },
  { name: "half a header", octets: `${signature} 21 12`, verdict: "short" },
  { name: "addresses cut", octets: `${signature} 21 12 000c c0000207`, verdict: "short" },
  { name: "more announced than there is", octets: `${signature} 21 12 0100 ${ipv4}`, verdict: "short" },
  { name: "more announced than is taken", octets: `${signature} 21 12 01f1 ${ipv4}`, verdict: "bad" },
  { name: "65,535 announced", octets: `${signature} 21 12 ffff ${ipv4}`, verdict: "bad" },
  { name: "fewer octets than the addresses need", octets: `${signature} 21 12 000b ${ipv4}`, verdict: "bad" },
  { name: "IPv6 in the room of IPv4", octets: `${signature} 21 22 000c ${ipv4}`, verdict: "bad" },
  { name: "TCP on a datagram", octets: `${signature} 21 11 000c ${ipv4}`, verdict: "bad" },
  { name: "UDP on a stream", octets: `${signature} 21 12 000c ${ipv4}`, transport: "stream", verdict: "bad" },
  { name: "a local socket's address", octets: `${signature} 21 31 00d8`, verdict: "bad" },
  { name: "version 1 in binary", octets: `${signature} 11 12 000c ${ipv4}`, verdict: "bad" },
  { name: "an unknown command", octets: `${signature} 22 12 000c ${ipv4}`, verdict: "bad" },
  { name: "the text form of version 1", octets: "50524f585920", verdict: "bad" },
  { name: "a question", octets: "1234 0100 0001 0000 0000 0000", verdict: "bad" },
];

for (const { name, octets, transport = "datagram", verdict } of cases) {
  test(`E19: a PROXY header: ${name} is ${verdict}`, () => {
    const bytes = hex(octets);
    // Among other octets, so that a read over the end would find something.
    const around = concat(new Uint8Array(3).fill(0xee), bytes, new Uint8Array(600));
    assert.equal(new ProxyHeader().read(around, 3, 3 + bytes.length, transport), verdict);
  });
}

test("networks of proxies are matched by their bits, and nonsense is refused", () => {
  const sources = new ProxySources(["10.0.0.0/8", "192.0.2.64/26", "2001:db8::/33", "203.0.113.7"]);
  const has = (address: string): boolean => sources.has(new ReusedClient("udp", { address, port: 1 }));
  assert.deepEqual(
    ["10.255.1.1", "11.0.0.1", "192.0.2.127", "192.0.2.128", "203.0.113.7", "203.0.113.8"].map(has),
    [true, false, true, false, true, false],
  );
  assert.deepEqual(["2001:db8:7fff::1", "2001:db8:8000::1"].map(has), [true, false]);
  assert.ok(new ProxySources(["0.0.0.0/0"]).has(new ReusedClient("udp", { address: "192.0.2.1", port: 1 })));
  for (const text of ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "2001:db8::/129", "10.0.0.0/8x"]) {
    assert.throws(() => new ProxySources([text]), { code: "BadRecord" }, text);
  }
});

test("a datagram of a proxy is answered as from its client, and without a header not at all", () => {
  const seen: string[] = [];
  const note = (what: Uint8Array, client: DatagramClient): void => {
    seen.push(`${client.address}#${client.port} ${what.length}`);
  };
  const answer = answerProxied(
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    (input, offset, length, client) => {
      note(input.subarray(offset, offset + length), client);
      return 12;
    },
    new ProxySources(["10.0.0.0/8"]),
  );
  const message = new Uint8Array(30);
  const send = (octets: Uint8Array, address: string): number =>
    answer(octets, 0, octets.length, new ReusedClient("udp", { address, port: 99 }), new Uint8Array(512));
  const header = hex(`${signature} 21 12 000c ${ipv4}`);
  const local = hex(`${signature} 20 00 0000`);
  assert.deepEqual(
    [
      send(concat(header, message), "10.1.1.1"),
      send(concat(local, message), "10.1.1.1"),
      send(message, "10.1.1.1"),
      send(message, "198.51.100.1"),
      send(concat(header, message), "198.51.100.1"),
    ],
    [12, 12, 0, 12, 12],
  );
  assert.deepEqual(seen, ["192.0.2.7#4660 30", "10.1.1.1#99 30", "198.51.100.1#99 30", "198.51.100.1#99 58"]);
});

test("an IPv4 client of a proxy that speaks IPv6 is one of IPv4", () => {
  const seen: unknown[] = [];
  const answer = answerProxied(
    // oxlint-disable-next-line max-params -- the shape of AnswerDatagram
    (_input, _offset, length, { address, octetCount, port }) => {
      seen.push([address, octetCount, port, length]);
      return 12;
    },
    new ProxySources(["10.0.0.0/8"]),
  );
  for (const prefix of ["00000000000000000000ffff", "00000000000000000000fffe", "00000000000000000001ffff"]) {
    const header = hex(
      `${signature} 21 22 0024 ${prefix}c0000207 20010db8000000000000000000000002 1234 0035`,
    );
    const octets = concat(header, new Uint8Array(30));
    answer(
      octets,
      0,
      octets.length,
      new ReusedClient("udp", { address: "10.1.1.1", port: 9 }),
      new Uint8Array(512),
    );
  }
  assert.deepEqual(seen, [
    ["192.0.2.7", 4, 0x1234, 30],
    ["::fffe:c000:207", 16, 0x1234, 30],
    ["::1:ffff:c000:207", 16, 0x1234, 30],
  ]);
});
