/** A row of a file, or why a line is not a row. */
export type CsvRow =
  { readonly line: number; readonly cells: readonly string[] } | { readonly line: number; readonly problem: string };

/** The most lines of a quoted cell: an unclosed quote spoils its own line alone. */
const maxLines = 50;

/** A quote where RFC 4180 has none: inside an unquoted cell, or with text behind it. */
const misplaced = Symbol('misplaced');

/**
 * Cells of a row (RFC 4180), or undefined when a quoted cell is still open. A quote within an unquoted cell stands for itself, and text behind
 * a quoted cell belongs to it; a strict reader takes neither.
 */
function tryParseRow(text: string, delimiter: string, isStrict: boolean): string[] | typeof misplaced | undefined {
  if (!text.includes('"')) return text.split(delimiter);
  const cells: string[] = [];
  for (let at = 0; ;) {
    if (text[at] === '"') {
      let cell = '';
      for (;;) {
        const end = text.indexOf('"', at + 1);
        if (end === -1) return undefined;
        cell += text.slice(at + 1, end);
        at = end + 1;
        if (text[at] !== '"') break;
        cell += '"';
      }
      const next = text.indexOf(delimiter, at);
      const rest = text.slice(at, next === -1 ? undefined : next);
      if (isStrict && rest !== '') return misplaced;
      cells.push(cell + rest);
      at = next;
    } else {
      const next = text.indexOf(delimiter, at);
      const cell = text.slice(at, next === -1 ? undefined : next);
      if (isStrict && cell.includes('"')) return misplaced;
      cells.push(cell);
      at = next;
    }
    if (at === -1) return cells;
    at += delimiter.length;
  }
}

/** The delimiter of a header line: the one that splits it into most names. */
export function findDelimiter(header: string): string {
  const delimiters = [',', '\t', ';', '|'];
  return delimiters.reduce((best, one) => (header.split(one).length > header.split(best).length ? one : best));
}

/**
 * Joins lines to rows, because quoted cells may hold line breaks. Feed the lines in order.
 * @param emit takes each row, with the number of its first line
 * @param options.strict refuses rows with quotes at places where RFC 4180 has none
 */
export function createRowReader(
  delimiter: string,
  emit: (row: CsvRow) => void,
  { strict = false }: { readonly strict?: boolean } = {},
): { readonly feed: (line: string, number: number) => void; readonly end: () => void } {
  let open: { readonly line: string; readonly number: number }[] = [];
  const giveUp = () => {
    const [first, ...rest] = open;
    open = [];
    emit({ line: first!.number, problem: 'a quote that does not end' });
    for (const { line, number } of rest) feed(line, number);
  };
  const feed = (line: string, number: number): void => {
    if (open.length === 0 && line === '') return;
    open.push({ line, number });
    const cells = tryParseRow(open.map((one) => one.line).join('\n'), delimiter, strict);
    if (cells !== undefined) {
      const { number: start } = open[0]!;
      open = [];
      emit(cells === misplaced ? { line: start, problem: 'a quote inside a cell' } : { line: start, cells });
    } else if (open.length >= maxLines) giveUp();
  };
  return {
    feed,
    end: () => {
      while (open.length > 0) giveUp();
    },
  };
}
