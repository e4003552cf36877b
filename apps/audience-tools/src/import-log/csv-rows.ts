/** A row of a file, or why a line is not a row. */
export type CsvRow =
  { readonly line: number; readonly cells: readonly string[] } | { readonly line: number; readonly problem: string };

/** The most lines of a quoted cell: an unclosed quote spoils its own line alone. */
const maxLines = 50;

/** Cells of a row (RFC 4180), or undefined when a quoted cell is still open. A quote within an unquoted cell stands for itself. */
function tryParseRow(text: string, delimiter: string): string[] | undefined {
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
      cells.push(cell + text.slice(at, next === -1 ? undefined : next));
      at = next;
    } else {
      const next = text.indexOf(delimiter, at);
      cells.push(text.slice(at, next === -1 ? undefined : next));
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
 */
export function createRowReader(
  delimiter: string,
  emit: (row: CsvRow) => void,
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
    const cells = tryParseRow(open.map((one) => one.line).join('\n'), delimiter);
    if (cells !== undefined) {
      const { number: start } = open[0]!;
      open = [];
      emit({ line: start, cells });
    } else if (open.length >= maxLines) giveUp();
  };
  return {
    feed,
    end: () => {
      while (open.length > 0) giveUp();
    },
  };
}
