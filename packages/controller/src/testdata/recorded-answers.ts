import { recordedAnswersText } from "./recorded-answers-text.ts";

/** One answer of a kube-apiserver (1.36), asked for in both forms. */
export interface RecordedAnswer<J> {
  readonly json: J;
  readonly protobuf: Uint8Array;
}

/** An object, as JSON. */
export interface RecordedObject {
  readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  readonly [field: string]: unknown;
}

/** An event of a watch, as JSON. */
export interface RecordedEvent {
  readonly type: string;
  readonly object: RecordedObject;
}

/** A list, as JSON. */
export interface RecordedList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly RecordedObject[];
}

/** What a kube-apiserver answered to one question, in JSON and in protobuf: octet for octet as they came. */
export interface RecordedAnswers {
  readonly lists: Readonly<Record<"configMaps" | "deployments" | "leases", RecordedAnswer<RecordedList>>>;
  /** A change, a creation and a deletion. */
  readonly watch: RecordedAnswer<readonly RecordedEvent[]>;
  /** The initial state as a stream, and the bookmark behind it. */
  readonly stream: RecordedAnswer<readonly RecordedEvent[]>;
  /** The only event of a watch from a version that is gone. */
  readonly expired: RecordedAnswer<readonly RecordedEvent[]>;
  /** The body of a 400. */
  readonly refusal: RecordedAnswer<object>;
}

/** See `RecordedAnswers`. */
export const recordedAnswers: RecordedAnswers = JSON.parse(recordedAnswersText, (name, value: unknown) =>
  name === "protobuf" ? new Uint8Array(Buffer.from(value as string, "base64")) : value,
) as RecordedAnswers;
