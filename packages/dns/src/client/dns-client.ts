import type { Endpoint, Runtime } from "@meridian/runtime";
import type { ZoneSoa } from "../zone/zone.ts";
import type { Verdict } from "./verdict.ts";

export interface DnsClientOptions {
  /** The own address that questions leave from; any when absent. */
  readonly from?: string;
  /** How many UDP sockets (so ports) the questions are spread over. Default 4. */
  readonly socketsMax?: number;
  /** Randomises the case of the question and expects it back. Default false. */
  readonly randomCase?: boolean;
}

export interface DnsQuestion {
  readonly name: string;
  /** A mnemonic or `TYPE666`. */
  readonly type: string;
  /** Asked in this order, starting again while time remains. */
  readonly servers: readonly Endpoint[];
  /** For the whole question, retries and TCP included. */
  readonly deadlineMs: number;
  /** Sets RD. Default false. */
  readonly recursionDesired?: boolean;
  readonly signal?: AbortSignal;
}

export interface NotifyOptions {
  readonly zone: string;
  /** Put into the answer section as a hint (RFC 1996 §3.7): whose view it is and which serial it has. */
  readonly soa?: ZoneSoa;
  readonly servers: readonly Endpoint[];
  readonly signal?: AbortSignal;
}

export interface NotifyResult {
  readonly server: Endpoint;
  /** Whether the server replied at all; `rcode` tells what. */
  readonly acknowledged: boolean;
  readonly rcode?: string;
}

/** Asks name servers. Many questions share few sockets; ids are random, and strays are ignored. */
export class DnsClient implements AsyncDisposable {
  constructor(_runtime: Runtime, _options?: DnsClientOptions) {}
  /** Asks one question. Never rejects but with `signal.reason` when aborted. */
  async query(_question: DnsQuestion): Promise<Verdict> {
    return { state: "unreachable", reason: "not there yet" };
  }
  /** Tells each server, all at once, that the zone has changed; repeats until it replies, at most 6 times in 31 s. */
  async notify(_options: NotifyOptions): Promise<readonly NotifyResult[]> {
    return [];
  }
  async [Symbol.asyncDispose](): Promise<void> {}
}
