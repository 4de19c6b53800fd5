import assert from "node:assert/strict";
import { test } from "node:test";
import { formatEndpoint, NetworkError, type Endpoint, type Network } from "@meridian/runtime";
import { chooseLayout, type LayoutWish } from "./choose-layout.ts";

/** A network where some places cannot be had, by pattern of `address:port/transport`. */
function networkWith(rules: readonly (readonly [RegExp, NetworkError["code"]])[]): Network {
  const held = new Set<string>();
  const open = async (at: Endpoint, transport: string): Promise<AsyncDisposable & { local: Endpoint }> => {
    const place = `${formatEndpoint(at)}/${transport}`;
    const code = held.has(place) ? "AddressInUse" : rules.find(([pattern]) => pattern.test(place))?.[1];
    if (code !== undefined) throw new NetworkError(code, place);
    held.add(place);
    return { local: at, [Symbol.asyncDispose]: async () => void held.delete(place) };
  };
  const network: Pick<Network, "bindUdp" | "listenTcp"> = {
    bindUdp: async (at) => ({ ...(await open(at, "udp")), send() {} }),
    listenTcp: (at) => open(at, "tcp"),
  };
  return network as Network;
}

const plain: LayoutWish = { clusterCount: 3, singleAddress: false };

const choices = [
  { name: "the first network", rules: [], wish: plain, expect: "127.0.10.53:5300" },
  {
    name: "the next network where a DNS port is taken",
    rules: [[/^127\.0\.10\.3:5300\/udp/, "AddressInUse"]],
    wish: plain,
    expect: "127.0.11.53:5300",
  },
  {
    name: "the remembered network",
    rules: [],
    wish: { ...plain, remembered: { kind: "own-addresses", network: 42 } },
    expect: "127.0.42.53:5300",
  },
  {
    name: "another one where the remembered is taken, and says so",
    rules: [[/^127\.0\.42\.1:6443/, "AddressInUse"]],
    wish: { ...plain, remembered: { kind: "own-addresses", network: 42 } },
    expect: "127.0.10.53:5300",
    note: /127\.0\.42\.1:6443\/tcp is taken/,
  },
  {
    name: "one address where the system has only that, and says so",
    rules: [[/^127\.0\.(?!0)/, "AddressNotAvailable"]],
    wish: plain,
    expect: "127.0.0.1:5300",
    note: /no address 127\.0\.10\.254/,
  },
  {
    name: "one address when asked to",
    rules: [],
    wish: { ...plain, singleAddress: true },
    expect: "127.0.0.1:5300",
  },
  {
    name: "other ports of one address where they are taken",
    rules: [[/^127\.0\.0\.1:5300/, "AddressInUse"]],
    wish: { ...plain, singleAddress: true },
    expect: "127.0.0.1:5330",
  },
] as const;

for (const { name, rules, wish, expect, ...more } of choices) {
  test(`chosen is ${name}`, async () => {
    const chosen = await chooseLayout(networkWith(rules), wish);
    assert.equal(formatEndpoint(chosen.layout.parent.dns), expect);
    if ("note" in more) assert.match(chosen.notes.join("; "), more.note);
    else assert.deepEqual(chosen.notes, []);
  });
}

test("of two fleets that choose at once each gets its own network", async () => {
  const network = networkWith([]);
  const [one, other] = await Promise.all([chooseLayout(network, plain), chooseLayout(network, plain)]);
  assert.notDeepEqual(one.layout.addressing, other.layout.addressing);
});

const refusals = [
  {
    name: "a port that is taken everywhere",
    rules: [[/:5399\/udp/, "AddressInUse"]],
    wish: { ...plain, dnsPort: 5399 },
    code: "PortTaken",
    says: /127\.0\.10\.53:5399\/udp is taken.*ss -lnup 'sport = :5399'.*--port/,
  },
  {
    name: "a port below 1024 without being root",
    rules: [[/:53\//, "PermissionDenied"]],
    wish: { ...plain, dnsPort: 53 },
    code: "PermissionDenied",
    says: /no permission to listen on 127\.0\.10\.53:53\/udp.*--port 5300/,
  },
] as const;

for (const { name, rules, wish, code, says } of refusals) {
  test(`${name} is refused with what to do`, async () => {
    await assert.rejects(chooseLayout(networkWith(rules), wish), (error: Error & { code?: string }) => {
      assert.equal(error.code, code);
      assert.match(error.message, says);
      return true;
    });
  });
}

test("what is taken everywhere is named, not the claim of another fleet that happens to be first", async () => {
  const network = networkWith([
    [/^127\.0\.10\.254:6443\/tcp/, "AddressInUse"],
    [/:5300\/udp/, "AddressInUse"],
  ]);
  await assert.rejects(chooseLayout(network, plain), /127\.0\.11\.53:5300\/udp is taken/);
});
