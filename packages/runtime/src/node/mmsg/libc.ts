import { createRequire } from "node:module";
import { getSystemErrorName } from "node:util";

/**
 * The C library's calls for sockets and memory. Pointers of the frequent calls are numbers: addresses in memory that the caller
 * keeps pinned (`PinnedMemory`); those of the others are arrays, which are in use during the call only.
 */
export interface Libc {
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly bind: (fd: number, address: Uint8Array, length: number) => number;
  readonly getsockname: (fd: number, address: Uint8Array, length: Uint32Array) => number;
  // oxlint-disable-next-line max-params -- setsockopt(2)
  readonly setsockopt: (fd: number, level: number, name: number, value: Int32Array, length: number) => number;
  // oxlint-disable-next-line max-params -- getsockopt(2)
  readonly getsockopt: (
    fd: number,
    level: number,
    name: number,
    value: Int32Array,
    length: Uint32Array,
  ) => number;
  readonly close: (fd: number) => number;
  // oxlint-disable-next-line max-params -- recvmmsg(2)
  readonly recvmmsg: (fd: number, headers: number, count: number, flags: number, timeout: number) => number;
  // oxlint-disable-next-line max-params -- sendmmsg(2)
  readonly sendmmsg: (fd: number, headers: number, count: number, flags: number) => number;
  readonly madvise: (address: number, octets: number, advice: number) => number;
  /** The error number of this thread's last call that failed. */
  readonly errno: () => number;
  /** Shared memory is given as a view: koffi knows no other way to it. */
  readonly addressOf: (memory: ArrayBuffer | Uint8Array) => number;
}

/** The part of koffi that is used here. */
interface Koffi {
  load(path: null): { func(name: string, result: string, parameters: readonly string[]): unknown };
  address(memory: ArrayBuffer | Uint8Array): bigint;
  errno(): number;
}

type Declaration = readonly [result: string, ...parameters: string[]];

const declarations: Readonly<Record<Exclude<keyof Libc, "errno" | "addressOf">, Declaration>> = {
  socket: ["int", "int", "int", "int"],
  bind: ["int", "int", "void *", "uint32_t"],
  getsockname: ["int", "int", "void *", "void *"],
  setsockopt: ["int", "int", "int", "int", "void *", "uint32_t"],
  getsockopt: ["int", "int", "int", "int", "void *", "void *"],
  close: ["int", "int"],
  recvmmsg: ["int", "int", "uintptr_t", "uint32_t", "int", "uintptr_t"],
  sendmmsg: ["int", "int", "uintptr_t", "uint32_t", "int"],
  madvise: ["int", "uintptr_t", "size_t", "int"],
};

let loaded: Libc | undefined;

/**
 * Binds the calls, once for each thread.
 *
 * @throws what koffi throws where it has no binary, or the C library lacks a call
 */
export function loadLibc(): Libc {
  if (loaded !== undefined) return loaded;
  // Not a static import: who has no binary for this platform must still be able to load this module.
  const koffi = createRequire(import.meta.url)("koffi") as Koffi;
  const library = koffi.load(null);
  const calls = Object.entries(declarations).map(([name, [result, ...parameters]]) => [
    name,
    library.func(name, result, parameters),
  ]);
  loaded = {
    ...(Object.fromEntries(calls) as Omit<Libc, "errno" | "addressOf">),
    errno: () => koffi.errno(),
    addressOf: (memory) => Number(koffi.address(memory)),
  };
  return loaded;
}

/** The error of a call that returned -1, with Node's code for it. */
export function libcError(libc: Libc, call: string): Error & { readonly code: string } {
  const code = getSystemErrorName(-libc.errno());
  return Object.assign(new Error(`${call}: ${code}`), { code });
}
