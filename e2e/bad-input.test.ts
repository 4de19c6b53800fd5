import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deploy, exposedAddress, setReady } from "./harness/application.ts";
import { eventually } from "./harness/eventually.ts";
import { Fleet } from "./harness/fleet.ts";

// What a person gets wrong is refused at admission, or told on the object and in an event; the others go on.

const good = { name: "good", strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }" };
let fleet: Fleet;

before(async () => {
  fleet = await Fleet.start({ args: ["--ephemeral", "--no-examples"] });
  await deploy(fleet, good);
  await fleet.answers("good.cloud.example.com", Object.values(exposedAddress));
});
after(async () => {
  await fleet.stop();
});

const long = "a".repeat(60);
const cases: readonly {
  readonly name: string;
  readonly host?: string;
  readonly strategy: string;
  readonly says: RegExp;
}[] = [
  {
    name: "unknown-strategy",
    strategy: "{ type: fastest }",
    says: /spec\.strategy\.type.*"?fastest"?.*roundRobin.*failover.*geoip/s,
  },
  {
    name: "negative-ttl",
    strategy: "{ type: roundRobin, dnsTtlSeconds: -5 }",
    says: /spec\.strategy\.dnsTtlSeconds.*-5/s,
  },
  {
    name: "foreign-host",
    host: "app.other.example.org",
    strategy: "{ type: roundRobin }",
    says: /app\.other\.example\.org.*cloud\.example\.com/s,
  },
  {
    name: "lookalike-host",
    host: "mycloud.example.com",
    strategy: "{ type: roundRobin }",
    says: /mycloud\.example\.com/,
  },
  {
    name: "unknown-region",
    strategy: "{ type: roundRobin, weight: { eu: 1, mars: 5 } }",
    says: /spec\.strategy\.weight.*mars/s,
  },
  {
    name: "heavy",
    strategy: "{ type: roundRobin, weight: { eu: 10010 } }",
    says: /spec\.strategy\.weight.*10010.*1000/s,
  },
  {
    name: "long-host",
    host: `${long}.cloud.example.com`,
    strategy: "{ type: roundRobin }",
    says: /localtargets-.*63/s,
  },
];

for (const bad of cases) {
  test(`${bad.name} is told clearly, and the good Gslb goes on`, async () => {
    const applied = await deploy(fleet, bad, ["eu"]).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    if (applied !== undefined) {
      assert.match(applied, bad.says, "refused at admission with a clear error");
    } else {
      await eventually(`${bad.name} has a condition and an event`, async () => {
        const object = JSON.parse(
          await fleet.kubectl("eu", ["-n", "e2e", "get", "gslb", bad.name, "-o", "json"]),
        ) as {
          status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
        };
        const accepted = object.status?.conditions?.find((condition) => condition.type === "Accepted");
        assert.equal(accepted?.status, "False");
        assert.match(accepted.message, bad.says);
        const described = await fleet.kubectl("eu", ["-n", "e2e", "describe", "gslb", bad.name]);
        assert.match(described, /Warning\s+\w+/);
      });
    }
    await setReady(fleet, "eu", { ...good, ready: false });
    await fleet.answers("good.cloud.example.com", [exposedAddress["us"]!, exposedAddress["za"]!]);
    await setReady(fleet, "eu", { ...good, ready: true });
    await fleet.answers("good.cloud.example.com", Object.values(exposedAddress));
  });
}

test("D46: a second Gslb on the same host is told so, and the first keeps it", async () => {
  await deploy(
    fleet,
    { name: "thief", host: "good.cloud.example.com", strategy: "{ type: failover, primaryGeoTag: us }" },
    ["eu"],
  );
  await eventually("the younger one has a condition", async () => {
    const text = await fleet.kubectl("eu", ["-n", "e2e", "get", "gslb", "thief", "-o", "json"]);
    assert.match(text, /good\.cloud\.example\.com[^"]*e2e\/good|e2e\/good[^"]*good\.cloud\.example\.com/);
  });
  await fleet.answers("good.cloud.example.com", Object.values(exposedAddress));
});

test("D46: a stranger's DNSEndpoint cannot take over localtargets names", async () => {
  await fleet.kubectl("eu", ["apply", "-f", "-"], {
    stdin: `
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: { name: stranger, namespace: default, labels: { k8gb.io/dnstype: local } }
spec:
  endpoints:
    - { dnsName: localtargets-good.cloud.example.com, recordType: A, recordTTL: 5, targets: ["192.0.2.99"] }
    - { dnsName: fine.cloud.example.com, recordType: A, recordTTL: 5, targets: ["192.0.2.50"] }
`,
  });
  await fleet.answers("fine.cloud.example.com", ["192.0.2.50"], { at: ["eu"] });
  await fleet.answers("localtargets-good.cloud.example.com", [exposedAddress["eu"]!], { at: ["eu"] });
  await fleet.answers("good.cloud.example.com", Object.values(exposedAddress));
});

test("a ZoneDelegation whose zone is no subdomain of its parent is refused", async () => {
  const result = await fleet.tryKubectl("eu", ["apply", "-f", "-"], {
    stdin: `
apiVersion: k8gb.io/v1beta1
kind: ZoneDelegation
metadata: { name: wrong }
spec: { loadBalancedZone: cloud.example.org, parentZone: example.com, dnsZoneNegTTL: 30 }
`,
  });
  assert.notEqual(result.code, 0);
  assert.match(result.stderr, /loadBalancedZone must be subdomain/);
});
