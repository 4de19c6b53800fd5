import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exposedAddress, hostOf, type ApplicationOptions } from "./harness/application.ts";
import { DelegatedFleet, fleetTags, furtherZone, ownRecordsOnly } from "./harness/delegated-fleet.ts";
import { eventually, throughout } from "./harness/eventually.ts";
import { enterNamespace, heal, silence } from "./harness/namespace.ts";
import { rootResolvers, RunningResolver } from "./harness/root-resolvers.ts";
import { withCommands } from "./harness/with-commands.ts";

// Resolvers that know a root server only: from there over a parent zone in BIND, which the clusters have written themselves into,
// to the clusters, one of which is dead, silent or refuses.

const app = { name: "resolved", strategy: "{ type: roundRobin, dnsTtlSeconds: 1 }" };
const dual = { name: "dual", strategy: "{ type: failover, primaryGeoTag: eu, dnsTtlSeconds: 1 }" };
const below = { ...app, name: "deep", host: "a.b.cloud.example.com" };
const further = { ...app, name: "further", host: `further.${furtherZone}` };
const [eu, us, za] = [exposedAddress["eu"]!, exposedAddress["us"]!, exposedAddress["za"]!];
const all = [eu, us, za].toSorted();

/** How long a resolver's wits are tried: over several lives of its cached answer. */
const tryMs = 4_000;

if (await enterNamespace()) {
  const commands = ["named", "tsig-keygen", "dig", "kubectl", "openssl", "ip", "nft"];
  await withCommands([...commands, ...rootResolvers.map(({ command }) => command)], {
    subject: "resolvers over a parent zone in BIND",
    define,
  });
}

