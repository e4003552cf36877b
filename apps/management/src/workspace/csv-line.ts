/** Text that a spreadsheet would take for a formula. */
const formula = /^[=+\-@\t\r]/;

/** One record (RFC 4180 §2); a text that a spreadsheet would run as a formula gets an apostrophe before it. */
export function csvLine(values: readonly (string | number)[]): string {
  const fields = values.map((value) => {
    if (typeof value === 'number') return String(value);
    const text = formula.test(value) ? `'${value}` : value;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  });
  return `${fields.join(',')}\r\n`;
}
