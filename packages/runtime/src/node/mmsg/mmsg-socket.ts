import type { Endpoint } from "../../network.ts";
import { formatEndpoint } from "../../endpoint-text.ts";
import { networkFailure } from "../network-failure.ts";
import { libcError, loadLibc, type Libc } from "./libc.ts";
import { addressFamily, composeSocketAddress, parseSocketAddress } from "./socket-address.ts";

/** A bound socket as any thread of this process can use it. Can be sent to a worker thread. */
export interface MmsgDescriptor {
  readonly fd: number;
  readonly octetCount: 4 | 16;
  /** Bound to all addresses: each answer then has to name the address that was asked. */
  readonly isWildcard: boolean;
}

/**
 * A UDP socket for `MmsgBatch`. It belongs to the process and not to a thread: threads can come and go, and what is
 * queued in it stays.
 */
export interface MmsgSocket extends Disposable {
  readonly descriptor: MmsgDescriptor;
  readonly local: Endpoint;
  /** What the kernel granted of the 4 MiB asked for. */
  readonly receiveBufferBytes: number;
}

/** Linux's numbers on all architectures that `mmsgAvailability` allows. */
const datagramCloseOnExec = 2 | 0x8_0000;
const level = { ip: 0, socket: 1, ipv6: 41 } as const;
const option = {
  receiveBuffer: 8,
  reusePort: 15,
  receiveTimeout: 20,
  receiveBufferForce: 33,
  ipPacketInfo: 8,
  ipMtuDiscover: 10,
  ipv6MtuDiscover: 23,
  ipv6Only: 26,
  ipv6ReceivePacketInfo: 49,
} as const;
/** Answers are never so large that the path's MTU would matter, and forged ICMP must not shrink it (RFC 9715). */
const mtuDiscoverOmit = 5;

/** Asked of the kernel, which may give less: room for the datagrams that arrive while we are busy elsewhere. */
export const receiveBufferBytesAsked: number = 4 * 1024 * 1024;
/** How long a receive waits at most; then the loop around it looks whether it should go on. */
const receiveTimeoutMs = 40;

/**
 * Binds a socket that shares its port with others made so by this process. Whether the port is free must be asked
 * first (`assertPortFree`), since two servers of one user could share it unknowingly.
 *
 * @throws NetworkError `AddressInUse`, `AddressNotAvailable` or `PermissionDenied`
 */
export function openMmsgSocket(asked: Endpoint): MmsgSocket {
  const libc = loadLibc();
  const fd = bindSocket(libc, asked, { shared: true });
  try {
    const bound = new Uint8Array(28);
    if (libc.getsockname(fd, bound, Uint32Array.of(bound.length)) < 0) throw libcError(libc, "getsockname");
    const local = { address: asked.address, port: parseSocketAddress(bound).port };
    const octetCount = bound[0] === addressFamily.v4 ? 4 : 16;
    const isWildcard = bound.subarray(4, octetCount === 4 ? 8 : 24).every((octet) => octet === 0);
    setUp(libc, fd, { octetCount, isWildcard });
    return {
      descriptor: { fd, octetCount, isWildcard },
      local,
      receiveBufferBytes: growReceiveBuffer(libc, fd),
      [Symbol.dispose]: once(() => libc.close(fd)),
    };
  } catch (error) {
    libc.close(fd);
    throw networkFailure(`cannot listen on UDP ${formatEndpoint(asked)}`, error);
  }
}

/**
 * Finds out whether nobody else has the port, by taking it alone for a moment.
 *
 * @throws NetworkError as `openMmsgSocket`
 */
export function assertPortFree(asked: Endpoint): void {
  const libc = loadLibc();
  libc.close(bindSocket(libc, asked, { shared: false }));
}

function bindSocket(libc: Libc, asked: Endpoint, { shared }: { readonly shared: boolean }): number {
  const attempt = `cannot listen on UDP ${formatEndpoint(asked)}`;
  const address = composeSocketAddress(asked);
  if (address === undefined)
    throw networkFailure(attempt, Object.assign(new Error("no address"), { code: "EINVAL" }));
  const isV6 = address[0] === addressFamily.v6;
  const fd = libc.socket(address[0]!, datagramCloseOnExec, 0);
  if (fd < 0) throw networkFailure(attempt, libcError(libc, "socket"));
  try {
    if (shared) set(libc, fd, { level: level.socket, name: option.reusePort, value: [1] });
    if (isV6) set(libc, fd, { level: level.ipv6, name: option.ipv6Only, value: [1] });
    if (libc.bind(fd, address, address.length) < 0) throw libcError(libc, "bind");
    return fd;
  } catch (error) {
    libc.close(fd);
    throw networkFailure(attempt, error);
  }
}

function setUp(libc: Libc, fd: number, socket: Omit<MmsgDescriptor, "fd">): void {
  const isV6 = socket.octetCount === 16;
  // struct timeval: two longs.
  set(libc, fd, {
    level: level.socket,
    name: option.receiveTimeout,
    value: [0, 0, receiveTimeoutMs * 1000, 0],
  });
  set(libc, fd, {
    level: isV6 ? level.ipv6 : level.ip,
    name: isV6 ? option.ipv6MtuDiscover : option.ipMtuDiscover,
    value: [mtuDiscoverOmit],
  });
  if (!socket.isWildcard) return;
  set(libc, fd, {
    level: isV6 ? level.ipv6 : level.ip,
    name: isV6 ? option.ipv6ReceivePacketInfo : option.ipPacketInfo,
    value: [1],
  });
}

/** Beyond the system's limit where we may (CAP_NET_ADMIN), else up to it. */
function growReceiveBuffer(libc: Libc, fd: number): number {
  const value = Int32Array.of(receiveBufferBytesAsked);
  if (libc.setsockopt(fd, level.socket, option.receiveBufferForce, value, 4) < 0)
    libc.setsockopt(fd, level.socket, option.receiveBuffer, value, 4);
  libc.getsockopt(fd, level.socket, option.receiveBuffer, value, Uint32Array.of(4));
  // The kernel doubles the number for its own bookkeeping (socket(7)).
  return value[0]! / 2;
}

function set(
  libc: Libc,
  fd: number,
  to: { readonly level: number; readonly name: number; readonly value: readonly number[] },
): void {
  const value = Int32Array.from(to.value);
  if (libc.setsockopt(fd, to.level, to.name, value, value.byteLength) < 0)
    throw libcError(libc, `setsockopt ${to.level} ${to.name}`);
}

/** A descriptor that is closed twice may be somebody else's the second time. */
function once(close: () => void): () => void {
  let open = true;
  return () => {
    if (open) close();
    open = false;
  };
}
