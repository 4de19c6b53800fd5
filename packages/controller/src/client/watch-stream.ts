import type { KubeObject } from "@meridian/kube";
import { readBody } from "@meridian/runtime";
import type { HttpBody } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import type { DeadlineSignal } from "../deadline-signal.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { ContainerScanner } from "./container-scanner.ts";
import { decodeJsonStream, documentBytesMaxDefault, documentStart } from "./json-stream.ts";
import type { RequestSubject } from "./request-subject.ts";
import type { WatchEvent, WatchStream } from "./requests.ts";
import { WatchEventReader, parseWatchEvent } from "./watch-event-reader.ts";
import type { RawWatchEvent } from "./watch-event-reader.ts";
import type { WireFormatOfKind, WireReader } from "./wire-format.ts";

/** An open exchange whose body is a stream of watch events. */
export interface WatchBody {
  readonly body: HttpBody;
  /** Ends the exchange; owned by the stream from now on. */
  readonly bounds: DeadlineSignal;
  readonly subject: RequestSubject;
  /** What the events come in; JSON where it is absent. */
  readonly format?: WireFormatOfKind | undefined;
}

/** An open watch whose objects are not decoded. */
export interface RawWatch {
  /**
   * Hands over each event as soon as it is there, and resolves when the stream ends or `onEvent` says `stop`. Events of
   * unknown types, and of other kinds than the watch is for, are skipped, which `onSkipped` hears of. To be called once.
   *
   * @throws as a `WatchStream` does, and what `onEvent` throws
   */
  read(onEvent: (event: RawWatchEvent) => "stop" | void, onSkipped?: () => void): Promise<void>;
  close(): void;
}

/** Reads decoded events from an open exchange. */
export function openWatchStream<T extends KubeObject>(source: WatchBody): WatchStream<T> {
  const end = endOf(source);
  async function* events(): AsyncGenerator<WatchEvent<T>, void, undefined> {
    try {
      for await (const document of decodeJsonStream(source.body)) {
        const event = parseWatchEvent<T>(document);
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (end.closed) return;
      throw streamError(error, source);
    } finally {
      end.close();
    }
  }
  return { close: end.close, [Symbol.asyncIterator]: events };
}

/** Reads events from an open exchange as they came. */
export function openRawWatch(
  source: WatchBody,
  type: { readonly kind: string; readonly namespaced: boolean },
): RawWatch {
  const end = endOf(source);
  return {
    close: end.close,
    async read(onEvent, onSkipped = () => {}) {
      const take = (event: RawWatchEvent | undefined): "stop" | void => {
        if (event === undefined) return onSkipped();
        if (onEvent(event) !== "stop") return undefined;
        // It ends the exchange at once: nothing more of it is wanted.
        end.close();
        return "stop";
      };
      const reader = source.format?.watchReader(take) ?? jsonWatchReader(type, take);
      try {
        await readBody(source.body, (chunk) => reader.push(chunk));
        if (!end.closed) reader.finish();
      } catch (error) {
        if (end.closed) return;
        throw streamError(error, source);
      } finally {
        end.close();
      }
    },
  };
}

function jsonWatchReader(
  type: { readonly kind: string; readonly namespaced: boolean },
  onEvent: (event: RawWatchEvent | undefined) => "stop" | void,
): WireReader<void> {
  const reader = new WatchEventReader(type);
  return new ContainerScanner({
    containerBytesMax: documentBytesMaxDefault,
    between: documentStart,
    onContainer: (span) => onEvent(reader.read(span)),
  });
}

/** Ends an exchange once, and knows that it did. */
function endOf({ bounds, subject }: WatchBody): { readonly closed: boolean; readonly close: () => void } {
  let closed = false;
  return {
    get closed() {
      return closed;
    },
    close: () => {
      if (closed) return;
      closed = true;
      bounds.abort(new ApiError({ subject, reason: "Closed", message: "its reader closed it" }));
    },
  };
}

function streamError(error: unknown, { bounds, subject }: WatchBody): unknown {
  if (bounds.signal.aborted) return bounds.signal.reason;
  if (isApiError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const reason = error instanceof ControllerError ? error.code : "TruncatedResponse";
  return new ApiError({ subject, reason, message, cause: error });
}
