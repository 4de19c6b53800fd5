import type { KubeObject } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import type { DeadlineSignal } from "../deadline-signal.ts";
import { decodeJsonStream } from "./json-stream.ts";
import type { WatchEvent, WatchStream } from "./requests.ts";

/** An open exchange whose body is a stream of watch events. */
export interface WatchBody {
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the exchange; owned by the stream from now on. */
  readonly bounds: DeadlineSignal;
  /** `watch services`, for messages. */
  readonly attempt: string;
}

/** Reads watch events from an open exchange. */
export function openWatchStream<T extends KubeObject>(source: WatchBody): WatchStream<T> {
  const { bounds } = source;
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    bounds.abort(new ControllerError("Closed", `${source.attempt} was closed by its reader`));
  };

  async function* events(): AsyncGenerator<WatchEvent<T>, void, undefined> {
    try {
      for await (const document of decodeJsonStream(source.body)) {
        const event = parseWatchEvent<T>(document, source.attempt);
        if (event !== undefined) yield event;
      }
    } catch (error) {
      if (closed) return;
      throw streamError(error, source);
    } finally {
      close();
    }
  }
  return { close, [Symbol.asyncIterator]: events };
}

const eventTypes: ReadonlySet<unknown> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]);

/** The event in a document; `undefined` for a type that a newer server may have. */
function parseWatchEvent<T extends KubeObject>(
  document: unknown,
  attempt: string,
): WatchEvent<T> | undefined {
  const { type, object } = document as { readonly type?: unknown; readonly object?: unknown };
  if (typeof type !== "string" || typeof object !== "object" || object === null) {
    throw new ControllerError(
      "MalformedResponse",
      `cannot ${attempt}: a document of the stream is no watch event`,
    );
  }
  if (!eventTypes.has(type)) return undefined;
  const { metadata } = object as { readonly metadata?: unknown };
  if (type !== "ERROR" && (typeof metadata !== "object" || metadata === null)) {
    throw new ControllerError(
      "MalformedResponse",
      `cannot ${attempt}: the object of a ${type} event has no metadata`,
    );
  }
  return { type, object } as WatchEvent<T>;
}

function streamError(error: unknown, { bounds, attempt }: WatchBody): unknown {
  if (bounds.signal.aborted) return bounds.signal.reason;
  if (error instanceof ControllerError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ControllerError("TruncatedResponse", `cannot go on to ${attempt}: ${reason}`, { cause: error });
}
