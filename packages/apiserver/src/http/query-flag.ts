/** Reads a yes or no of a query: whatever a parameter says means yes, save `false` and `0`; no parameter means no. */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}
