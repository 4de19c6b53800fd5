import assert from "node:assert/strict";
import { test } from "node:test";
import type { DnsQuestion, Verdict } from "@meridian/dns";
import { silentLogger } from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { TaskScope } from "../tasks/task-scope.ts";
import { AddressBook } from "./address-book.ts";
import type { LookedUp } from "./exposed-addresses.ts";

const server = { address: "10.0.0.53", port: 53 };

function open(): {
  readonly simulation: Simulation;
  readonly book: AddressBook;
  readonly changed: string[];
  readonly answers: Map<string, readonly string[]>;
  readonly asked: string[];
} {
  const simulation = new Simulation({ seed: 1 });
  const answers = new Map<string, readonly string[]>();
  const asked: string[] = [];
  const changed: string[] = [];
  const query = async ({ name, type }: DnsQuestion): Promise<Verdict> => {
    asked.push(`${name} ${type}`);
    const found = answers.get(name);
    if (found === undefined) return { state: "unreachable", reason: "silence" };
    const records = type === "A" ? found.map((data) => ({ name, type, ttl: 5, data })) : [];
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

test("a name is looked up in the background, its readers are told, and the last good answer stands", async () => {
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
