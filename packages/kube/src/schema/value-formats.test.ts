import assert from "node:assert/strict";
import { test } from "node:test";
import { followsFormat, isBase64 } from "./value-formats.ts";

const cases: readonly [format: string, valid: readonly string[], invalid: readonly string[]][] = [
  [
    "date-time",
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+02:00"],
    ["2026-01-01", "2026-13-01T00:00:00Z"],
  ],
  ["date", ["2026-02-28"], ["2026-02-30", "26-01-01"]],
  ["duration", ["1h30m", "30s", "-1.5s", "0", "5 minutes"], ["", "1", "h", "1x", "1h 30m"]],
  ["email", ["a@example.com", "A <a@example.com>"], ["a", "a@", "@b"]],
  ["hostname", ["a", "a.example.com", "a_b.example.com", "a.example.com."], ["-a", "a..b", "", "a b"]],
  ["ipv4", ["10.0.0.1"], ["10.0.0", "10.0.0.256", "::1", "010.0.0.1"]],
  [
    "ipv6",
    ["::1", "2001:db8::1", "::ffff:10.0.0.1", "1:2:3:4:5:6:7:8"],
    ["10.0.0.1", ":::", "1::2::3", "1:2:3:4:5:6:7", "fe80::1%eth0", "1.2.3.4::", "1.2.3.4::1"],
  ],
  ["cidr", ["10.0.0.0/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/08"]],
  ["uri", ["https://a.example.com/x?y=z", "urn:x", "/path"], ["a b", "a.example.com", "http://a b"]],
  ["mac", ["00:1a:2b:3c:4d:5e", "00-1A-2B-3C-4D-5E"], ["00:1a:2b:3c:4d", "00:1a-2b:3c:4d:5e"]],
  ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]],
  ["uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]],
  ["isbn", ["0-306-40615-2", "978-3-16-148410-0"], ["0-306-40615-3"]],
  ["creditcard", ["4111 1111 1111 1111"], ["4111 1111 1111 1112"]],
  ["hexcolor", ["#fff", "ABCDEF"], ["#ffff"]],
  ["rgbcolor", ["rgb(0, 128,255)"], ["rgb(0,0,256)"]],
  ["k8s-short-name", ["a-b"], ["a.b"]],
  ["k8s-long-name", ["a.b"], ["A"]],
  ["no-such-format", ["anything"], []],
];

for (const [format, valid, invalid] of cases) {
  for (const text of valid)
    test(`"${text}" is a ${format}`, () => assert.equal(followsFormat(format, text), true));
  for (const text of invalid)
    test(`"${text}" is no ${format}`, () => assert.equal(followsFormat(format, text), false));
}

test("base64 has its padding", () => {
  for (const text of ["", "YQ==", "YWI=", "YWJj"]) assert.equal(isBase64(text), true);
  for (const text of ["YQ", "Y", "Y!==", "===="]) assert.equal(isBase64(text), false);
});
