import { invalidType, invalidValue } from "../field-error.ts";
import type { StatusCause } from "../status.ts";
import type { StructuralSchema } from "./structural-schema.ts";

/** Every rule of the numeric keywords that a number breaks. */
export function validateNumber(value: number, schema: StructuralSchema, path: string): StatusCause[] {
  const broken: string[] = [];
  const { minimum, maximum, multipleOf } = schema;
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum === true) {
      if (value >= maximum) broken.push(`should be less than ${maximum}`);
    } else if (value > maximum) broken.push(`should be less than or equal to ${maximum}`);
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum === true) {
      if (value <= minimum) broken.push(`should be greater than ${minimum}`);
    } else if (value < minimum) broken.push(`should be greater than or equal to ${minimum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    broken.push(`should be a multiple of ${multipleOf}`);
  }
  const causes = broken.map((rule) => invalidValue(path, value, `${path} in body ${rule}`));
  const range = schema.format === undefined ? undefined : ranges[schema.format];
  if (
    range !== undefined &&
    schema.type === range.type &&
    (value > range.max || value < -range.max - range.slack)
  ) {
    const detail = `${path} in body must be of type ${schema.format}: "${value}"`;
    causes.push(invalidType(path, value, detail));
  }
  return causes;
}

const ranges: Readonly<
  Record<string, { readonly type: string; readonly max: number; readonly slack: number }>
> = {
  int32: { type: "integer", max: 2 ** 31 - 1, slack: 1 },
  int64: { type: "integer", max: 2 ** 63, slack: 0 },
  float: { type: "number", max: 3.4028234663852886e38, slack: 0 },
};

/** Tolerates the rounding of binary fractions: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}