function define(): void {
  let fleet: DelegatedFleet;
  const running = new Map<string, RunningResolver>();

  const each = async (
    check: (resolver: RunningResolver, command: string) => Promise<void>,
  ): Promise<void> => {
    await Promise.all(
      [...running].map(async ([command, resolver]) => {
        try {
          await check(resolver, command);
        } catch (error) {
          throw new Error(`${textOf(error)}; ${command} said:\n${await resolver.lastWords()}`, {
            cause: error,
          });
        }
      }),
    );
  };
  /** Once the named clusters agree, each resolver answers so and goes on to, whomever it asks. */
  const resolves = async (
    application: ApplicationOptions,
    wanted: readonly string[],
    names: readonly string[],
  ): Promise<void> => {
    await fleet.answers(application, wanted, names);
    await each(async (resolver, command) => {
      const check = async (): Promise<void> => {
        const { status, addresses } = await resolver.ask(hostOf(application));
        assert.equal(status, "NOERROR");
        assert.deepEqual(addresses, wanted.toSorted());
      };
      await eventually(`${command} answers ${wanted.join(" ")}`, check);
      await throughout(`${command} goes on answering`, check, { forMs: tryMs });
    });
  };

  before(async () => {
    fleet = await DelegatedFleet.start({ grants: ownRecordsOnly });
    await Promise.all(
      fleetTags.map((tag) =>
        fleet.join(tag, {
          settings: {
            MERIDIAN_RFC2136_SERVERS: fleet.parent.address,
            MERIDIAN_RFC2136_KEY_FILE: fleet.parent.keyFile(`${tag}-key`),
          },
        }),
      ),
    );
    await fleet.delegates(fleetTags);
    for (const application of [app, dual, below]) await fleet.deploy(application);
    await fleet.answers(app, all);
    for (const resolver of rootResolvers)
      running.set(
        resolver.command,
        await RunningResolver.start(resolver, { root: fleet.parent.root, known: hostOf(app) }),
      );
  });
  after(async () => {
    for (const resolver of running.values()) await resolver[Symbol.asyncDispose]();
    await fleet[Symbol.asyncDispose]();
  });

  test("all clusters are well: the union is answered", () => resolves(app, all, fleetTags));

  test("N-01: a name with only A answers AAAA with no data, and A goes on to resolve", () =>
    each(async (resolver) => {
      for (let round = 0; round < 3; round++) {
        const absent = await resolver.ask(hostOf(app), "AAAA");
        assert.deepEqual([absent.status, absent.addresses], ["NOERROR", []]);
        assert.deepEqual((await resolver.ask(hostOf(app))).addresses, all);
      }
    }));

  test("N-02: an empty non-terminal has no data, and a name that is not there takes nothing with it", () =>
    each(async (resolver) => {
      assert.equal((await resolver.ask("b.cloud.example.com")).status, "NOERROR");
      assert.deepEqual((await resolver.ask(hostOf(below))).addresses, all);
      assert.equal((await resolver.ask("nosuch.cloud.example.com")).status, "NXDOMAIN");
      assert.equal((await resolver.ask(`x.${hostOf(app)}`)).status, "NXDOMAIN");
      assert.deepEqual((await resolver.ask(hostOf(app))).addresses, all);
    }));

  test("N-02: a host whose targets are all gone has no data, and what stands beneath it resolves on", async () => {
    for (const tag of fleetTags) await fleet.setReady(tag, app.name, false);
    await each((resolver, command) =>
      eventually(`${command} has no data`, async () => {
        const { status, addresses } = await resolver.ask(hostOf(app));
        assert.deepEqual([status, addresses], ["NOERROR", []]);
      }),
    );
    await each(async (resolver) => assert.deepEqual((await resolver.ask(hostOf(below))).addresses, all));
    for (const tag of fleetTags) await fleet.setReady(tag, app.name, true);
    await resolves(app, all, fleetTags);
  });

  test("V-01: A and AAAA are answered each for itself, of the cluster that was picked over both", async () => {
    const answered = (a: readonly string[], aaaa: readonly string[]): Promise<void> =>
      each((resolver, command) =>
        eventually(`${command} answers ${[...a, ...aaaa].join(" ")}`, async () => {
          assert.deepEqual((await resolver.ask(hostOf(dual))).addresses, a);
          assert.deepEqual((await resolver.ask(hostOf(dual), "AAAA")).addresses, aaaa);
        }),
      );
    await fleet.expose("eu", dual.name, [eu, "2001:db8::1"]);
    await fleet.expose("us", dual.name, [us, "2001:db8::2"]);
    await answered([eu], ["2001:db8::1"]);
    // An IPv4-only primary is not left for another's IPv6.
    await fleet.expose("eu", dual.name, [eu]);
    await answered([eu], []);
    await fleet.setReady("eu", dual.name, false);
    await answered([us, za].toSorted(), ["2001:db8::2"]);
  });

  test("one cluster is dead: its port is closed, and every question is answered by the others", async () => {
    await fleet.cluster("za").kill();
    await resolves(app, [eu, us], ["eu", "us"]);
    await fleet.cluster("za").restart();
    await resolves(app, all, fleetTags);
  });

  test("one cluster is silent: every question is answered by the others", async () => {
    await silence(fleet.cluster("za").address, 53);
    await resolves(app, [eu, us], ["eu", "us"]);
    await heal();
    await resolves(app, all, fleetTags);
  });

  test("one cluster refuses, as its ZoneDelegation went and the delegation stayed: the others answer", async () => {
    await fleet.serveFurther({ doFinalize: false });
    await fleet.delegates(fleetTags, furtherZone);
    await fleet.deploy(further);
    await fleet.answers(further, all);
    const refusing = fleet.cluster("za");
    await refusing.kubectl(["delete", "zonedelegation/cloud2-example-com", "--timeout=60s"]);
    await eventually("za refuses", async () => {
      assert.equal((await refusing.dig(further.host)).status, "REFUSED");
    });
    await fleet.delegatesNow(fleetTags, furtherZone);
    await resolves(further, [eu, us], ["eu", "us"]);
  });
}

function textOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause === undefined ? message : `${message}: ${textOf(cause)}`;
}
