import assert from "node:assert/strict";
import { test } from "node:test";
import { Authority, DnsClient, parseZoneFile, serveDns } from "@meridian/dns";
import type { Endpoint } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { askAddresses, type AddressAnswers, type FamilyAnswer } from "./address-answers.ts";

// k8gb's table "Dig": host names asked at edge servers over the wire.

const at = (address: string): Endpoint => ({ address, port: 53 });
const good = at("10.0.0.53");
const silent = at("10.0.0.54");
const refusing = at("10.0.0.55");

/** Two zones, so that an alias from one into the other leads out of the reply. */
const zones = [
  `$ORIGIN one.test.
@ 60 SOA ns hostmaster 1 7200 1800 86400 30
@ 60 NS ns
ns 60 A 10.0.0.53
lb 20 A 192.0.2.2
lb 20 A 192.0.2.1
lb 40 AAAA 2001:db8::1
v6 60 AAAA 2001:db8::6
text 60 TXT "none"
alias 60 CNAME lb.one.test.
twice 60 CNAME alias.two.test.
astray 60 CNAME gone.one.test.
${Array.from({ length: 80 }, (_, step) => `step${step} 60 CNAME step${step}.two.test.`).join("\n")}
loop 60 CNAME loop.two.test.
`,
  `$ORIGIN two.test.
@ 60 SOA ns hostmaster 1 7200 1800 86400 30
@ 60 NS ns
ns 60 A 10.0.0.53
alias 60 CNAME lb.one.test.
${Array.from({ length: 80 }, (_, step) => `step${step} 60 CNAME step${step + 1}.one.test.`).join("\n")}
loop 60 CNAME loop.one.test.
`,
];

interface Case {
  readonly name: string;
  readonly host: string;
  readonly servers?: readonly Endpoint[];
  readonly A: readonly string[] | RegExp;
  readonly AAAA?: readonly string[] | RegExp;
}

const both = { A: ["192.0.2.1", "192.0.2.2"], AAAA: ["2001:db8::1"] };
const cases: readonly Case[] = [
  { name: "a name without trailing dot", host: "lb.one.test", ...both },
  { name: "a name with trailing dot", host: "lb.one.test.", ...both },
  { name: "an alias", host: "alias.one.test", ...both },
  { name: "a chain of two aliases, the second in another zone", host: "twice.one.test", ...both },
  {
    name: "a chain that does not end",
    host: "step0.one.test",
    A: /too long a chain of aliases/,
    AAAA: /too long/,
  },
  {
    name: "a chain that comes back",
    host: "loop.one.test",
    A: /too long a chain of aliases/,
    AAAA: /too long/,
  },
  { name: "an alias to nothing is no address", host: "astray.one.test", A: [], AAAA: [] },
  { name: "a name that is not there is no address", host: "none.one.test", A: [], AAAA: [] },
  { name: "an empty name", host: "", A: /is no host name: it is empty/ },
  { name: "what is no name", host: "lb..test", A: /is no host name: it has an empty label/ },
  { name: "a name without addresses", host: "text.one.test", A: [], AAAA: [] },
  { name: "IPv6 alone", host: "v6.one.test", A: [], AAAA: ["2001:db8::6"] },
  { name: "one good server among bad ones", host: "lb.one.test", servers: [refusing, silent, good], ...both },
  { name: "all servers bad", host: "lb.one.test", servers: [refusing, silent], A: /REFUSED|reply/ },
  { name: "all servers silent", host: "lb.one.test", servers: [silent], A: /reply/ },
  {
    name: "no server",
    host: "lb.one.test",
    servers: [],
    A: /no edge DNS server can be asked; set EDGE_DNS_SERVERS/,
  },
];

for (const { name, host, servers = [good], A, AAAA = A } of cases)
  test(`Dig: ${name}`, async () => {
    const simulation = new Simulation({ seed: 1 });
    for (const { address } of [good, refusing]) {
      const { runtime } = simulation.node({ name: address, addresses: [address] });
      const authority = new Authority({ random: runtime.random });
      if (address === good.address) for (const text of zones) authority.setZone(parseZoneFile(text).zone!);
      await simulation.complete(serveDns(runtime, { authority, listen: [at(address)] }));
    }
    const { runtime } = simulation.node({ name: "eu", addresses: ["10.0.0.1"] });
    const answers = await simulation.complete(
      askAddresses(host, {
        ...{ dnsClient: new DnsClient(runtime), servers, deadlineMs: 2000 },
        signal: new AbortController().signal,
      }),
    );
    const check = (found: FamilyAnswer, expected: readonly string[] | RegExp): void => {
      if (expected instanceof RegExp)
        assert.match("verdict" in found ? found.verdict : "an answer", expected);
      else assert.deepEqual(found, { addresses: expected });
    };
    check(answers.A, A);
    check(answers.AAAA, AAAA);
    if (host === "lb.one.test" && servers.includes(good)) assert.equal(answers.ttlSeconds, 20);
  });

test("a name that is not there has no IPv6 either, whoever cannot say; that it has none of IPv6 says nothing of IPv4", async () => {
  const server = good;
  const told = { authoritative: false, records: [], authority: [], additional: [], server };
  const asked = (deniedFor: string, outcome: "nxdomain" | "nodata"): Promise<AddressAnswers> =>
    askAddresses("lb.one.test", {
      ...{ servers: [server], deadlineMs: 2000, signal: new AbortController().signal },
      dnsClient: {
        query: async ({ type }) =>
          type === deniedFor
            ? { state: "answered", outcome, ...told }
            : { state: "refused", rcode: "SERVFAIL", server },
      },
    });
  const [addresses, verdict] = [[], "SERVFAIL"];
  assert.deepEqual(await asked("A", "nxdomain"), {
    ...{ A: { addresses }, AAAA: { addresses }, ttlSeconds: 0 },
  });
  assert.deepEqual(await asked("A", "nodata"), { A: { addresses }, AAAA: { verdict }, ttlSeconds: 0 });
  assert.deepEqual(await asked("AAAA", "nxdomain"), { A: { verdict }, AAAA: { addresses }, ttlSeconds: 0 });
});
