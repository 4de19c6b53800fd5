import { objectKey } from "@meridian/kube";
import type { KubeObject } from "@meridian/kube";
import { ControllerError } from "../controller-error.ts";
import { jsonFormat } from "./object-format.ts";
import type { ObjectFormat } from "./object-format.ts";

/** A resourceVersion: a number where it is a decimal that a number holds exactly, which saves its text. "" is none. */
export type CompactVersion = number | string;

/** Where an object stands. */
export interface ObjectSpan {
  readonly octets: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Where an object stands as JSON. */
export interface JsonSpan extends ObjectSpan {
  /** Whether all its octets are ASCII. */
  readonly ascii: boolean;
}

/**
 * One object as it came over the wire, of which only name, uid and version were read. Its octets are valid until the call
 * that hands it over returns; whoever keeps it copies them.
 */
export interface ObjectReading extends ObjectSpan {
  readonly format: ObjectFormat;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly version: CompactVersion;
  /** Where the uid stands in `octets`; both the same if it has none. */
  readonly uidStart: number;
  readonly uidEnd: number;
}

/**
 * The reading of an object that is at hand as a value: it is written as JSON, its uid first.
 *
 * @throws ControllerError `MalformedResponse` where it is no object of the API
 */
export function readingOf(value: unknown): ObjectReading {
  const { metadata } = (value ?? {}) as Partial<KubeObject>;
  if (typeof metadata !== "object" || metadata === null || typeof metadata.name !== "string") {
    throw new ControllerError("MalformedResponse", "an object of a collection has no metadata with a name");
  }
  const { uid, resourceVersion = "" } = metadata;
  const text = JSON.stringify(value);
  const octets = Buffer.from(text);
  const quoted = typeof uid === "string" ? JSON.stringify(uid) : "";
  const uidStart = quoted.length > 2 ? octets.indexOf(quoted, 0, "utf8") + 1 : 0;
  return {
    octets,
    start: 0,
    end: octets.length,
    format: jsonFormat(octets.length === text.length),
    key: objectKey(metadata),
    version: compactVersion(resourceVersion),
    uidStart,
    uidEnd: quoted.length > 2 ? uidStart + Buffer.byteLength(quoted) - 2 : 0,
  };
}

/** The shortest form of a version that can be turned back. */
export function compactVersion(version: string): CompactVersion {
  return /^[1-9][0-9]{0,15}$/.test(version) && Number(version) <= Number.MAX_SAFE_INTEGER
    ? Number(version)
    : version;
}
