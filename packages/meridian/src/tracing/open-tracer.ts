import type { OperatorConfig } from "@meridian/gslb";
import type { Tracer } from "@meridian/runtime";
import type { ClosingStack } from "../cluster/closing-stack.ts";
import { programVersion } from "../cluster/program-version.ts";

/** The tracer that the settings ask for; it sends what waits when `closing` closes. The exporter is loaded only here: it is large. */
export async function openTracer(
  config: Pick<OperatorConfig, "tracing" | "geoTag"> | undefined,
  closing: ClosingStack,
): Promise<Tracer | undefined> {
  if (config?.tracing.enabled !== true) return undefined;
  const { otlpTracer } = await import("./otlp-tracer.ts");
  const { tracing, geoTag } = config;
  return closing.use(otlpTracer({ ...tracing, version: programVersion.commit, geoTag }));
}
