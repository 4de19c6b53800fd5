import type { KubeObject } from "@meridian/kube";

/** A kind of the schema that the peer `protobuf-schema` prints. */
export interface SchemaKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly message: string;
}

/** How much of an object is there. */
export type Fullness = "all fields" | "no fields" | "some fields";

interface Field {
  readonly rule: string;
  readonly name: string;
  readonly brackets: string;
  readonly type: string;
}

/** Makes objects of the built-in kinds with all that their schema lets them have, and no sense. The same seed, the same objects. */
export class SchemaObjects {
  readonly kinds: readonly SchemaKind[];
  readonly #messages: ReadonlyMap<string, readonly Field[]>;
  #seed: number;
  #fullness: Fullness = "all fields";

  constructor(schema: string, seed: number) {
    const [kinds = "", messages = ""] = schema.trim().split("\n\n");
    this.kinds = kinds.split("\n").map((line) => {
      const [apiVersion = "", kind = "", message = ""] = line.split(" ");
      return { apiVersion, kind, message };
    });
    this.#messages = new Map(
      messages.split("\n").map((line) => {
        const [name = "", ...fields] = line.split(" ");
        return [name, fields.map((text) => fieldOf(text, name))];
      }),
    );
    this.#seed = seed;
  }

  /** One object, with this metadata in place of what it would have. */
  make(
    { apiVersion, kind, message }: SchemaKind,
    metadata: KubeObject["metadata"],
    fullness: Fullness,
  ): KubeObject {
    this.#fullness = fullness;
    const object = this.#message(message) as unknown as KubeObject;
    return { ...object, apiVersion, kind, metadata: { ...object.metadata, ...metadata } };
  }

  #message(name: string): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    for (const field of this.#messages.get(name) ?? []) {
      if (field.rule === "<") Object.assign(value, this.#message(field.type));
      else if (this.#has(field)) value[field.name] = this.#value(field);
    }
    return value;
  }

  #has({ rule, brackets }: Field): boolean {
    if (this.#fullness === "some fields") return this.#below(3) > 0;
    // An empty list that is written by the API is none when it is read again, since it is stored as protobuf.
    return this.#fullness === "all fields" || (rule === "=" && brackets === "");
  }

  #value({ brackets, type }: Field): unknown {
    const count = 1 + this.#below(2);
    if (brackets === "[]") return Array.from({ length: count }, () => this.#one(type));
    if (brackets === "") return this.#one(type);
    return Object.fromEntries(Array.from({ length: count }, () => [this.#of(mapKeys), this.#one(type)]));
  }

  #one(type: string): unknown {
    const values = scalars[type];
    if (values === undefined) return this.#message(type);
    // Of no fields each is as empty as it can be.
    return this.#fullness === "no fields" ? values[0] : this.#of(values);
  }

  #of<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  /** Numerical Recipes' generator: good enough, and the same everywhere. */
  #below(limit: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * limit);
  }
}

const mapKeys = ["a", "key.example.com/b", "__proto__", "größer"];

/** Values of what is no message, the emptiest first. */
const scalars: Readonly<Record<string, readonly unknown[]>> = {
  string: ["", "text", "größer 🗼 東京", '"quoted"\n<&>\u2028'],
  int: [0, 1, -1, 8080, 2_147_483_647],
  bool: [false, true],
  bytes: ["", "AP8=", "dGV4dA=="],
  Time: [null, "2026-01-01T00:00:00Z", "1969-12-31T23:59:59Z"],
  MicroTime: [null, "2026-01-01T00:00:00.000000Z", "2026-12-31T23:59:59.000120Z"],
  Quantity: ["0", "100m", "1Gi", "1500M", "0.1", "1e3"],
  IntOrString: [0, 8080, "http", "25%"],
  Json: [{}, { "f:a": { ".": {}, 'k:{"name":"b"}': {} } }, { kind: "Any", list: [1, null, "größer"] }],
  Strings: [[], ["one"], ["one", ""]],
};

function fieldOf(text: string, message: string): Field {
  const match = /^\d+([=!*?<])([^:]*):(\[\]|\{\}|)(\S+)$/.exec(text);
  if (match === null) throw new Error(`${message} has a field ${text}`);
  const [, rule = "", name = "", brackets = "", type = ""] = match;
  const folder = message.slice(0, message.indexOf(".", message.indexOf("/")));
  return { rule, name, brackets, type: type.startsWith(".") ? folder + type : type };
}
