import type { StreamServer, StreamServerOptions } from "./stream-server.ts";

/** An IP address in text form and a port. Names are never resolved by the network: that is the caller's business. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Where a message comes from, as the answering code sees it. The server reuses one object for all datagrams. */
export interface DatagramClient {
  /** May be made on demand from the octets: ask only where text is needed. */
  readonly address: string;
  readonly port: number;
  /** `udp`, or what carries the frames or requests that the same function answers. */
  readonly transport: "udp" | "tcp" | "tls" | "https";
  /** The address in network order, 16 octets of room; an IPv4 address takes the first 4. Valid until the next message. */
  readonly octets: Uint8Array;
  readonly octetCount: 4 | 16;
}

/** What an `AnswerDatagram` returns for a message that needs more than it can do at once. */
export const deferred = -1;

/**
 * Answers one message: reads `length` octets at `offset` of `input`, writes the answer at the start of `output` and
 * returns its length; 0 means no answer, `deferred` that the server should hand it on (`DeferDatagram`). Synchronous,
 * allocates nothing it keeps, never throws.
 *
 * Both buffers belong to the caller, who may reuse them as soon as the function returns; so a server can run it over
 * a batch of received datagrams.
 */
// oxlint-disable-next-line max-params -- an options object per datagram would be the hot path's only allocation
export type AnswerDatagram = (
  input: Uint8Array,
  offset: number,
  length: number,
  client: DatagramClient,
  output: Uint8Array,
) => number;

/**
 * Takes a message that was `deferred`: copies of its octets and of its client, so both may be kept. `reply` sends one
 * datagram back, at any time; after the server has closed, it does nothing.
 */
export type DeferDatagram = (
  message: Uint8Array,
  client: DatagramClient,
  reply: (octets: Uint8Array) => void,
) => void;

/** Where to answer datagrams, and how. */
export interface UdpServerOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly answer: AnswerDatagram;
  /** Without it, what is `deferred` gets no answer. */
  readonly defer?: DeferDatagram;
  /** Called for each answer that is dropped, since too many wait for the network to take them. */
  readonly onLost?: () => void;
}

/** A bound UDP server that answers each datagram with one function. */
export interface UdpServer extends AsyncDisposable {
  readonly local: Endpoint;
}

/** A UDP socket for clients: sends, and hands over what arrives. */
export interface UdpSocket extends AsyncDisposable {
  readonly local: Endpoint;
  /** Sends one datagram; loss is normal, and errors of the network are reported as loss. */
  send(datagram: Uint8Array, to: Endpoint): void;
}

/** One TCP connection. */
export interface TcpConnection extends AsyncDisposable {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  /** The octets received; ends when the peer has closed its side, throws when the connection broke. One reader. */
  readonly received: AsyncIterable<Uint8Array>;
  /** Resolves when the octets were accepted for sending; waits while the send buffer is full; rejects when broken. */
  write(octets: Uint8Array): Promise<void>;
  /** Closes our side after everything written was sent. */
  end(): Promise<void>;
  /** Breaks the connection at once. */
  destroy(): void;
}

/** Whom a TLS client trusts, and what it speaks. */
export interface TlsClientOptions {
  /** PEM of the CAs to trust; absent: the system's. */
  readonly caPem?: string;
  /** The name or address that the certificate must have; absent: the address connected to. */
  readonly serverName?: string;
  /** Takes any certificate. Default false. */
  readonly insecureSkipVerify?: boolean;
  /** ALPN names in order of preference; absent: none is asked for. */
  readonly protocols?: readonly string[];
}

/** A bound TCP port. Disposing it stops accepting and breaks the connections that are open. */
export interface TcpListener extends AsyncDisposable {
  readonly local: Endpoint;
}

/** Header fields by lower-case name. */
export type HttpHeaders = Readonly<Record<string, string>>;

/** A request as an HTTP server sees it. The body has been read whole, within the server's limit. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query exactly as sent, starting with `/`. */
  readonly target: string;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array;
  readonly client: Endpoint;
  /** Common name and organisations of a client certificate that the server's `clientCa` vouches for. */
  readonly clientCertificate?: { readonly commonName: string; readonly organizations: readonly string[] };
  /** Aborts when the client has gone away or the server closes. */
  readonly signal: AbortSignal;
}

/** An answer. A streamed body is flushed chunk by chunk; the headers leave before its first chunk is asked for. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
}

/** Serves one request. A rejection is answered 500 and logged by the server. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>;

/** PEM texts of a server's identity. */
export interface TlsServerIdentity {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** Asks for client certificates and verifies them with this CA; a connection without one is still accepted. */
  readonly clientCaPem?: string;
}

