import type { KubeObject, ListMeta, ResourceType, Status } from "@meridian/kube";
import { apiVersionOf } from "@meridian/kube";
import type { ObjectFormat } from "../client/object-format.ts";
import type { ObjectReading } from "../client/object-reading.ts";
import { unknownFields } from "../client/unknown-fields.ts";
import type { RawWatchEvent } from "../client/watch-event-reader.ts";
import type { WireFormatOfKind, WireReader } from "../client/wire-format.ts";
import { ControllerError } from "../controller-error.ts";
import { EnvelopeReader } from "./envelope-reader.ts";
import { ManagedFieldsRemover } from "./managed-fields-remover.ts";
import { MessageDecoder } from "./message-decoder.ts";
import type { MessageSchema, SchemaSet } from "./message-schema.ts";
import { ProtobufListReader } from "./protobuf-list-reader.ts";
import { ProtobufReading } from "./protobuf-reading.ts";
import { ProtobufWatchReader } from "./protobuf-watch-reader.ts";
import { WireCursor } from "./wire-cursor.ts";

/** How objects of one built-in kind come as protobuf. */
export class ProtobufKind implements WireFormatOfKind {
  readonly mediaType = "application/vnd.kubernetes.protobuf";
  readonly #type: ResourceType;
  readonly #apiVersion: string;
  readonly #schemas: SchemaSet;
  readonly #message: MessageSchema;
  readonly #decoder = new MessageDecoder();
  readonly #cursor = new WireCursor();
  readonly #format: ObjectFormat;

  constructor(type: ResourceType, schemas: SchemaSet, message: MessageSchema) {
    const remover = new ManagedFieldsRemover();
    this.#type = type;
    this.#apiVersion = apiVersionOf(type);
    this.#schemas = schemas;
    this.#message = message;
    this.#format = {
      decode: (octets, start, end) => this.#object(octets, start, end),
      withoutManagedFields: (reading) => remover.remove(reading),
    };
  }

  listReader(onItem: (item: ObjectReading) => void): WireReader<ListMeta> {
    return new ProtobufListReader({
      apiVersion: this.#apiVersion,
      kind: `${this.#type.kind}List`,
      reading: this.#reading(),
      onItem,
      readListMeta: (octets, start, end) =>
        this.#read("meta/v1.ListMeta", { octets, start, end }) as ListMeta,
    });
  }

  watchReader(onEvent: (event: RawWatchEvent | undefined) => "stop" | void): WireReader<void> {
    return new ProtobufWatchReader({
      apiVersion: this.#apiVersion,
      kind: this.#type.kind,
      reading: this.#reading(),
      onEvent,
      readObject: (octets, start, end) => this.#object(octets, start, end),
      readStatus: (octets, start, end) => this.#status({ octets, start, end }),
    });
  }

  readStatus(body: Uint8Array): Status {
    const octets = Buffer.from(body.buffer, body.byteOffset, body.length);
    const cursor = this.#cursor;
    cursor.reset(octets, 0, octets.length);
    const envelope = new EnvelopeReader({ apiVersion: "v1", kind: "Status" });
    envelope.open(cursor);
    if (!envelope.isOfKind) throw new ControllerError("MalformedResponse", "the answer is no Status");
    const { start, end } = envelope;
    return this.#status({ octets, start, end });
  }

  #reading(): ProtobufReading {
    return new ProtobufReading(this.#format, { namespaced: this.#type.namespaced });
  }

  #object(octets: Buffer, start: number, end: number): KubeObject {
    this.#cursor.reset(octets, start, end);
    const decoded = this.#decoder.decode(this.#message, this.#cursor);
    if (decoded.unknownFields > 0) {
      Object.assign(decoded.value, { [unknownFields]: decoded.unknownFields });
    }
    return decoded.value as unknown as KubeObject;
  }

  #status(place: { readonly octets: Buffer; readonly start: number; readonly end: number }): Status {
    return { kind: "Status", apiVersion: "v1", ...(this.#read("meta/v1.Status", place) as object) } as Status;
  }

  #read(
    message: string,
    { octets, start, end }: { readonly octets: Buffer; readonly start: number; readonly end: number },
  ): unknown {
    this.#cursor.reset(octets, start, end);
    return this.#decoder.decode(this.#schemas.message(message), this.#cursor).value;
  }
}
