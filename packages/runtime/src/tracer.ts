/** What is told of a span beside its name. Never put a secret here. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work as it is traced: it ends once, well or with an error, and may have parts. */
export interface Span {
  child(name: string, attributes?: SpanAttributes): Span;
  set(attributes: SpanAttributes): void;
  /** With an error: the work failed. Only the first call counts. */
  end(error?: unknown): void;
}

/** Where pieces of work are told to, so that a person sees what took how long. */
export interface Tracer {
  /** Starts a trace of its own. */
  start(name: string, attributes?: SpanAttributes): Span;
}

const silentSpan: Span = { child: () => silentSpan, set() {}, end() {} };

/** A tracer that tells nobody. */
export const silentTracer: Tracer = { start: () => silentSpan };

/** Runs a piece of work that waits for nothing within its span. */
export function tracedNow<T>(span: Span, work: () => T): T {
  try {
    const result = work();
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** Runs a piece of work within its span, which ends with it, however it ends. */
export async function traced<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await work(span);
    span.end();
    return result;
  } catch (error) {
    span.end(error ?? new Error("rejected with nothing"));
    throw error;
  }
}
