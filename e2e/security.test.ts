import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import https from "node:https";
import path from "node:path";
import { after, before, test } from "node:test";
import { deploy, exposedAddress } from "./harness/application.ts";
import { run } from "./harness/command.ts";
import { Fleet } from "./harness/fleet.ts";

// Nobody who is not entitled changes anything, seen on real processes.

const app = { name: "safe", strategy: "{ type: roundRobin, dnsTtlSeconds: 5 }" };
const host = "safe.cloud.example.com";
let fleet: Fleet;

before(async () => {
  fleet = await Fleet.start({ args: ["--no-examples"] });
  await deploy(fleet, app);
  await fleet.answers(host, Object.values(exposedAddress));
});
after(async () => {
  await fleet.stop();
});

const request = async (
  url: string,
  options: { readonly method?: string; readonly token?: string; readonly body?: string } = {},
): Promise<{ readonly status: number; readonly body: string }> => {
  return new Promise((resolve, reject) => {
    const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    const outgoing = https.request(
      url,
      { method: options.method ?? "GET", rejectUnauthorized: false, headers },
      (response) => {
        let body = "";
        response.on("data", (chunk: Buffer) => (body += chunk.toString()));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(options.body);
  });
};

test("the API answers 401 without a token and with a wrong one, for reads and for writes", async () => {
  const { apiServer } = await fleet.cluster("eu");
  for (const token of [undefined, "", "wrong", "a".repeat(100_000)]) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await request(`${apiServer}/api/v1/namespaces/default/configmaps`, {
        method,
        ...(token === undefined ? {} : { token }),
      }).catch(() => ({ status: 431, body: "" }));
      assert.ok(
        [401, 431].includes(answer.status),
        `${method} with ${token?.slice(0, 10)} was answered ${answer.status}`,
      );
    }
  }
  const { body } = await request(`${apiServer}/api/v1/secrets`);
  assert.equal((JSON.parse(body) as { reason: string }).reason, "Unauthorized");
});

test("one cluster's token opens no other cluster", async () => {
  const token = /token:\s*(\S+)/.exec(await readFile((await fleet.cluster("eu")).kubeconfig, "utf8"))?.[1];
  assert.ok(token !== undefined);
  const own = await request(`${(await fleet.cluster("eu")).apiServer}/api/v1/namespaces`, { token });
  const other = await request(`${(await fleet.cluster("us")).apiServer}/api/v1/namespaces`, { token });
  assert.equal(own.status, 200);
  assert.equal(other.status, 401);
});

test("kubeconfigs and keys are readable by their owner only, and no token stands in a log", async () => {
  for (const cluster of (await fleet.file()).clusters) {
    assert.equal((await stat(cluster.kubeconfig)).mode & 0o077, 0, cluster.kubeconfig);
    const token = /token:\s*(\S+)/.exec(await readFile(cluster.kubeconfig, "utf8"))![1]!;
    const found = await run("grep", [
      "-rlF",
      "--exclude=kubeconfig",
      "--exclude=token*",
      token,
      path.join(fleet.dataFolder, cluster.name),
    ]);
    for (const file of found.stdout.split("\n").filter((name) => name !== "")) {
      assert.doesNotMatch(file, /log/, `the token stands in ${file}`);
    }
    assert.ok(!fleet.printed.includes(token));
  }
});

test("N-15: UPDATE and transfers are refused, and change nothing", async () => {
  const { dns } = await fleet.cluster("eu");
  const update = await run("nsupdate", ["-v"], {
    stdin: `server ${dns.address} ${dns.port}\nzone cloud.example.com\nupdate delete ${host}\nupdate add ${host} 60 A 203.0.113.99\nsend\n`,
  });
  assert.notEqual(update.code, 0);
  assert.match(update.stderr, /REFUSED|NOTIMP|NOTAUTH/);
  const transfer = await run("dig", [`@${dns.address}`, "-p", String(dns.port), "AXFR", "cloud.example.com"]);
  assert.match(transfer.stdout, /Transfer failed|REFUSED/);
  await fleet.answers(host, Object.values(exposedAddress));
});

test("an unsigned NOTIFY for the peers' zone makes nobody believe anything", async () => {
  const { dns } = await fleet.cluster("us");
  const notify = await run("dig", [
    ...[`@${dns.address}`, "-p", String(dns.port), "+opcode=NOTIFY", "+norecurse", "+tries=1"],
    ...["_localtargets.cloud.example.com", "SOA"],
  ]);
  assert.match(notify.stdout, /status: (NOERROR|REFUSED|NOTAUTH)/);
  await fleet.answers(host, Object.values(exposedAddress));
});

test("no UDP answer is much larger than a resolver allows, and none larger than its question says it takes", async () => {
  const { dns } = await fleet.cluster("eu");
  const answer = await run("dig", [
    `@${dns.address}`,
    "-p",
    String(dns.port),
    "+bufsize=512",
    "+ignore",
    "cloud.example.com",
    "ANY",
  ]);
  const size = Number(/MSG SIZE\s+rcvd: (\d+)/.exec(answer.stdout)?.[1]);
  assert.ok(size > 0 && size <= 512, `${size} octets`);
});
