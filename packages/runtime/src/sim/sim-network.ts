import type { Logger } from "../logger.ts";
import type {
  HttpClient,
  HttpClientOptions,
  HttpServer,
  HttpServerOptions,
  Network,
  TcpConnection,
  TcpListener,
  UdpServer,
  UdpSocket,
} from "../network.ts";
import type { StreamServer, StreamServerOptions } from "../stream-server.ts";
import type { Boot } from "./boot.ts";
import { never } from "./boot.ts";
import { dial } from "./dialing.ts";
import type { Fabric } from "./fabric.ts";
import type { Host } from "./host.ts";
import { SimHttpClient } from "./http-client.ts";
import { serveSimHttp } from "./http-server.ts";
import { serveSimStreams } from "./streams.ts";
import { SimTcpConnection, listenSimTcp } from "./tcp.ts";
import { bindSimUdp, serveSimUdp } from "./udp.ts";

/** The network as one boot of a node sees it. */
export class SimNetwork implements Network {
  readonly #fabric: Fabric;
  readonly #host: Host;
  readonly #boot: Boot;
  readonly #log: Logger;

  constructor(fabric: Fabric, host: Host, options: { boot: Boot; log: Logger }) {
    this.#fabric = fabric;
    this.#host = host;
    this.#boot = options.boot;
    this.#log = options.log;
  }

  async serveUdp(options: Parameters<Network["serveUdp"]>[0]): Promise<UdpServer> {
    if (!this.#boot.alive) return never();
    return serveSimUdp(this.#place, options);
  }

  async bindUdp(options: Parameters<Network["bindUdp"]>[0]): Promise<UdpSocket> {
    if (!this.#boot.alive) return never();
    return bindSimUdp(this.#place, options, options.onDatagram);
  }

  async listenTcp(options: Parameters<Network["listenTcp"]>[0]): Promise<TcpListener> {
    if (!this.#boot.alive) return never();
    return listenSimTcp(this.#host, options, options.onConnection);
  }

  async serveStreams(options: StreamServerOptions): Promise<StreamServer> {
    if (!this.#boot.alive) return never();
    return serveSimStreams(this.#host, options);
  }

  async connectTcp(options: Parameters<Network["connectTcp"]>[0]): Promise<TcpConnection> {
    const timeoutMs = this.#fabric.tcp.connectTimeoutMs;
    return new SimTcpConnection(await dial({ ...this.#place, ...options, timeoutMs }));
  }

  /** As everywhere here, TLS is accepted and means nothing. */
  async connectTls({ tls: _tls, ...options }: Parameters<Network["connectTls"]>[0]): Promise<TcpConnection> {
    return this.connectTcp(options);
  }

  async serveHttp(options: HttpServerOptions): Promise<HttpServer> {
    if (!this.#boot.alive) return never();
    return serveSimHttp({ ...this.#place, world: this.#fabric.world, log: this.#log }, options);
  }

  httpClient(options: HttpClientOptions): HttpClient {
    return new SimHttpClient(this.#place, options);
  }

  get #place(): { readonly fabric: Fabric; readonly host: Host; readonly boot: Boot } {
    return { fabric: this.#fabric, host: this.#host, boot: this.#boot };
  }
}
