/**
 * The outside world as small interfaces: clock, random numbers, network, disk and log.
 *
 * @module @meridian/runtime
 */

export type { Runtime } from "./runtime.ts";
export type { Clock } from "./clock.ts";
export type { Random } from "./random.ts";
export type { Disk, DiskLog, DiskLogOptions } from "./disk.ts";
export type { Command, CommandResult, LocalSystem } from "./local-system.ts";
export { silentLogger } from "./logger.ts";
export type { LogFields, Logger } from "./logger.ts";
export { formatEndpoint } from "./endpoint-text.ts";
export { ipv4FromText, ipv4ToText, ipv6FromText, ipv6ToText } from "./ip-address.ts";
export { ReusedClient } from "./reused-client.ts";
export { metricsHandler, serveMetrics } from "./metrics-listener.ts";
export type { MetricsHandlerOptions, MetricsListenerOptions, MetricsText } from "./metrics-listener.ts";
export { deferred, NetworkError, readBody } from "./network.ts";
export type {
  AnswerDatagram,
  DatagramClient,
  DeferDatagram,
  Endpoint,
  HttpClient,
  HttpClientOptions,
  HttpClientRequest,
  HttpBody,
  HttpClientResponse,
  HttpHandler,
  HttpHeaders,
  HttpRequest,
  HttpResponse,
  HttpServer,
  HttpServerOptions,
  Network,
  NetworkErrorCode,
  TcpConnection,
  TcpListener,
  TlsClientOptions,
  TlsServerIdentity,
  UdpServer,
  UdpServerOptions,
  UdpSocket,
} from "./network.ts";
export type {
  StreamConnection,
  StreamServer,
  StreamServerOptions,
  StreamSink,
  StreamTls,
} from "./stream-server.ts";
export { silentTracer, traced, tracedNow } from "./tracer.ts";
export type { Span, SpanAttributes, Tracer } from "./tracer.ts";
export { whileWaiting } from "./while-waiting.ts";
