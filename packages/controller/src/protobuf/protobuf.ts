import type { ResourceType } from "@meridian/kube";
import { apiVersionOf } from "@meridian/kube";
import type { WireFormat, WireFormatOfKind } from "../client/wire-format.ts";
import { SchemaSet } from "./message-schema.ts";
import { ProtobufKind } from "./protobuf-kind.ts";
import { schemaText } from "./schema-text.ts";

let schemas: SchemaSet | undefined;

/**
 * Protobuf of the kinds that Kubernetes has built in, of their versions that are stable. What it costs in memory is paid by
 * who imports it, and what a kind costs when its first object is decoded.
 *
 *     new Informer(runtime, { client, type: configMapType, wireFormat: protobuf });
 */
export const protobuf: WireFormat & { readonly kinds: readonly string[] } = {
  /** All of them, as `apps/v1 Deployment`. */
  get kinds() {
    return allSchemas().kinds;
  },
  of(type: ResourceType): WireFormatOfKind | undefined {
    const message = allSchemas().ofKind(apiVersionOf(type), type.kind);
    return message === undefined ? undefined : new ProtobufKind(type, allSchemas(), message);
  },
};

function allSchemas(): SchemaSet {
  return (schemas ??= new SchemaSet(schemaText));
}
