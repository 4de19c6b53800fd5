import assert from "node:assert/strict";
import { test } from "node:test";

import { ReusedClient } from "./reused-client.ts";

const cases: readonly { text: string; octets: readonly number[]; back?: string }[] = [
  { text: "192.0.2.1", octets: [192, 0, 2, 1] },
  { text: "0.0.0.0", octets: [0, 0, 0, 0] },
  { text: "2001:db8::1", octets: [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  { text: "fe80::2%eth0", octets: [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], back: "fe80::2" },
];

for (const { text, octets, back = text } of cases) {
  test(`a client at ${text} has its address in both forms, whichever was given`, () => {
    const client = new ReusedClient("udp", { address: "198.51.100.7", port: 1 });
    assert.equal(client.octetCount, 4);
    client.setText(text, 53);
    assert.deepEqual([...client.octets.subarray(0, client.octetCount)], octets);
    assert.deepEqual([client.address, client.port], [text, 53]);

    const source = Uint8Array.from([9, 9, ...octets, 9]);
    client.setOctets(source, 2, octets.length === 4 ? 4 : 16, 54);
    assert.deepEqual([client.address, client.port], [back, 54]);
    const kept = client.copy();
    client.setText("203.0.113.1", 55);
    assert.deepEqual([kept.address, kept.port, kept.transport], [back, 54, "udp"]);
    assert.deepEqual([...kept.octets.subarray(0, kept.octetCount)], octets);
  });
}
