import type { FieldSchema, MessageSchema } from "./message-schema.ts";
import type { WireCursor } from "./wire-cursor.ts";
import { wireTypes } from "./wire-cursor.ts";

type Value = Record<string, unknown>;

/** Tags of the entry of a map. */
const keyTag = 0x0a;
const valueNumber = 2;

/** Turns messages into what JSON would have them be. */
export class MessageDecoder {
  /** Fields that the schema does not know, in what was decoded last. */
  #unknown = 0;

  /**
   * The message from where the cursor is to its end.
   *
   * @returns how many of its fields, and of the messages in it, the schema does not know; they are left out
   * @throws ControllerError `MalformedResponse`
   */
  decode(
    schema: MessageSchema,
    cursor: WireCursor,
  ): { readonly value: Value; readonly unknownFields: number } {
    this.#unknown = 0;
    const value: Value = {};
    this.#message(schema, cursor, value);
    return { value, unknownFields: this.#unknown };
  }

  #message(schema: MessageSchema, cursor: WireCursor, value: Value): void {
    const { fields, always } = schema;
    while (cursor.at < cursor.end) {
      const tag = cursor.size();
      const field = fields[tag >>> 3];
      if (field === undefined) {
        this.#unknown++;
        cursor.skip(tag);
      } else this.#field(field, tag, { cursor, value });
    }
    for (const field of always) this.#complete(field, value);
  }

  #field(
    field: FieldSchema,
    tag: number,
    { cursor, value }: { readonly cursor: WireCursor; readonly value: Value },
  ): void {
    const { name, shape } = field;
    if (shape === "map") return this.#entry(field, cursor, (value[name] ??= {}) as Value);
    if (shape === "list") {
      const list = (value[name] ??= []) as unknown[];
      if ((tag & 7) === field.wireType) list.push(this.#one(field, cursor));
      else if ((tag & 7) !== wireTypes.delimited) throw wrongType(cursor, field);
      // Numbers may stand together behind one tag ("Packed Repeated Fields").
      else cursor.within(() => readPacked(field, cursor, list));
      return;
    }
    if ((tag & 7) !== field.wireType) throw wrongType(cursor, field);
    if (field.rule === "<") return this.#inline(field, cursor, value);
    const one = this.#one(field, cursor);
    if (field.rule !== "?" || !isEmpty(one)) value[name] = one;
  }

  #one(field: FieldSchema, cursor: WireCursor): unknown {
    const { read, typeMeta } = field;
    if (read !== undefined) return read(cursor);
    const value: Value = typeMeta === undefined ? {} : { ...typeMeta };
    this.#inline(field, cursor, value);
    return value;
  }

  /** Reads a message whose length the cursor is at into a value. */
  #inline({ message }: FieldSchema, cursor: WireCursor, value: Value): void {
    const outer = cursor.end;
    const end = cursor.delimited();
    cursor.end = end;
    this.#message(message as MessageSchema, cursor, value);
    cursor.end = outer;
  }

  #entry(field: FieldSchema, cursor: WireCursor, map: Value): void {
    const outer = cursor.end;
    const end = cursor.delimited();
    cursor.end = end;
    let key = "";
    let value: unknown;
    while (cursor.at < end) {
      const tag = cursor.size();
      if (tag === keyTag) key = cursor.text(cursor.delimited());
      else if (tag >>> 3 === valueNumber && (tag & 7) === field.wireType) value = this.#one(field, cursor);
      else cursor.skip(tag);
    }
    cursor.end = outer;
    setMember(map, key, value ?? this.#empty(field));
  }

  /** What is not on the wire and is in JSON all the same. */
  #complete(field: FieldSchema, value: Value): void {
    const { name, rule, message, shape } = field;
    if (rule === "<") {
      for (const inner of (message as MessageSchema).always) this.#complete(inner, value);
    } else if (value[name] === undefined) {
      value[name] = shape === "one" && rule === "=" ? this.#empty(field) : null;
    }
  }

  /** A value without a field on the wire. */
  #empty({ message, absent, typeMeta }: FieldSchema): unknown {
    if (message === undefined) return absent;
    const value: Value = typeMeta === undefined ? {} : { ...typeMeta };
    for (const field of message.always) this.#complete(field, value);
    return value;
  }
}

/** As Go's `omitempty` has it, for what can be on the wire. */
const isEmpty = (value: unknown): boolean => value === "" || value === 0 || value === false || value === null;

/** Keys come from whoever writes a ConfigMap, and one of them means something else in JavaScript. */
function setMember(map: Value, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else map[key] = value;
}

function readPacked(field: FieldSchema, cursor: WireCursor, list: unknown[]): void {
  if (field.read === undefined || field.wireType !== wireTypes.varint) throw wrongType(cursor, field);
  while (cursor.at < cursor.end) list.push(field.read(cursor));
}

const wrongType = (cursor: WireCursor, { name }: FieldSchema): Error =>
  cursor.broken(`the field ${name} has another type than its schema`);
