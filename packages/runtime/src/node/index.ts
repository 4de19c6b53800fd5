/**
 * The outside world of this machine.
 *
 * @module @meridian/runtime/node
 */

export { nodeRuntime } from "./node-runtime.ts";
export { nodeLocalSystem } from "./node-local-system.ts";
export { consoleLogger } from "./console-logger.ts";
export type { ConsoleLoggerOptions } from "./console-logger.ts";
export { HugePages } from "./mmsg/huge-pages.ts";
export { MmsgBatch } from "./mmsg/mmsg-batch.ts";
export type { DeferMmsg, ServeMmsgOptions } from "./mmsg/mmsg-batch.ts";
export { assertPortFree, openMmsgSocket, receiveBufferBytesAsked } from "./mmsg/mmsg-socket.ts";
export type { MmsgDescriptor, MmsgSocket } from "./mmsg/mmsg-socket.ts";
export { mmsgAvailability } from "./mmsg/mmsg-availability.ts";
export type { MmsgAvailability } from "./mmsg/mmsg-availability.ts";
