import assert from "node:assert/strict";
import { test } from "node:test";
import { readDnsConfig } from "./read-dns-config.ts";

const zones = "zones: [{ file: a.zone }]\n";
const secret = "c2VjcmV0IHNlY3JldCBzZWNyZXQ=";

/** Each text and the start of each line about it, in order. */
const mistakes: readonly (readonly [name: string, text: string, ...lines: RegExp[]])[] = [
  ["no YAML", "zones: [\n", /^dns\.yaml:2: this is not YAML: /],
  ["nothing", "", /^dns\.yaml:1: must have keys and values/, /^dns\.yaml:1: has no zones; list at least one/],
  ["a list", "- a\n", /^dns\.yaml:1: must have keys and values/, /has no zones/],
  [
    "an unknown key, and one that is there twice",
    `${zones}port: 53\nworkers: 1\nworkers: 2\n`,
    /^dns\.yaml:2: port: there is no such key; known are listen, workers/,
    /^dns\.yaml:4: workers: is there twice; keep one/,
  ],
  [
    "wrong types",
    `${zones}listen: 127.0.0.1:53\nworkers: many\nversion: [1]\nudpPayloadBytes: 100\ndatapath: fast\n`,
    /^dns\.yaml:2: listen: must be a list/,
    /^dns\.yaml:3: workers: must be a whole number from 1 to 64/,
    /^dns\.yaml:6: datapath: must be one of auto, mmsg, dgram/,
    /^dns\.yaml:5: udpPayloadBytes: must be a whole number from 512 to 4096/,
    /^dns\.yaml:4: version: must be a text/,
  ],
  [
    "endpoints and networks",
    `${zones}listen: [localhost:53, "127.0.0.1"]\nproxies: [10.0.0.0/33]\n`,
    /^dns\.yaml:2: listen\[0\]: must be an address and a port, for example/,
    /^dns\.yaml:2: listen\[1\]: must be an address and a port/,
    /^dns\.yaml:3: proxies\[0\]: .*10\.0\.0\.0\/33/,
  ],
  [
    "numbers one level down",
    `${zones}tcp: { idleMs: 0 }\nrateLimit: { slip: -1, logOnly: perhaps }\nqueryLog: { file: q, rate: 0 }\n`,
    /^dns\.yaml:2: tcp\.idleMs: must be a whole number/,
    /^dns\.yaml:3: rateLimit\.slip: must be a whole number from 0 to 100/,
    /^dns\.yaml:3: rateLimit\.logOnly: must be true or false/,
    /^dns\.yaml:4: queryLog\.rate: must be a number from/,
  ],
  [
    "HTTPS without a certificate, TLS without a key",
    `${zones}https: { listen: ["127.0.0.1:443"], path: dns }\n`,
    /^dns\.yaml:2: https\.path: must begin with \//,
    /^dns\.yaml:2: https: needs a certificate; set tls\.certificate/,
  ],
  [
    "TLS without a key",
    `${zones}tls: { certificate: a }\n`,
    /^dns\.yaml:2: tls: has no privateKey; name a file/,
  ],
  [
    "geo",
    `${zones}geo: { fields: ["a..b"] }\n`,
    /^dns\.yaml:2: geo: needs a database \(a MaxMind DB\), a map, or both/,
  ],
  [
    "keys",
    `${zones}keys:\n  - name: a\n  - { name: b, secret: ${secret}, secretFile: f }\n  - { file: f, name: c }\n  - { secret: ${secret} }\n`,
    /^dns\.yaml:3: keys\[0\]: needs either secret or secretFile, or only file/,
    /^dns\.yaml:4: keys\[1\]: needs either secret or secretFile/,
    /^dns\.yaml:5: keys\[2\]: has a file and more/,
    /^dns\.yaml:6: keys\[3\]: has no name/,
  ],
  [
    "zones of neither kind, or of both",
    "zones:\n  - origin: a.test\n  - { file: f, primaries: [{ server: 192.0.2.1:53 }] }\n  - primaries: [{ server: 192.0.2.1:53 }]\n",
    /^dns\.yaml:2: zones\[0\]: needs either file, .*, or primaries/,
    /^dns\.yaml:3: zones\[1\]: needs either file/,
    /^dns\.yaml:4: zones\[2\]: has primaries and no origin/,
  ],
  [
    "settings of the other kind of zone",
    "zones:\n  - { file: f, copyFolder: c }\n  - { origin: a.test, primaries: [{ server: 192.0.2.1:53 }], signing: { keys: k } }\n",
    /^dns\.yaml:2: zones\[0\]\.copyFolder: is only for zones with primaries/,
    /^dns\.yaml:3: zones\[1\]\.signing: is only for zones with a file/,
  ],
  [
    "updates without a journal, a journal without updates, rules",
    "zones:\n  - { file: f, updates: [{ key: k }] }\n  - { file: g, journal: j }\n  - { file: h, journal: j, updates: [{ match: exact, key: k }, { match: all, key: k }, {}] }\n",
    /^dns\.yaml:2: zones\[0\]\.updates: needs journal beside it/,
    /^dns\.yaml:3: zones\[1\]\.journal: is for zones with updates/,
    /^dns\.yaml:4: zones\[2\]\.updates\[0\]: matches exactly one name and has none/,
    /^dns\.yaml:4: zones\[2\]\.updates\[1\]\.match: must be one of self, exact, subdomain/,
    /^dns\.yaml:4: zones\[2\]\.updates\[2\]: needs key/,
  ],
  [
    "choices",
    "zones:\n  - file: f\n    choices:\n      - { name: a.test, by: luck, data: [] }\n      - { by: geo }\n      - { name: a.test, by: weighted, data: [192.0.2.1] }\n      - { name: a.test, by: geo, groups: [{ weight: 1, data: [192.0.2.1] }] }\n",
    /^dns\.yaml:4: zones\[0\]\.choices\[0\]\.by: must be one of weighted, weightedOrder, geo, rotate, fixed/,
    /^dns\.yaml:5: zones\[0\]\.choices\[1\]: needs name/,
    /^dns\.yaml:5: zones\[0\]\.choices\[1\]: needs either data, or groups/,
    /^dns\.yaml:6: zones\[0\]\.choices\[2\]: needs groups, since it answers by weighted/,
    /^dns\.yaml:7: zones\[0\]\.choices\[3\]\.groups\[0\]\.weight: there is no such key; known are tag, data/,
    /^dns\.yaml:7: zones\[0\]\.choices\[3\]\.groups\[0\]: needs tag/,
  ],
  [
    "grants and servers",
    "zones:\n  - file: f\n    transfers: [{}, { clients: everybody }]\n    notify: [{ key: k }]\n",
    /^dns\.yaml:3: zones\[0\]\.transfers\[0\]: names nobody/,
    /^dns\.yaml:3: zones\[0\]\.transfers\[1\]\.clients: /,
    /^dns\.yaml:4: zones\[0\]\.notify\[0\]: needs server/,
  ],
];

for (const [name, text, ...lines] of mistakes) {
  test(`mistakes are told by line and key: ${name}`, () => {
    const { problems = [] } = readDnsConfig(text, { file: "dns.yaml", folder: "/etc/dns" });
    assert.equal(problems.length, lines.length, problems.join("\n"));
    for (const [index, line] of lines.entries()) assert.match(problems[index]!, line);
    assert.doesNotMatch(problems.join("\n"), /c2VjcmV0/);
  });
}

test("paths are relative to the file, an empty value is none, and off is off", () => {
  const { config } = readDnsConfig(`${zones}rateLimit: off\nworkers:\nqueryLog: { file: "-" }\n`, {
    file: "dns.yaml",
    folder: "/etc/dns",
  });
  assert.equal(config?.rateLimit, "off");
  assert.equal(config.workers, undefined);
  assert.equal(config.queryLog?.path, "-");
  assert.deepEqual(
    config.zones.map((zone) => zone.kind === "file" && zone.file),
    [{ path: "/etc/dns/a.zone", at: "dns.yaml:1: zones[0].file" }],
  );
});
