/** A number before and after, on one line. */
export function fromTo(before: number, after: number): string {
  return `${before}\u00a0→\u00a0${after}`;
}
