import { accessMessages } from "./access-messages.ts";
import { coreMessages } from "./core-messages.ts";
import { definitionMessages } from "./definition-messages.ts";
import { metaMessages } from "./meta-messages.ts";
import { networkMessages } from "./network-messages.ts";
import { nodeMessages } from "./node-messages.ts";
import { persistentVolumeMessages } from "./persistent-volume-messages.ts";
import { podMessages } from "./pod-messages.ts";
import { volumeMessages } from "./volume-messages.ts";
import { workloadMessages } from "./workload-messages.ts";

/** One field of a message. */
export interface MessageField {
  /** Name in JSON. */
  readonly name: string;
  /** A scalar (`s` text, `b` truth, `i` integer, `d` number, `y` octets), or a message. */
  readonly type: string;
  readonly shape: "one" | "list" | "map";
  /** The message's fields stand in JSON beside those of the message around it. */
  readonly inline: boolean;
  /** A zero value says something: it is a pointer in the original, and written only where set. */
  readonly zeroCounts: boolean;
}

/** The fields of a message by number. */
export type MessageSchema = ReadonlyMap<number, MessageField>;

const sources = [
  metaMessages,
  coreMessages,
  podMessages,
  volumeMessages,
  workloadMessages,
  networkMessages,
  accessMessages,
  nodeMessages,
  persistentVolumeMessages,
  definitionMessages,
];

let messages: ReadonlyMap<string, MessageSchema> | undefined;

/** The schema of a message by its name; `undefined` for one that is not known here. */
export function messageSchema(name: string): MessageSchema | undefined {
  messages ??= new Map(sources.flatMap((source) => [...parseMessages(source)]));
  return messages.get(name);
}

/** Name of the message of a kind. Kinds of the same name in two groups have different messages. */
export function messageOfKind(kind: { readonly group: string; readonly kind: string }): string {
  return kind.group === "events.k8s.io" && kind.kind === "Event" ? "NewEvent" : kind.kind;
}

/**
 * Parses the tables. Each message begins at the start of a line:
 *
 * ```text
 * Name: 1 field s, 2 other []Message, 3 labels {}s, 4 count i?,
 *   5 embedded ^Message
 * ```
 */
function* parseMessages(source: string): Generator<[string, MessageSchema]> {
  for (const [, name = "", fields = ""] of source.matchAll(/^(\w+):((?:.*\n)(?:[ ].*\n)*)/gm)) {
    const schema = new Map<number, MessageField>();
    for (const [, number, field = "", mark, shape, type = "", zero] of fields.matchAll(
      /(\d+)\s+([\w$-]+)\s+(\^?)(\[\]|\{\}|)(\w+)(\??)/g,
    )) {
      schema.set(Number(number), {
        name: field,
        type,
        shape: shape === "[]" ? "list" : shape === "{}" ? "map" : "one",
        inline: mark === "^",
        zeroCounts: zero === "?",
      });
    }
    yield [name, schema];
  }
}
