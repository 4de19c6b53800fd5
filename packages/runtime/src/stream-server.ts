import type { Endpoint, TlsServerIdentity } from "./network.ts";

/**
 * One accepted connection whose octets are handed over within the read itself: no promise, no iterator and no copy lies
 * between the network and the `StreamSink`.
 */
export interface StreamConnection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  /**
   * Sends the octets, without waiting. True when they are free again; else the network still reads them, and they must
   * stay as they are.
   */
  send(octets: Uint8Array): boolean;
  /** Whether so much is unsent that the next `send` should wait for `onDrain`. */
  readonly congested: boolean;
  /** Takes no more from the peer until `resume`; octets that were read already may still come. */
  pause(): void;
  resume(): void;
  /**
   * Begins TLS as the server's options say, with octets that came before and belong to the handshake. From then on all
   * octets are those inside. Call it once, before anything is sent, on a server with `tls`.
   */
  secure(received: Uint8Array): void;
  /** Closes our side after everything sent has left. */
  end(): void;
  /** Breaks the connection at once. */
  destroy(): void;
}

/** What becomes of a connection. None of these may throw. */
export interface StreamSink {
  /** The octets are valid until the call returns. */
  onOctets(octets: Uint8Array): void;
  /** What was `congested` is no longer. */
  onDrain(): void;
  /** The peer has closed its side, or broken the connection behind its last octets. End ours, and `onClose` follows. */
  onEnd(): void;
  /** The connection is gone, whoever ended it. The last call. */
  onClose(): void;
}

/** TLS of a stream server. */
export interface StreamTls extends TlsServerIdentity {
  /** ALPN names in order of preference; clients that offer none are served as well. */
  readonly protocols: readonly string[];
}

/** Where to accept connections, and what to do with each. */
export interface StreamServerOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Allows `secure`. Connections begin in the clear, since what comes first may be for us (the PROXY protocol). */
  readonly tls?: StreamTls;
  readonly onConnection: (connection: StreamConnection) => StreamSink;
}

/** A bound port. Disposing it stops accepting and breaks the connections that are open. */
export interface StreamServer extends AsyncDisposable {
  readonly local: Endpoint;
  /** Accepts no more; the open connections go on, and the port is free. */
  stop(): void;
  /**
   * Uses another certificate from the next handshake on.
   *
   * @throws NetworkError `Broken` when certificate and key do not fit; the one before stays
   */
  setTls(tls: StreamTls): void;
}
