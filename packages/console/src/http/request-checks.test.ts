import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCommand, checkHost, checkSameOrigin } from "./request-checks.ts";

const hosts: readonly (readonly [host: string | undefined, passes: boolean])[] = [
  ["127.0.0.1:8090", true],
  ["127.0.0.1", true],
  ["192.168.1.7:80", true],
  ["[::1]:8090", true],
  ["[fe80::1]", true],
  ["localhost:8090", true],
  ["LOCALHOST:8090", true],
  ["lab.example:8090", true], // as configured
  ["evil.example:8090", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example", false],
  ["evil.example#127.0.0.1", false],
  ["[::1].evil.example", false],
  ["", false],
  [undefined, false],
];
for (const [host, passes] of hosts) {
  test(`a request for host ${JSON.stringify(host)} ${passes ? "is answered" : "is refused"}`, () => {
    const refused = checkHost({ headers: host === undefined ? {} : { host } }, ["lab.example"]);
    assert.equal(refused === undefined, passes);
  });
}

const host = "127.0.0.1:8090";
const origins: readonly (readonly [name: string, headers: Record<string, string>, passes: boolean])[] = [
  ["a program that is no browser", {}, true],
  ["the page", { origin: `http://${host}`, "sec-fetch-site": "same-origin" }, true],
  ["the page behind TLS", { origin: `https://${host}` }, true],
  ["an address that was typed in", { "sec-fetch-site": "none" }, true],
  ["another page", { origin: "http://evil.example", "sec-fetch-site": "cross-site" }, false],
  [
    "another port of the same machine",
    { origin: "http://127.0.0.1:9999", "sec-fetch-site": "same-site" },
    false,
  ],
  ["a page without an origin", { origin: "null" }, false],
  ["another page, as its fetch mode tells", { "sec-fetch-site": "cross-site" }, false],
];
for (const [name, headers, passes] of origins) {
  test(`a request of ${name} ${passes ? "is answered" : "is refused"}`, () => {
    assert.equal(checkSameOrigin({ headers: { host, ...headers } }) === undefined, passes);
    const command = checkCommand({
      method: "POST",
      headers: { host, ...headers, "content-type": "application/json" },
    });
    assert.equal(command?.status, passes ? undefined : 403);
  });
}

test("a command must be a POST of JSON, which no form can send", () => {
  const json = { host, "content-type": "application/json; charset=utf-8" };
  assert.equal(checkCommand({ method: "POST", headers: json }), undefined);
  assert.equal(checkCommand({ method: "GET", headers: json })?.status, 405);
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]) {
    assert.equal(
      checkCommand({ method: "POST", headers: { host, "content-type": type } })?.status,
      415,
      type,
    );
  }
  assert.equal(checkCommand({ method: "POST", headers: { host } })?.status, 415);
});
