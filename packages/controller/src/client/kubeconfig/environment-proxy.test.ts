import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentProxy } from "./environment-proxy.ts";

const proxy = "http://proxy:3128";
const cases: readonly (readonly [string, Record<string, string>, string, string | undefined])[] = [
  ["no variables", {}, "https://api:6443", undefined],
  ["https", { HTTPS_PROXY: proxy }, "https://api:6443", proxy],
  ["https has no say over http", { HTTPS_PROXY: proxy }, "http://api", undefined],
  ["http", { http_proxy: proxy }, "http://api", proxy],
  ["lower case first", { https_proxy: "http://a:1", HTTPS_PROXY: proxy }, "https://api", "http://a:1"],
  ["without a scheme", { HTTPS_PROXY: "proxy:3128" }, "https://api", proxy],
  ["this machine", { HTTPS_PROXY: proxy }, "https://127.0.1.1:6443", undefined],
  ["this machine by name", { HTTPS_PROXY: proxy }, "https://localhost:6443", undefined],
  ["this machine, IPv6", { HTTPS_PROXY: proxy }, "https://[::1]:6443", undefined],
  ["everything excepted", { HTTPS_PROXY: proxy, NO_PROXY: "*" }, "https://api", undefined],
  ["a name", { HTTPS_PROXY: proxy, NO_PROXY: "x, api.example.org" }, "https://api.example.org", undefined],
  ["below a name", { HTTPS_PROXY: proxy, NO_PROXY: "example.org" }, "https://api.Example.org", undefined],
  ["not a part of a name", { HTTPS_PROXY: proxy, NO_PROXY: "ample.org" }, "https://example.org", proxy],
  ["a dot means below", { HTTPS_PROXY: proxy, NO_PROXY: ".example.org" }, "https://a.example.org", undefined],
  ["a dot excludes itself", { HTTPS_PROXY: proxy, NO_PROXY: ".example.org" }, "https://example.org", proxy],
  ["a star and a dot", { HTTPS_PROXY: proxy, NO_PROXY: "*.example.org" }, "https://a.example.org", undefined],
  ["an address", { HTTPS_PROXY: proxy, NO_PROXY: "10.0.0.1" }, "https://10.0.0.1:6443", undefined],
  ["a range", { HTTPS_PROXY: proxy, NO_PROXY: "10.96.0.0/12" }, "https://10.111.255.1", undefined],
  ["outside of a range", { HTTPS_PROXY: proxy, NO_PROXY: "10.96.0.0/12" }, "https://10.112.0.1", proxy],
  ["a range is for addresses", { HTTPS_PROXY: proxy, NO_PROXY: "0.0.0.0/0" }, "https://api", proxy],
  ["an IPv6 range", { HTTPS_PROXY: proxy, NO_PROXY: "fd00::/8" }, "https://[fd12::1]:6443", undefined],
  ["an IPv6 address", { HTTPS_PROXY: proxy, NO_PROXY: "fd12::1" }, "https://[fd12::1]:6443", undefined],
  [
    "an IPv6 address and port",
    { HTTPS_PROXY: proxy, NO_PROXY: "[fd12::1]:1" },
    "https://[fd12::1]:6443",
    proxy,
  ],
  ["a port", { HTTPS_PROXY: proxy, NO_PROXY: "api:6443" }, "https://api:6443", undefined],
  ["another port", { HTTPS_PROXY: proxy, NO_PROXY: "api:6443" }, "https://api", proxy],
  ["the scheme's port", { HTTPS_PROXY: proxy, NO_PROXY: "api:443" }, "https://api", undefined],
];
for (const [name, environment, origin, expected] of cases) {
  test(`the proxy of the environment: ${name}`, () => {
    assert.equal(environmentProxy(environment, origin), expected);
  });
}
