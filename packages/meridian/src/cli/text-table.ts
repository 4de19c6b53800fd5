/** Rows as lines of aligned columns, without trailing spaces. */
export function textTable(rows: readonly (readonly string[])[], indent: string): readonly string[] {
  const widths = rows.reduce<number[]>((all, row) => {
    row.forEach((cell, at) => (all[at] = Math.max(all[at] ?? 0, cell.length)));
    return all;
  }, []);
  return rows.map((row) =>
    `${indent}${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ")}`.trimEnd(),
  );
}
