/** A table in plain text: text to the left, numbers to the right; "none" without rows. */
export function renderTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  if (rows.length === 0) return `${title}: none\n`;
  const written = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell)));
  const cells = [head, ...written];
  const widths = head.map((_, column) => cells.reduce((most, row) => Math.max(most, row[column]!.length), 0));
  const isNumber = head.map((_, column) => typeof rows[0]![column] === 'number');
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
