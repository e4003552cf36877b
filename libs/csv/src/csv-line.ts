/** Signs that begin a formula, as they are and in the wide and small forms that spreadsheets read as them. */
const signs = '=+\\-@＝＋－＠﹦﹢﹣﹫';
const formula = new RegExp(`^[\\s"]*[${signs}]|^[\\t\\r]`);
/** Where another cell begins for a program that separates by semicolons or tabs, and so reads our quotes as text. */
const laterCell = new RegExp(`([;\\t\\r\\n])(?=[\\s"]*[${signs}])`, 'g');

/** Whether a spreadsheet would run a text as a formula. */
export const isFormula = (text: string): boolean => formula.test(text);

/** A text as a cell (RFC 4180 §2). An apostrophe stands before what a spreadsheet would run as a formula, whatever it separates cells by. */
export function csvCell(value: string): string {
  const text = `${isFormula(value) ? "'" : ''}${value.replace(laterCell, "$1'")}`;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record (RFC 4180 §2). */
export const csvLine = (values: readonly (string | number | bigint)[]): string =>
  `${values.map((value) => (typeof value === 'string' ? csvCell(value) : String(value))).join(',')}\r\n`;
