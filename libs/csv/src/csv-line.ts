const formula = /^[=+\-@\t\r]/;

/** Whether a spreadsheet would run a text as a formula. */
export const isFormula = (text: string): boolean => formula.test(text);

/** A text as a cell (RFC 4180 §2); one that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvCell(value: string): string {
  const text = isFormula(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record (RFC 4180 §2). */
export const csvLine = (values: readonly (string | number)[]): string =>
  `${values.map((value) => (typeof value === 'number' ? String(value) : csvCell(value))).join(',')}\r\n`;
