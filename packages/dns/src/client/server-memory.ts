import type { Endpoint, Runtime } from "@meridian/runtime";
import { wallSeconds } from "../wall-seconds.ts";
import { endpointKey } from "./udp-exchanges.ts";

/** What is known of one server. */
interface Remembered {
  /** Until when it is asked without EDNS. */
  plainUntil: number;
  /** Ours for this server (RFC 7873 §4.1): it tells the server's replies from those of others. */
  readonly clientCookie: Uint8Array;
  serverCookie: Uint8Array;
  /** Seconds that its clock is ahead of ours, as it once proved. */
  offsetSeconds: number;
}

/** How long a server that does not know EDNS is asked without it. */
const plainServerMs = 15 * 60_000;
/** Beyond this many, the server that was first asked longest ago is forgotten. */
const serversMax = 1_000;
export const cookieOption = 10;
const clientCookieOctets = 8;

/** What earlier replies of servers told, so that the next question is asked right at once. */
export class ServerMemory {
  readonly #runtime: Runtime;
  readonly #servers = new Map<string, Remembered>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  usesEdns(server: Endpoint): boolean {
    const known = this.#servers.get(endpointKey(server));
    return known === undefined || known.plainUntil < this.#runtime.clock.monotonicMs();
  }

  rememberPlain(server: Endpoint): void {
    this.#of(server).plainUntil = this.#runtime.clock.monotonicMs() + plainServerMs;
  }

  /** The content of a COOKIE option: ours, and the server's once it has given one. */
  cookie(server: Endpoint): Uint8Array {
    const { clientCookie, serverCookie } = this.#of(server);
    return Uint8Array.of(...clientCookie, ...serverCookie);
  }

  /** Keeps the server's part of a COOKIE option. False when our part is not ours: then the reply is a forged one. */
  takeCookie(server: Endpoint, cookie: Uint8Array): boolean {
    const known = this.#of(server);
    if (!known.clientCookie.every((octet, index) => octet === cookie[index])) return false;
    const serverCookie = cookie.slice(clientCookieOctets);
    // RFC 7873 §4: 8 to 32 octets; other lengths are no cookie.
    if (serverCookie.length >= 8 && serverCookie.length <= 32) known.serverCookie = serverCookie;
    return true;
  }

  /** Whether the server gives cookies, so that a reply without one may be somebody else's (RFC 7873 §5.3). */
  givesCookies(server: Endpoint): boolean {
    return (this.#servers.get(endpointKey(server))?.serverCookie.length ?? 0) > 0;
  }

  /** The server has shown that it gives cookies no longer. */
  forgetCookie(server: Endpoint): void {
    this.#of(server).serverCookie = new Uint8Array();
  }

  offsetSeconds(server: Endpoint): number {
    return this.#servers.get(endpointKey(server))?.offsetSeconds ?? 0;
  }

  /** Remembers a server's clock, which it has proved to be its own. */
  takeTime(server: Endpoint, serverSeconds: number): void {
    this.#of(server).offsetSeconds = serverSeconds - wallSeconds(this.#runtime.clock);
  }

  #of(server: Endpoint): Remembered {
    const key = endpointKey(server);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    if (this.#servers.size >= serversMax) {
      const [oldest] = this.#servers.keys();
      this.#servers.delete(oldest!);
    }
    const fresh = {
      plainUntil: -1,
      clientCookie: this.#runtime.random.bytes(clientCookieOctets),
      serverCookie: new Uint8Array(),
      offsetSeconds: 0,
    };
    this.#servers.set(key, fresh);
    return fresh;
  }
}
