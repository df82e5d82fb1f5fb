/** A GitHub table; columns of numbers are aligned to the right. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, at) =>
    Math.max(3, ...[title, ...rows.map((row) => row[at] ?? '')].map((c) => c.length)),
  );
  const numeric = header.map((_, at) =>
    rows.every((row) => /^(-|[\d.]+( [A-Za-z%/]+)?)?$/.test(row[at] ?? '')),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => (numeric[at] ? (cells[at] ?? '').padStart(width) : (cells[at] ?? '').padEnd(width))).join(' | ')} |`;
  const rule = widths.map((width, at) => (numeric[at] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}
