import assert from "node:assert/strict";
import { test } from "node:test";
import { cidrContains, parseCidr, parseIpAddress } from "./ip-address.ts";

test("a network contains its addresses and no others", () => {
  const contains = (network: string, address: string): boolean => {
    const cidr = parseCidr(network);
    const bytes = parseIpAddress(address);
    assert.ok(cidr && bytes);
    return cidrContains(cidr, bytes);
  };
  assert.equal(contains("10.0.0.0/9", "10.127.255.255"), true);
  assert.equal(contains("10.0.0.0/9", "10.128.0.0"), false);
  assert.equal(contains("0.0.0.0/0", "1.2.3.4"), true);
  assert.equal(contains("0.0.0.0/0", "::1"), false);
  assert.equal(contains("2001:db8::/33", "2001:db8:7fff::1"), true);
  assert.equal(contains("2001:db8::/33", "2001:db8:8000::1"), false);
});
