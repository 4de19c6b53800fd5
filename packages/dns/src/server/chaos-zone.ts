import { typeAny, typeTxt } from "../message/type-numbers.ts";
import { nameFromText, type Name } from "../name/name.ts";
import { ownerPointer } from "../zone/owner-pointer.ts";
import type { Query } from "./query.ts";
import type { Response } from "./response.ts";

const classChaos = 3;
const textOctetsMax = 255;

/** What the server tells about itself in class CH (RFC 4892), which by default is nothing. */
export class ChaosZone {
  readonly #texts: readonly { readonly name: Name; readonly record: Uint8Array }[];

  constructor({ version, serverId }: { readonly version?: string; readonly serverId?: string }) {
    const entries = [
      ["version.bind", version],
      ["version.server", version],
      ["id.server", serverId],
      ["hostname.bind", serverId],
    ] as const;
    this.#texts = entries.flatMap(([name, text]) =>
      text === undefined ? [] : [{ name: nameFromText(name), record: textRecord(text) }],
    );
  }

  /** Writes the answer; false where there is none to give. */
  answer(query: Query, response: Response): boolean {
    const entry = this.#texts.find(({ name }) => isSame(name, query));
    if (entry === undefined) return false;
    response.authoritative = true;
    if (query.type === typeTxt || query.type === typeAny) response.writeRecord(entry.record);
    return true;
  }
}

/** A TXT record of class CH with TTL 0, owned by the question's name. */
function textRecord(text: string): Uint8Array {
  const octets = new TextEncoder().encode(text).slice(0, textOctetsMax);
  const length = octets.length + 1;
  const head = [ownerPointer >>> 8, ownerPointer & 0xff, 0, typeTxt, 0, classChaos, 0, 0, 0, 0];
  return Uint8Array.from([...head, length >>> 8, length & 0xff, octets.length, ...octets]);
}

function isSame(name: Name, query: Query): boolean {
  return (
    name.length === query.name.length && name.every((octet, index) => octet === query.name.octets[index])
  );
}
