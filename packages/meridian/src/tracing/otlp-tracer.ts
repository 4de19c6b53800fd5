import {
  context,
  SpanStatusCode,
  trace,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { Span, SpanAttributes, Tracer } from "@meridian/runtime";

/** Where spans are exported, and what is told of the process. */
export interface OtlpTracerOptions {
  /** The collector's URL without the path. */
  readonly endpoint: string;
  /** The share of traces that is kept, 0 to 1. */
  readonly samplingRatio: number;
  readonly version: string;
  readonly geoTag: string;
}

/** A tracer that exports; closing it sends what waits. */
export interface OtlpTracer extends Tracer, AsyncDisposable {}

/** What users of k8gb search for. */
const serviceName = "k8gb";
const scope = "meridian";

/** Exports spans by OTLP over HTTP as JSON, in batches. Load this module only where spans are wanted. */
export function otlpTracer(options: OtlpTracerOptions): OtlpTracer {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      "service.name": serviceName,
      "service.version": options.version,
      "meridian.geo_tag": options.geoTag,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.samplingRatio) }),
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter({ url: `${options.endpoint}/v1/traces`, timeoutMillis: 5_000 }),
      ),
    ],
  });
  const tracer = provider.getTracer(scope, options.version);
  return {
    start: (name, attributes = {}) => wrap(tracer, tracer.startSpan(name, { attributes, root: true })),
    async [Symbol.asyncDispose]() {
      // A collector that is not there must not keep the process.
      await provider.shutdown().catch(() => {});
    },
  };
}

function wrap(tracer: OtelTracer, span: OtelSpan): Span {
  return {
    child(name: string, attributes: SpanAttributes = {}) {
      const parent = trace.setSpan(context.active(), span);
      return wrap(tracer, tracer.startSpan(name, { attributes }, parent));
    },
    set: (attributes) => void span.setAttributes(attributes),
    end(error?: unknown) {
      if (error !== undefined) {
        const exception =
          error instanceof Error ? error : new Error("failed with what is no error", { cause: error });
        span.recordException(exception);
        span.setStatus({ code: SpanStatusCode.ERROR, message: exception.message });
      }
      span.end();
    },
  };
}
