import assert from "node:assert/strict";
import { describe, it } from "node:test";

import type { ContractSubject } from "./contract-subject.ts";
import { pattern, toBytes, toText } from "./contract-subject.ts";

/** What every disk keeps while nothing crashes. */
export function describeDisk(subject: ContractSubject): void {
  const on = subject.run;

  describe(`the disk of ${subject.name}`, () => {
    it("has nothing at first", () =>
      on(async ({ server: { disk } }) => {
        assert.equal(await disk.read("absent"), undefined);
        assert.equal(await disk.read("no/such/folder"), undefined);
        assert.deepEqual(await disk.list(""), []);
        assert.deepEqual(await disk.list("absent"), []);
        await disk.remove("absent");
        await disk.remove("no/such/folder");
      }));

    it("replaces a file by the last content", () =>
      on(async ({ server: { disk } }) => {
        await disk.replace("a/b/state", toBytes("one"));
        await disk.replace("a/b/state", toBytes("2"));
        assert.equal(toText((await disk.read("a/b/state")) ?? toBytes("")), "2");
      }));

    it("does not keep the caller's octets", () =>
      on(async ({ server: { disk } }) => {
        const content = toBytes("mine");
        const replaced = disk.replace("file", content);
        content.fill(0);
        await replaced;
        const log = await disk.openLog("log");
        const record = toBytes("record");
        const appended = log.append(record);
        record.fill(0);
        await appended;
        assert.equal(toText((await disk.read("file")) ?? toBytes("")), "mine");
        assert.equal(toText((await disk.read("log")) ?? toBytes("")), "record");
        await log.close();
      }));

    it("lists the files of one folder, sorted", () =>
      on(async ({ server: { disk } }) => {
        for (const path of ["b", "a", "folder/c", "folder/deeper/d"]) await disk.replace(path, toBytes(path));
        assert.deepEqual(await disk.list(""), ["a", "b"]);
        assert.deepEqual(await disk.list("folder"), ["c"]);
        await disk.remove("b");
        assert.deepEqual(await disk.list(""), ["a"]);
        assert.equal(await disk.read("b"), undefined);
      }));

    it("applies the operations of a file in the order of the calls", () =>
      on(async ({ server: { disk } }) => {
        const log = await disk.openLog("log");
        const appends = Array.from({ length: 20 }, (_, i) => log.append(pattern(100, i * 100)));
        const read = disk.read("log");
        await Promise.all([...appends, log.sync()]);
        assert.deepEqual(new Uint8Array((await read) ?? []), pattern(2_000));
        await log.close();
        const first = disk.replace("file", toBytes("first"));
        const second = disk.replace("file", toBytes("second"));
        const between = disk.read("file");
        const removed = disk.remove("file");
        await Promise.all([first, second, removed]);
        assert.equal(toText((await between) ?? toBytes("")), "second");
        assert.equal(await disk.read("file"), undefined);
      }));

    it("opens a log again where it ended", () =>
      on(async ({ server: { disk } }) => {
        const first = await disk.openLog("logs/one");
        assert.equal(first.sizeBytes, 0);
        await first.append(toBytes("abc"));
        await first.sync();
        assert.equal(first.sizeBytes, 3);
        await first.close();
        await first.close();
        const second = await disk.openLog("logs/one");
        assert.equal(second.sizeBytes, 3);
        await second.append(toBytes("def"));
        assert.equal(second.sizeBytes, 6);
        assert.equal(toText((await disk.read("logs/one")) ?? toBytes("")), "abcdef");
        await second.close();
      }));

    it("cuts a log, and goes on behind the cut", () =>
      on(async ({ server: { disk } }) => {
        const log = await disk.openLog("log");
        await log.append(toBytes("whole torn"));
        await log.truncate(6);
        await log.truncate(100);
        assert.equal(log.sizeBytes, 6);
        await log.append(toBytes("new"));
        await log.sync();
        assert.equal(toText((await disk.read("log")) ?? toBytes("")), "whole new");
        await log.close();
      }));

    it("has room behind durable appends at most, which is cut like any end", () =>
      on(async ({ server: { disk } }) => {
        const texts = Array.from({ length: 5 }, (_, i) => `${i}`.repeat(1 + i * 30_000));
        let whole = "";
        const stored = async (): Promise<string> => {
          const text = toText((await disk.read("log")) ?? toBytes(""));
          assert.match(text.slice(whole.length), /^\0*$/);
          return text.slice(0, whole.length);
        };
        for (const text of texts) {
          const log = await disk.openLog("log", { durableAppends: true });
          await log.truncate(whole.length);
          await Promise.all([log.append(toBytes(text)), log.append(toBytes("-"))]);
          whole += `${text}-`;
          assert.equal(log.sizeBytes, whole.length);
          assert.equal(await stored(), whole);
          await log.append(toBytes("end"));
          whole += "end";
          await log.close();
          assert.equal(await stored(), whole);
        }
      }));

    it("refuses writes to a closed log", () =>
      on(async ({ server: { disk } }) => {
        const log = await disk.openLog("log");
        await log.close();
        await assert.rejects(log.append(toBytes("late")), /closed/);
        await assert.rejects(log.sync(), /closed/);
        await assert.rejects(log.truncate(0), /closed/);
      }));

    it("never leaves its root", () =>
      on(async ({ server: { disk } }) => {
        for (const path of ["/etc/passwd", "../outside", "a/../../outside"]) {
          await assert.rejects(disk.read(path), /relative/, path);
          await assert.rejects(disk.replace(path, toBytes("x")), /relative/, path);
          await assert.rejects(disk.openLog(path), /relative/, path);
          await assert.rejects(disk.remove(path), /relative/, path);
          await assert.rejects(disk.list(path), /relative/, path);
        }
      }));
  });
}
