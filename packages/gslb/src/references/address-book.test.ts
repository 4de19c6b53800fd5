import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsQuestion, Verdict } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { AddressBook } from "./address-book.ts";
import type { LookedUp } from "./exposed-addresses.ts";

/** Of both families; one that is not there is not answered for. A list is of IPv4 addresses, and of no others. */
type Known = readonly string[] | Families;

interface Families {
  readonly A?: readonly string[];
  readonly AAAA?: readonly string[];
}

const server = { address: "10.0.0.53", port: 53 };

function open(): {
  readonly simulation: Simulation;
  readonly book: AddressBook;
  readonly changed: string[];
  readonly answers: Map<string, Known>;
  readonly asked: string[];
} {
  const simulation = new Simulation({ seed: 1 });
  const answers = new Map<string, Known>();
  const asked: string[] = [];
  const changed: string[] = [];
  const query = async ({ name, type }: DnsQuestion): Promise<Verdict> => {
    asked.push(`${name} ${type}`);
    const known = answers.get(name);
    const families: Families = Array.isArray(known) ? { A: known, AAAA: [] } : ((known as Families) ?? {});
    const found = type === "A" ? families.A : families.AAAA;
    if (found === undefined) return { state: "unreachable", reason: "silence" };
    const records = found.map((data: string) => ({ name, type, ttl: 20, data }));
    return {
      state: "answered",
      outcome: records.length > 0 ? "data" : "nodata",
      authoritative: false,
      records,
      authority: [],
      additional: [],
      server,
    };
  };
  const book = new AddressBook(simulation.node({ name: "eu", addresses: [] }).runtime, {
    dnsClient: { query },
    servers: () => [server],
    deadlineMs: 2000,
    periodMs: 30_000,
    tasks: new TaskScope(silentLogger),
    onChange: (key) => changed.push(key),
  });
  return { simulation, book, changed, answers, asked };
}

const read = (book: AddressBook, key: string, name: string): LookedUp =>
  book.reading(key, (lookUp) => lookUp(name));

test("D4: a name is looked up in the background, its readers are told, and the last good answer stands", async () => {
  const { simulation, book, changed, answers } = open();
  answers.set("lb.test", ["192.0.2.2", "192.0.2.1"]);
  assert.deepEqual(read(book, "demo/app", "LB.test."), { state: "pending" });
  await simulation.run({ untilMs: 10 });
  assert.deepEqual(changed, ["demo/app"]);
  const known: LookedUp = { state: "known", targets: { A: ["192.0.2.1", "192.0.2.2"], AAAA: [] } };
  assert.deepEqual(read(book, "demo/app", "lb.test"), known);
  answers.delete("lb.test");
  await simulation.run({ untilMs: 100_000 });
  assert.deepEqual([read(book, "demo/app", "lb.test"), changed.length], [known, 1]);
  answers.set("lb.test", ["192.0.2.9"]);
  await simulation.run({ untilMs: 131_000 });
  assert.equal(changed.length, 2);
});

test("a name that cannot be resolved from the start has failed, and says why", async () => {
  const { simulation, book } = open();
  read(book, "demo/app", "lb.test");
  await simulation.run({ untilMs: 10 });
  assert.deepEqual(read(book, "demo/app", "lb.test"), { state: "failed", verdict: "silence" });
});

test("a name that nobody reads any more is not asked any more", async () => {
  const { simulation, book, asked } = open();
  read(book, "demo/app", "lb.test");
  read(book, "demo/app", "other.test");
  await simulation.run({ untilMs: 100_000 });
  asked.length = 0;
  await simulation.run({ untilMs: 200_000 });
  assert.deepEqual(new Set(asked), new Set(["other.test A", "other.test AAAA"]));
  book.forget("demo/app");
  await simulation.run({ untilMs: 300_000 });
  asked.length = 0;
  await simulation.run({ untilMs: 400_000 });
  assert.deepEqual(asked, []);
});

test("F-07: a name is looked up again when its TTL ends, and a change is told at once", async () => {
  const { simulation, book, changed, answers, asked } = open();
  answers.set("lb.test", ["192.0.2.1"]);
  read(book, "demo/app", "lb.test");
  await simulation.run({ untilMs: 19_000 });
  assert.equal(asked.length, 2);
  answers.set("lb.test", { A: ["192.0.2.9"], AAAA: ["2001:db8::9"] });
  await simulation.run({ untilMs: 20_500 });
  assert.deepEqual(read(book, "demo/app", "lb.test"), {
    state: "known",
    targets: { A: ["192.0.2.9"], AAAA: ["2001:db8::9"] },
  });
  assert.equal(changed.length, 2);
});

test("F-07: a family that cannot be looked up keeps its last good answer, and the other is followed", async () => {
  const { simulation, book, answers } = open();
  answers.set("lb.test", { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] });
  read(book, "demo/app", "lb.test");
  await simulation.run({ untilMs: 10 });
  answers.set("lb.test", { A: ["192.0.2.9"] });
  await simulation.run({ untilMs: 21_000 });
  const targets = (): unknown =>
    (read(book, "demo/app", "lb.test") as { readonly targets?: unknown }).targets;
  assert.deepEqual(targets(), { A: ["192.0.2.9"], AAAA: ["2001:db8::1"] });
  answers.set("lb.test", { AAAA: ["2001:db8::2"] });
  await simulation.run({ untilMs: 27_000 });
  assert.deepEqual(targets(), { A: ["192.0.2.9"], AAAA: ["2001:db8::2"] });
});

test("a name that failed is tried again soon, not after a whole period", async () => {
  const { simulation, book, answers } = open();
  read(book, "demo/app", "lb.test");
  await simulation.run({ untilMs: 100 });
  answers.set("lb.test", ["192.0.2.1"]);
  await simulation.run({ untilMs: 6000 });
  assert.equal(read(book, "demo/app", "lb.test").state, "known");
});

test("a family that failed is no family without addresses: nothing of the other is no answer, and something is the half of one", async () => {
  const { simulation, book, answers } = open();
  const asked = async (known: Known | undefined, untilMs: number): Promise<LookedUp> => {
    if (known === undefined) answers.delete("lb.test");
    else answers.set("lb.test", known);
    await simulation.run({ untilMs });
    return read(book, "demo/app", "lb.test");
  };
  read(book, "demo/app", "lb.test");
  const failed: LookedUp = { state: "failed", verdict: "silence" };
  assert.deepEqual(await asked({ A: [] }, 4000), failed);
  assert.deepEqual(await asked({ AAAA: ["2001:db8::1"] }, 9000), failed, "IPv4 counts");
  const half: LookedUp = {
    ...{ state: "known", targets: { A: ["192.0.2.1"], AAAA: [] } },
    unknownFamily: "AAAA",
  };
  assert.deepEqual(await asked({ A: ["192.0.2.1"] }, 14_000), half);
  assert.deepEqual(await asked(undefined, 19_000), half, "what is known of one stands, and no more is known");
  const whole: LookedUp = { state: "known", targets: { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] } };
  assert.deepEqual(await asked({ A: ["192.0.2.1"], AAAA: ["2001:db8::1"] }, 24_000), whole);
  const withoutA: LookedUp = { state: "known", targets: { A: [], AAAA: ["2001:db8::1"] } };
  assert.deepEqual(await asked({ A: [] }, 45_000), withoutA);
});
