/** One cell: a text, a number, or nothing. */
export type CsvCell = string | number | null | undefined;

/** Spreadsheets run a text that begins so as a formula: an apostrophe makes it a text (OWASP, CSV injection). */
const asText = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

function cellText(cell: CsvCell): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'number') return String(cell);
  const text = asText(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows as CSV (RFC 4180): the head first, each line with its end. */
export const toCsv = (head: readonly string[], rows: readonly (readonly CsvCell[])[]): string =>
  [head, ...rows].map((cells) => `${cells.map(cellText).join(',')}\r\n`).join('');
