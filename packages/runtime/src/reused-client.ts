import { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "./ip-address.ts";
import type { DatagramClient, Endpoint } from "./network.ts";

/**
 * A client whose address is set anew for each message, as text or as octets; the other form is made when it is asked
 * for, since most messages are answered without it.
 */
export class ReusedClient implements DatagramClient {
  port = 0;
  transport: DatagramClient["transport"];
  #text: string | undefined;
  #hasOctets = false;
  #octetCount: 4 | 16 = 4;
  readonly #octets: Uint8Array = new Uint8Array(16);

  constructor(transport: DatagramClient["transport"], endpoint: Endpoint = { address: "0.0.0.0", port: 0 }) {
    this.transport = transport;
    this.setText(endpoint.address, endpoint.port);
  }

  setText(address: string, port: number): void {
    if (address !== this.#text) {
      this.#text = address;
      this.#hasOctets = false;
    }
    this.port = port;
  }

  /** Takes the address from `count` octets at `source[at]`. */
  // oxlint-disable-next-line max-params -- an options object per datagram would be the hot path's only allocation
  setOctets(source: Uint8Array, at: number, count: 4 | 16, port: number): void {
    const octets = this.#octets;
    for (let index = 0; index < count; index++) octets[index] = source[at + index]!;
    this.#octetCount = count;
    this.#hasOctets = true;
    this.#text = undefined;
    this.port = port;
  }

  get address(): string {
    const octets = this.#octets;
    return (this.#text ??= this.#octetCount === 4 ? ipv4ToText(octets.subarray(0, 4)) : ipv6ToText(octets));
  }

  get octets(): Uint8Array {
    if (!this.#hasOctets) this.#parse();
    return this.#octets;
  }

  get octetCount(): 4 | 16 {
    if (!this.#hasOctets) this.#parse();
    return this.#octetCount;
  }

  /** One of its own, which stays as it is. */
  copy(): ReusedClient {
    return new ReusedClient(this.transport, this);
  }

  #parse(): void {
    const text = (this.#text ?? "").split("%")[0]!;
    const octets = ipv4FromText(text) ?? ipv6FromText(text) ?? new Uint8Array(4);
    this.#octets.set(octets);
    this.#octetCount = octets.length === 4 ? 4 : 16;
    this.#hasOctets = true;
  }
}
