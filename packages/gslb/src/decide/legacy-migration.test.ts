import assert from "node:assert/strict";
import { test } from "node:test";
import { decideMigration, type MigrationFacts } from "./legacy-migration.ts";

const same = { differences: [] };
const other = { differences: ["spec.strategy"] };
const facts = { key: "shop/app", isDeleting: false, isRequested: false, isMigrated: false };

/** `finalizer, what is done, event` for each row of k8gb's table, and those that it does not have. */
const rows: readonly (readonly [string, Partial<MigrationFacts>, string])[] = [
  ["neither label", {}, "drop LegacyDeprecated"],
  ["requested, no successor", { isRequested: true }, "keep create"],
  [
    "requested, a successor as asked for",
    { isRequested: true, successor: same },
    "keep hand-over mark LegacyMigrated",
  ],
  [
    "requested, another successor",
    { isRequested: true, successor: other },
    "keep hand-over mark LegacyIgnored",
  ],
  ["done", { isRequested: true, isMigrated: true, successor: same }, "keep hand-over LegacyIgnored"],
  ["done without a request", { isMigrated: true, successor: other }, "keep hand-over LegacyIgnored"],
  [
    "done, no successor: none is made",
    { isRequested: true, isMigrated: true },
    "keep hand-over LegacyIgnored",
  ],
  [
    "no label, a successor: the finalizer is not ours to set",
    { successor: other },
    "drop hand-over LegacyIgnored",
  ],
  ["deleting, migrated", { isDeleting: true, isMigrated: true, successor: same }, "drop hand-over"],
  ["deleting, migrated, no successor", { isDeleting: true, isMigrated: true }, "drop hand-over"],
  ["deleting, a successor", { isDeleting: true, isRequested: true, successor: other }, "drop hand-over"],
  ["D39: deleting, never migrated", { isDeleting: true }, "drop"],
  ["D39: deleting, only requested", { isDeleting: true, isRequested: true }, "drop"],
];

for (const [name, given, expected] of rows)
  test(`migration decisions: ${name}`, () => {
    const step = decideMigration({ ...facts, ...given });
    const did = [
      step.finalizer,
      ...(step.creates ? ["create"] : []),
      ...(step.handsOver ? ["hand-over"] : []),
      ...(step.marksMigrated ? ["mark"] : []),
      ...(step.tells === undefined ? [] : [step.tells.note.reason]),
    ];
    assert.equal(did.join(" "), expected);
  });

test("each event names the Gslb, and what to do", () => {
  const message = (given: Partial<MigrationFacts>): string =>
    decideMigration({ ...facts, ...given }).tells?.note.message ?? "";
  assert.match(
    message({}),
    /shop\/app .*k8gb\.absa\.oss; set its label k8gb\.io\/migration-requested to "true"/,
  );
  assert.match(
    message({ isRequested: true, successor: same }),
    /migrated to k8gb\.io Gslb shop\/app; edit that one/,
  );
  assert.match(
    message({ isRequested: true, successor: other }),
    /already exists and stays as it is, with another spec\.strategy/,
  );
  assert.match(message({ isMigrated: true, successor: same }), /ignored.*edit k8gb\.io Gslb shop\/app/);
  assert.match(message({ isMigrated: true }), /nothing balances its hosts.*take the label/);
});
