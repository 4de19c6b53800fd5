import { typeAny, typeTxt } from "../message/type-numbers.ts";
import { compileSet, questionNameAt, type CompiledSet } from "../zone/compiled-set.ts";
import { octetsToQuotedText } from "../message/rdata-text.ts";
import { nameFromText, rootName, type Name } from "../name/name.ts";
import type { Query } from "./query.ts";
import type { Response } from "./response.ts";

/** What the server tells about itself in class CH (RFC 4892), which by default is nothing. */
export class ChaosZone {
  readonly #sets: readonly { readonly name: Name; readonly set: CompiledSet }[];

  constructor({ version, serverId }: { readonly version?: string; readonly serverId?: string }) {
    const entries = [
      ["version.bind", version],
      ["version.server", version],
      ["id.server", serverId],
      ["hostname.bind", serverId],
    ] as const;
    this.#sets = entries.flatMap(([name, text]) =>
      text === undefined ? [] : [{ name: nameFromText(name), set: chaosText(name, text) }],
    );
  }

  /** Writes the answer; false where there is none to give. */
  answer(query: Query, response: Response): boolean {
    const entry = this.#sets.find(({ name }) => isSame(name, query));
    if (entry === undefined) return false;
    response.authoritative = true;
    if (query.type !== typeTxt && query.type !== typeAny) return true;
    response.ownerAt = questionNameAt;
    if (response.write(entry.set, "answer") < 0) response.truncated = true;
    return true;
  }
}

function chaosText(name: string, text: string): CompiledSet {
  const data = octetsToQuotedText(new TextEncoder().encode(text).slice(0, 255));
  const set = compileSet({ name, type: "TXT", ttl: 0, data: [data] }, rootName);
  // Owner pointer and type come before the class.
  set.body[5] = 3;
  return set;
}

function isSame(name: Name, query: Query): boolean {
  return (
    name.length === query.name.length && name.every((octet, index) => octet === query.name.octets[index])
  );
}
