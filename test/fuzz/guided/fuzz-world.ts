import assert from "node:assert/strict";
import type {
  Disk,
  Endpoint,
  Logger,
  Network,
  Runtime,
  StreamConnection,
  TcpConnection,
} from "@meridian/runtime";
import { Simulation } from "@meridian/runtime/sim";
import { Zone, parseZoneFile } from "@meridian/dns";
import { handWritten } from "../../conformance/differential-zones.ts";

/** A small zone with every kind of answer, to be changed or left alone. */
export function fuzzZone(text: string = handWritten.text): Zone {
  const { zone, problems } = parseZoneFile(text, { origin: "p.test" });
  assert.ok(zone !== undefined, JSON.stringify(problems));
  return zone;
}

/** Takes warnings as what may happen, and errors as what no message may cause. */
const strictLogger: Logger = {
  error(message, fields) {
    throw new Error(`logged as an error: ${message}`, { cause: fields?.["error"] });
  },
  warn() {},
  info() {},
  debug() {},
  child: () => strictLogger,
};

/** A still clock, seeded numbers, and a network and a disk of which each target makes what it needs. */
export function fuzzRuntime(
  parts: { readonly network?: Partial<Network>; readonly disk?: Disk } = {},
): Runtime {
  const { runtime } = new Simulation({ seed: 1 }).node({ name: "dns", addresses: ["192.0.2.53"] });
  const network = new Proxy({} as Network, {
    get: (_target, name) =>
      (parts.network as Record<string | symbol, unknown> | undefined)?.[name] ??
      (() => Promise.reject(new Error(`no ${String(name)} here`))),
  });
  return {
    ...runtime,
    network,
    log: strictLogger,
    ...(parts.disk === undefined ? {} : { disk: parts.disk }),
  };
}

/** A disk of one file after the other, durable at once. */
export class MemoryDisk implements Disk {
  readonly files: Map<string, Uint8Array> = new Map();

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.files.get(path);
  }

  async replace(path: string, content: Uint8Array): Promise<void> {
    this.files.set(path, content);
  }

  async remove(path: string): Promise<void> {
    this.files.delete(path);
  }

  async list(): Promise<readonly string[]> {
    return [...this.files.keys()];
  }

  async openLog(path: string): ReturnType<Disk["openLog"]> {
    const { files } = this;
    const content = (): Uint8Array => files.get(path) ?? new Uint8Array();
    files.set(path, content());
    return {
      get sizeBytes() {
        return content().length;
      },
      append: async (octets) => void files.set(path, Buffer.concat([content(), octets])),
      sync: async () => {},
      truncate: async (sizeBytes) => void files.set(path, content().slice(0, sizeBytes)),
      close: async () => {},
    };
  }
}

/** A connection that a server has accepted: what it sends is kept as it gave it, until it is read. */
export class HeldConnection implements StreamConnection {
  readonly local: Endpoint = { address: "192.0.2.53", port: 53 };
  readonly remote: Endpoint;
  congested = false;
  paused = false;
  ended: "open" | "ended" | "destroyed" = "open";
  readonly #sent: Uint8Array[] = [];

  constructor(remote: Endpoint) {
    this.remote = remote;
  }

  get sent(): Uint8Array {
    return Buffer.concat(this.#sent);
  }

  send(octets: Uint8Array): boolean {
    assert.notEqual(this.ended, "destroyed", "octets for a broken connection");
    this.#sent.push(octets);
    return false;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  secure(): void {}

  end(): void {
    if (this.ended === "open") this.ended = "ended";
  }

  destroy(): void {
    this.ended = "destroyed";
  }
}

/** A connection to a server that answers the first message with given octets, in pieces, and ends. */
export function answeringConnection(
  to: Endpoint,
  answer: (asked: Uint8Array) => readonly Uint8Array[],
): TcpConnection {
  let tell: (asked: Uint8Array) => void = () => {};
  const asked = new Promise<Uint8Array>((resolve) => (tell = resolve));
  return {
    local: { address: "192.0.2.53", port: 40_000 },
    remote: to,
    received: (async function* () {
      yield* answer(await asked);
    })(),
    write: async (octets) => tell(octets.slice()),
    end: async () => {},
    destroy: () => tell(new Uint8Array(2)),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Cuts octets where others say: each octet is the length of a piece, 0 is all that is left. */
export function inPieces(octets: Uint8Array, lengths: Uint8Array): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const length of lengths) {
    if (at >= octets.length || length === 0) break;
    pieces.push(octets.slice(at, at + length));
    at += length;
  }
  if (at < octets.length) pieces.push(octets.slice(at));
  return pieces;
}

/** The messages of a stream, each behind its length; what is left over is a fault. */
export function framesOf(octets: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = [];
  let at = 0;
  while (at < octets.length) {
    const end = at + 2 + ((octets[at]! << 8) | octets[at + 1]!);
    assert.ok(end <= octets.length, "a frame is cut short");
    frames.push(octets.subarray(at + 2, end));
    at = end;
  }
  return frames;
}
