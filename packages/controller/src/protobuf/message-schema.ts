import { ControllerError } from "../controller-error.ts";
import { scalarReaders } from "./field-values.ts";
import type { ValueReader } from "./field-values.ts";
import { wireTypes } from "./wire-cursor.ts";

/**
 * When JSON shows a field, as Go writes it:
 *
 * - `=` always: null, or an empty value, where it is not on the wire (no `omitempty`, or a struct)
 * - `!` always: null where it is not on the wire (a pointer without `omitempty`)
 * - `*` where it is on the wire (a pointer)
 * - `?` where it is not empty (`omitempty`)
 * - `<` its fields stand among those of the message that it is in (`inline`)
 */
export type FieldRule = "=" | "!" | "*" | "?" | "<";

/** One field of a message. */
export interface FieldSchema {
  readonly name: string;
  readonly rule: FieldRule;
  readonly shape: "one" | "list" | "map";
  /** That of one value: of a list, of an element. */
  readonly wireType: number;
  /** Reads a value that is no message. */
  readonly read: ValueReader | undefined;
  /** What a value is that is not on the wire, and no message; of a map, what a value in it is then. */
  readonly absent: unknown;
  /** The message that a value is. */
  readonly message: MessageSchema | undefined;
  /** Of a message that is a whole object, as the claims in a StatefulSet are: JSON says so, and the wire does not. */
  readonly typeMeta: { readonly kind: string; readonly apiVersion: string } | undefined;
}

/** One message. */
export interface MessageSchema {
  /** By their numbers. */
  readonly fields: readonly (FieldSchema | undefined)[];
  /** Those that JSON always shows, and those that may hold such. */
  readonly always: readonly FieldSchema[];
}

/** The kinds of a schema, and the messages that they are made of. Each is read when it is first asked for. */
export class SchemaSet {
  /** By `apiVersion kind`, the names of their messages. */
  readonly #kinds = new Map<string, string>();
  /** The other way round. */
  readonly #typeMetas = new Map<string, NonNullable<FieldSchema["typeMeta"]>>();
  /** By their names, the lines that are not read yet. */
  readonly #lines = new Map<string, string>();
  readonly #messages = new Map<string, MessageSchema>();

  /**
   * `text` has a line `apiVersion kind message` for each kind, an empty one, and a line for each message: its name, and its
   * fields in the order of JSON as `1?name:string`, that is the number, the rule, the name and the type. The type is that of a
   * value or the name of a message, which begins with a dot in the same package, behind `[]` for a list and `{}` for
   * a map of names.
   */
  constructor(text: string) {
    const [kinds = "", messages = ""] = text.trim().split("\n\n");
    for (const line of kinds.split("\n")) {
      const [apiVersion = "", kind = "", message = ""] = line.split(" ");
      this.#kinds.set(`${apiVersion} ${kind}`, message);
      this.#typeMetas.set(message, { kind, apiVersion });
    }
    for (const line of messages.split("\n")) {
      const space = line.indexOf(" ");
      if (space < 0) this.#lines.set(line, "");
      else this.#lines.set(line.slice(0, space), line.slice(space + 1));
    }
  }

  /** The message of the objects of a kind; `undefined` for kinds that are not in the schema. */
  ofKind(apiVersion: string, kind: string): MessageSchema | undefined {
    const name = this.#kinds.get(`${apiVersion} ${kind}`);
    return name === undefined ? undefined : this.message(name);
  }

  /** All kinds, as `apiVersion kind`. */
  get kinds(): readonly string[] {
    return [...this.#kinds.keys()];
  }

  message(name: string): MessageSchema {
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const line = this.#lines.get(name);
    if (line === undefined) throw new ControllerError("UnknownKind", `there is no schema of ${name}`);
    const fields: (FieldSchema | undefined)[] = [];
    const always: FieldSchema[] = [];
    const message: MessageSchema = { fields, always };
    this.#messages.set(name, message); // before its fields: a message may hold itself
    const folder = name.slice(0, name.indexOf(".", name.indexOf("/")));
    for (const text of line === "" ? [] : line.split(" ")) {
      const [number, field] = this.#field(text, folder);
      fields[number] = field;
      if (field.rule === "=" || field.rule === "!" || field.rule === "<") always.push(field);
    }
    return message;
  }

  #field(text: string, folder: string): readonly [number, FieldSchema] {
    const match = /^(\d+)([=!*?<])([^:]*):(\[\]|\{\}|)(\S+)$/.exec(text);
    if (match === null) throw new ControllerError("UnknownKind", `the schema has a field ${text}`);
    const [, number, rule, name = "", brackets, type = ""] = match;
    const shape = brackets === "[]" ? "list" : brackets === "{}" ? "map" : "one";
    const scalar = scalarReaders.get(type);
    const messageName = type.startsWith(".") ? folder + type : type;
    const field: FieldSchema = {
      ...{ name, shape, rule: rule as FieldRule },
      message: scalar === undefined ? this.message(messageName) : undefined,
      typeMeta: scalar === undefined ? this.#typeMetas.get(messageName) : undefined,
      wireType: scalar?.wireType ?? wireTypes.delimited,
      read: scalar?.read,
      // Go reads octets that are not there as none in a map, and as null elsewhere.
      absent: shape === "map" && type === "bytes" ? "" : scalar?.absent,
    };
    return [Number(number), field];
  }
}
