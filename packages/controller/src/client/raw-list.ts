import type { ListMeta, ResourceType } from "@meridian/kube";
import { readBody } from "@meridian/runtime";
import type { Clock } from "@meridian/runtime";
import { ControllerError } from "../controller-error.ts";
import { deadlineSignal } from "../deadline-signal.ts";
import { ApiError, isApiError } from "./api-error.ts";
import { readListStream } from "./list-stream.ts";
import { ObjectReader } from "./object-reader.ts";
import type { JsonSpan, ObjectReading } from "./object-reading.ts";
import { expectSpeech } from "./silence.ts";
import { deadlineExceeded } from "./transport.ts";
import type { Exchange, Transport } from "./transport.ts";
import { formatOfAnswer } from "./wire-format.ts";

/** What a list is read with. */
export interface RawListReader {
  readonly clock: Pick<Clock, "after" | "monotonicMs">;
  readonly transport: Transport;
  readonly type: ResourceType;
  readonly onItem: (item: ObjectReading) => void;
}

/** What to ask for, and for how long. */
export interface RawListRequest {
  readonly exchange: Exchange;
  readonly signal: AbortSignal | undefined;
  /** Bounds the time until the server answers, and each silence after that. */
  readonly deadlineMs: number;
}

/** Sends a list and reads its answer item by item. @throws ApiError; the reason of the caller's signal */
export async function readRawList(reader: RawListReader, request: RawListRequest): Promise<ListMeta> {
  const { clock, transport, type } = reader;
  const { exchange, deadlineMs } = request;
  const { subject } = exchange;
  using bounds = deadlineSignal(clock, { signal: request.signal });
  using silence = expectSpeech(clock, deadlineMs, () => bounds.abort(deadlineExceeded(subject, deadlineMs)));
  const { signal } = bounds;
  const endsAtMs = clock.monotonicMs() + deadlineMs;
  const response = await transport.openPatiently(exchange, { signal, endsAtMs });
  silence.heard();
  const format = formatOfAnswer(exchange.format, response.headers);
  try {
    if (format !== undefined) {
      const list = format.listReader(reader.onItem);
      await readBody(response.body, (chunk) => {
        silence.heard();
        list.push(chunk);
      });
      return list.finish();
    }
    const objects = new ObjectReader({ namespaced: type.namespaced });
    const onItem = (span: JsonSpan): void => {
      const reading = objects.read(span);
      if (reading !== undefined) reader.onItem(reading);
    };
    return await readListStream(response.body, onItem, () => silence.heard());
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (isApiError(cause)) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = cause instanceof ControllerError ? cause.code : "Unreachable";
    throw new ApiError({ subject, reason, message, cause });
  }
}
