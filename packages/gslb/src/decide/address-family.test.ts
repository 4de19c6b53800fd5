import assert from "node:assert/strict";
import { test } from "node:test";
import { familyOf, splitFamilies } from "./address-family.ts";

const families: readonly { readonly address: string; readonly family: ReturnType<typeof familyOf> }[] = [
  { address: "192.0.2.1", family: "A" },
  { address: "0.0.0.0", family: "A" },
  { address: "256.256.256.256", family: undefined },
  { address: "192.0.2", family: undefined },
  { address: "192.0.2.01", family: undefined },
  { address: "1.2.3.4.5", family: undefined },
  { address: "", family: undefined },
  { address: "::", family: "AAAA" },
  { address: "2001:db8::1", family: "AAAA" },
  { address: "1:2:3:4:5:6:7:8", family: "AAAA" },
  { address: "::ffff:192.0.2.1", family: "AAAA" },
  { address: "1:2:3:4:5:6:7", family: undefined },
  { address: "1:2:3:4:5:6:7:8:9", family: undefined },
  { address: "1::2::3", family: undefined },
  { address: "2001:db8::12345", family: undefined },
  { address: "::1.2.3", family: undefined },
  { address: "fe80::1%eth0", family: undefined },
];

for (const { address, family } of families) {
  test(`${JSON.stringify(address)} is of family ${family ?? "none"}`, () => {
    assert.equal(familyOf(address), family);
  });
}

test("addresses are split by family, in order and each once; the rest is handed back", () => {
  assert.deepEqual(splitFamilies(["192.0.2.2", "2001:DB8::1", "nothing", "192.0.2.1", "192.0.2.2"]), {
    targets: { A: ["192.0.2.2", "192.0.2.1"], AAAA: ["2001:db8::1"] },
    refused: ["nothing"],
  });
  assert.deepEqual(splitFamilies(["2001:DB8:0:0::1", "2001:db8::1", "::"]).targets.AAAA, [
    "2001:db8::1",
    "::",
  ]);
  assert.deepEqual(splitFamilies([]), { targets: { A: [], AAAA: [] }, refused: [] });
});
