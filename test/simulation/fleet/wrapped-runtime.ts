import type {
  AnswerDatagram,
  Disk,
  HttpHandler,
  HttpServerOptions,
  Network,
  Runtime,
  TcpConnection,
} from "@meridian/runtime";

/** What is put around a node's runtime: to watch it, to make it fail, or to plant a fault. */
export interface Wrapping {
  /** Gets the address that is served. */
  readonly answer?: (answer: AnswerDatagram, address: string) => AnswerDatagram;
  readonly connection?: (
    accept: (connection: TcpConnection) => void,
    address: string,
  ) => (connection: TcpConnection) => void;
  /** Gets the port that the handler is served on. */
  readonly handler?: (handler: HttpHandler, port: number) => HttpHandler;
  readonly disk?: (disk: Disk) => Disk;
}

/** The same runtime with some of its seams wrapped. */
export function wrappedRuntime(runtime: Runtime, wrapping: Wrapping): Runtime {
  const { answer, connection, handler, disk } = wrapping;
  const { network } = runtime;
  const wrapped: Network = {
    serveUdp: (options) =>
      network.serveUdp(
        answer === undefined ? options : { ...options, answer: answer(options.answer, options.address) },
      ),
    bindUdp: (options) => network.bindUdp(options),
    listenTcp: (options) =>
      network.listenTcp(
        connection === undefined
          ? options
          : { ...options, onConnection: connection(options.onConnection, options.address) },
      ),
    connectTcp: (options) => network.connectTcp(options),
    serveStreams: (options) => network.serveStreams(options),
    connectTls: (options) => network.connectTls(options),
    serveHttp: (options: HttpServerOptions) =>
      network.serveHttp(
        handler === undefined ? options : { ...options, handler: handler(options.handler, options.port) },
      ),
    httpClient: (options) => network.httpClient(options),
  };
  return { ...runtime, network: wrapped, disk: disk === undefined ? runtime.disk : disk(runtime.disk) };
}
