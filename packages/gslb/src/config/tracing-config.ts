import { parseServerAddress, type EnvironmentReader } from "./environment-reader.ts";

/** Whether and where spans are exported. */
export interface TracingConfig {
  /** `TRACING_ENABLED` */
  readonly enabled: boolean;
  /** `TRACING_SAMPLING_RATIO`: the share of traces that is kept, 0 to 1. */
  readonly samplingRatio: number;
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: the collector's URL without the path; plain HTTP where only a host is given. */
  readonly endpoint: string;
}

/** Reads the variables about traces. */
export function parseTracingConfig(reader: EnvironmentReader): TracingConfig {
  return {
    enabled: reader.flag("TRACING_ENABLED", false),
    samplingRatio: reader.ratio("TRACING_SAMPLING_RATIO", 1),
    endpoint: parseEndpoint(reader),
  };
}

function parseEndpoint(reader: EnvironmentReader): string {
  const text = reader.text("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318").trim();
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  const server = parseServerAddress(url.replace(/^https?:\/\//, "").replace(/\/.*$/, ""), 4318);
  if (server === undefined)
    reader.refuse("OTEL_EXPORTER_OTLP_ENDPOINT", "be host:port or a URL, for example localhost:4318");
  return url.replace(/\/+$/, "");
}
