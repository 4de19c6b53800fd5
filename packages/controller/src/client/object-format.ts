import { ControllerError } from "../controller-error.ts";
import type { ObjectReading } from "./object-reading.ts";

/** How the octets of objects become values. */
export interface ObjectFormat {
  /**
   * The object that stands there, as JSON has it.
   *
   * @throws ControllerError `MalformedResponse`
   */
  decode(octets: Buffer, start: number, end: number): unknown;
  /**
   * The reading without `metadata.managedFields`, valid until the next one; `undefined` where its octets are not plain, so
   * that the object must be decoded for it. Absent for JSON, which an informer cuts itself.
   */
  readonly withoutManagedFields?: (reading: ObjectReading) => ObjectReading | undefined;
}

/** The format of JSON, which is read faster where all octets are known to be ASCII. */
export function jsonFormat(ascii: boolean): ObjectFormat {
  return ascii ? asciiJson : utf8Json;
}

const asciiJson: ObjectFormat = {
  decode: (octets, start, end) => parseJson(octets.toString("latin1", start, end)),
};
const utf8Json: ObjectFormat = {
  decode: (octets, start, end) => parseJson(octets.toString("utf8", start, end)),
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `an object of ${text.length} characters is not JSON`;
    throw new ControllerError("MalformedResponse", message, { cause });
  }
}