export interface HttpServerOptions {
  readonly address: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Absent: plain HTTP/1.1. Present: HTTPS with HTTP/2 and HTTP/1.1 by ALPN. */
  readonly tls?: TlsServerIdentity;
  readonly handler: HttpHandler;
  /** Bodies over this are answered 413. */
  readonly bodyBytesMax: number;
  /** Open connections; for one more the one that is idle longest is closed, or that one where all are in use. Default 4,096. */
  readonly connectionsMax?: number;
  /** Requests at once on one connection; over HTTP/1.1 one more ends it. Default 1,000. */
  readonly streamsMax?: number;
  /** How long a request may take to arrive whole. Default 120,000. */
  readonly requestMs?: number;
  /** Silent connections are closed after this long. Default: 120,000 over HTTP/1.1, never over HTTP/2 while the peer lives. */
  readonly idleMs?: number;
}

export interface HttpServer extends AsyncDisposable {
  readonly local: Endpoint;
  /**
   * Uses another certificate from the next handshake on; of no effect without TLS.
   *
   * @throws NetworkError `Broken` when certificate and key do not fit; the one before stays
   */
  setTls(tls: TlsServerIdentity): void;
}

export interface HttpClientOptions {
  /** `https://address:port` or `http://address:port`; the host may be a name. */
  readonly origin: string;
  /**
   * All connections go through this proxy: `http://`, `https://` (both by CONNECT) or `socks5://`, `[user:password@]host:port`.
   * The simulated network has none.
   */
  readonly proxyUrl?: string;
  readonly tls?: {
    readonly caPem?: string;
    readonly certificatePem?: string;
    readonly privateKeyPem?: string;
    readonly serverName?: string;
    readonly insecureSkipVerify?: boolean;
  };
}

export interface HttpClientRequest {
  readonly method: string;
  readonly target: string;
  /** A field with several values is sent that many times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** Lets the server compress the answer (gzip); the body is what it was before. Default false; of no effect in the simulation. */
  readonly compressed?: boolean;
  /** Ends the exchange, the body's stream included; the call or the stream then rejects with its reason. */
  readonly signal?: AbortSignal;
}

export interface HttpClientResponse {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The body as it arrives; throws when the exchange breaks before its end. One reader; read it or abort. */
  readonly body: HttpBody;
}

/** The body of an answer. */
export interface HttpBody extends AsyncIterable<Uint8Array> {
  /**
   * For whoever can take each chunk at once: hands it over as it arrives, without a turn of the event loop for each, and
   * resolves at the end. Throws as the iteration does, and what `take` throws. Where it is missing, `readBody` iterates.
   */
  drain?(take: (chunk: Uint8Array) => void): Promise<void>;
}

/** Reads a body by `drain` where it can be, else by iteration. */
export async function readBody(body: HttpBody, take: (chunk: Uint8Array) => void): Promise<void> {
  if (body.drain !== undefined) return body.drain(take);
  for await (const chunk of body) take(chunk);
}

/**
 * A client of one origin. It keeps its connections (HTTP/2 over TLS where offered, with a PING after 15 s of silence
 * and 10 s to answer it; else HTTP/1.1 with keep-alive) and opens new ones after a failure.
 */
export interface HttpClient extends AsyncDisposable {
  /** @throws NetworkError when no answer could be had. */
  request(request: HttpClientRequest): Promise<HttpClientResponse>;
}

/** All network I/O of one node. */
export interface Network {
  serveUdp(options: UdpServerOptions): Promise<UdpServer>;
  bindUdp(options: {
    readonly address: string;
    readonly port: number;
    /** The octets are valid until the call returns. */
    readonly onDatagram: (datagram: Uint8Array, from: Endpoint) => void;
  }): Promise<UdpSocket>;
  listenTcp(options: {
    readonly address: string;
    readonly port: number;
    readonly onConnection: (connection: TcpConnection) => void;
  }): Promise<TcpListener>;
  /** Accepts connections whose octets are handed over synchronously: what a busy server wants in place of `listenTcp`. */
  serveStreams(options: StreamServerOptions): Promise<StreamServer>;
  connectTcp(options: {
    readonly to: Endpoint;
    /** The address to leave from; any when absent. */
    readonly from?: string;
    readonly signal?: AbortSignal;
  }): Promise<TcpConnection>;
  /** As `connectTcp`, and then TLS. Rejects, too, when the server does not prove to be whom the options name. */
  connectTls(options: {
    readonly to: Endpoint;
    readonly from?: string;
    readonly tls: TlsClientOptions;
    readonly signal?: AbortSignal;
  }): Promise<TcpConnection>;
  serveHttp(options: HttpServerOptions): Promise<HttpServer>;
  httpClient(options: HttpClientOptions): HttpClient;
}

export type NetworkErrorCode =
  | "AddressInUse"
  | "AddressNotAvailable"
  | "PermissionDenied"
  | "Refused"
  | "Unreachable"
  | "Broken"
  | "Closed"
  | "Timeout";

/** A failure of the network, the same from the real and from the simulated one. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
  readonly code: NetworkErrorCode;
  constructor(code: NetworkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
