import type { ListMeta, ResourceType } from "@meridian/kube";
import type { HttpHeaders } from "@meridian/runtime";
import type { ObjectReading } from "./object-reading.ts";
import type { RawWatchEvent } from "./watch-event-reader.ts";

/** A form other than JSON that objects come over the wire in, of those kinds that it has a schema for. */
export interface WireFormat {
  /** How objects of this type come in it; `undefined` where only JSON is known of it. */
  of(type: ResourceType): WireFormatOfKind | undefined;
}

/** How objects of one kind come over the wire. Who asks for it still has to take JSON: see `formatOfAnswer`. */
export interface WireFormatOfKind {
  readonly mediaType: string;
  /** Reads a list. The reading that `onItem` is given is valid until it returns. */
  listReader(onItem: (item: ObjectReading) => void): WireReader<ListMeta>;
  /**
   * Reads the events of a watch; `onEvent` is given `undefined` for those to be skipped, and by "stop" is given no more.
   */
  watchReader(onEvent: (event: RawWatchEvent | undefined) => "stop" | void): WireReader<void>;
  /** The Status that is the body of a refusal. @throws ControllerError */
  readStatus(octets: Uint8Array): unknown;
}

/** Reads octets in chunks that are cut anywhere. */
export interface WireReader<R> {
  /**
   * Takes the next octets, which may be reused afterwards.
   *
   * @throws ControllerError `MalformedResponse`, `ResponseTooLarge`, and what it hands readings to
   */
  push(chunk: Uint8Array): void;
  /** What is known at the end. @throws ControllerError `TruncatedResponse` where it is none, `MalformedResponse` */
  finish(): R;
}

/** What to ask for: the format, and JSON of servers that do not have it. */
export function acceptOf(format: WireFormatOfKind | undefined): string {
  return format === undefined ? "application/json" : `${format.mediaType}, application/json`;
}

/** The format that an answer has; `undefined` for JSON. */
export function formatOfAnswer(
  format: WireFormatOfKind | undefined,
  headers: HttpHeaders,
): WireFormatOfKind | undefined {
  if (format === undefined) return undefined;
  const [mediaType = ""] = (headers["content-type"] ?? "").split(";", 1);
  return mediaType.trim().toLowerCase() === format.mediaType ? format : undefined;
}
