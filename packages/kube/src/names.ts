/** Each validator returns the rules that a text breaks, worded as the API words them; empty: valid. */
export function validateDns1123Label(_text: string): string[] {
  return [];
}
export function validateDns1123Subdomain(_text: string): string[] {
  return [];
}
export function validateDns1035Label(_text: string): string[] {
  return [];
}
export function validateQualifiedName(_text: string): string[] {
  return [];
}
export function validateLabelValue(_text: string): string[] {
  return [];
}
export function validateFinalizerName(_text: string): string[] {
  return [];
}
/** Names as path segments: neither `.` nor `..`, without `/` and `%`. */
export function validatePathSegmentName(_text: string): string[] {
  return [];
}
/** `random()` in [0, 1). */
export function generatedName(prefix: string, _random: () => number): string {
  return prefix;
}
