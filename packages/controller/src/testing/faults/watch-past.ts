import type { HttpClientRequest } from "@meridian/runtime";

/** What came through on watches, the oldest first. Watches of the same objects have one past. */
export class WatchPast {
  readonly #lines = new Map<string, Uint8Array[]>();

  /** The past of the objects that a watch is about. Whoever delivers a line adds it. */
  of({ target }: HttpClientRequest): Uint8Array[] {
    const [path = "", search] = target.split("?");
    const query = new URLSearchParams(search);
    const objects = `${path}?${query.get("labelSelector") ?? ""}&${query.get("fieldSelector") ?? ""}`;
    let lines = this.#lines.get(objects);
    if (lines === undefined) this.#lines.set(objects, (lines = []));
    return lines;
  }
}
