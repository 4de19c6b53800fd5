import { composeMessage, type MessageRecord } from "../message/message.ts";
import { updateClass } from "./update-message.ts";

/** What must be so for an update to be made (RFC 2136 §2.4). */
export type UpdatePrerequisite =
  /** The name has any record. */
  | { readonly kind: "nameInUse"; readonly name: string }
  | { readonly kind: "nameNotInUse"; readonly name: string }
  | { readonly kind: "setExists"; readonly name: string; readonly type: string }
  | { readonly kind: "setAbsent"; readonly name: string; readonly type: string }
  /** The set has exactly these records; TTLs do not count. */
  | {
      readonly kind: "setEquals";
      readonly name: string;
      readonly type: string;
      readonly data: readonly string[];
    };

/** One change (RFC 2136 §2.5). Made twice, each is as if made once. */
export type UpdateChange =
  | {
      readonly kind: "add";
      readonly name: string;
      readonly type: string;
      readonly ttl: number;
      readonly data: string;
    }
  /** Deletes exactly this record: what others put into the set stays. */
  | { readonly kind: "deleteRecord"; readonly name: string; readonly type: string; readonly data: string }
  | { readonly kind: "deleteSet"; readonly name: string; readonly type: string }
  | { readonly kind: "deleteName"; readonly name: string };

/** An UPDATE as one message, in the order given. @throws DnsError `BadName`, `BadRecord` or `TooLarge` */
export function composeUpdate(options: {
  readonly zone: string;
  readonly prerequisites: readonly UpdatePrerequisite[];
  readonly changes: readonly UpdateChange[];
}): Uint8Array {
  const { zone, prerequisites, changes } = options;
  return composeMessage({
    opcode: 5,
    questions: [{ name: zone, type: "SOA", class: updateClass.in }],
    answers: prerequisites.flatMap(prerequisiteRecords),
    authority: changes.map(changeRecord),
  });
}

function prerequisiteRecords(prerequisite: UpdatePrerequisite): MessageRecord[] {
  const { kind, name } = prerequisite;
  switch (kind) {
    case "nameInUse":
      return [{ name, type: "ANY", class: updateClass.any, ttl: 0, data: "" }];
    case "nameNotInUse":
      return [{ name, type: "ANY", class: updateClass.none, ttl: 0, data: "" }];
    case "setExists":
      return [{ name, type: prerequisite.type, class: updateClass.any, ttl: 0, data: "" }];
    case "setAbsent":
      return [{ name, type: prerequisite.type, class: updateClass.none, ttl: 0, data: "" }];
    case "setEquals":
      return prerequisite.data.map((data) => ({
        name,
        type: prerequisite.type,
        class: updateClass.in,
        ttl: 0,
        data,
      }));
  }
}

function changeRecord(change: UpdateChange): MessageRecord {
  const { kind, name } = change;
  switch (kind) {
    case "add":
      return { name, type: change.type, class: updateClass.in, ttl: change.ttl, data: change.data };
    case "deleteRecord":
      return { name, type: change.type, class: updateClass.none, ttl: 0, data: change.data };
    case "deleteSet":
      return { name, type: change.type, class: updateClass.any, ttl: 0, data: "" };
    case "deleteName":
      return { name, type: "ANY", class: updateClass.any, ttl: 0, data: "" };
  }
}
