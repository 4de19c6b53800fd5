/**
 * On objects that came in a form with a schema, and had fields that the schema does not know: how many. They are not in the
 * object, so that writing it as a whole would take them away from the one on the server. `{ ...object }` has it, too.
 */
export const unknownFields: unique symbol = Symbol("fields that were left out");

/** How many fields the server has of this object that this program cannot see. */
export function unknownFieldsOf(object: object): number {
  return (object as { readonly [unknownFields]?: number })[unknownFields] ?? 0;
}

/** Whether this program sees all fields that the server has of the object. */
export function isWhole(object: object | undefined): boolean {
  return object === undefined || unknownFieldsOf(object) === 0;
}
