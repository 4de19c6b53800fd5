import assert from "node:assert/strict";
import { test } from "node:test";
import { scriptedInformer } from "../testdata/scripted-informer.ts";

const names = `"name":"a","namespace":"n"`;
const well = `{"metadata":{"name":"b","namespace":"n","uid":"v","resourceVersion":"5"}}`;

for (const [field, metadata] of [
  ["uid", `${names},"uid":"u","resourceVersion":"5","uid":"w"`],
  ["resourceVersion", `"resourceVersion":"4",${names},"uid":"u","resourceVersion":"5","resourceVersion":"6"`],
] as const) {
  test(`an object that says its ${field} twice and differently is read by nobody, and the others by all`, async () => {
    const list = `{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{${metadata}}},${well}]}`;
    const { informer, told, pass, stop } = scriptedInformer([{ steps: [{ send: list }] }], {
      watchList: false,
    });
    await pass(500);
    const { lister } = informer;
    const message = `the object n/a has another ${field} when it is read as a whole`;
    assert.throws(() => lister.get("n/a"), { code: "MalformedResponse", message });
    assert.equal(lister.get("n/b")?.metadata.uid, "v");
    assert.deepEqual(told, ["add b@5 initial"]);
    assert.equal(informer.status.handlerErrors, 1);
    await stop();
  });
}
