import { toCsv, type CsvCell } from '../../parts/chart/csv.ts';
import { parseSort, sortRows, type Sort, type SortValue } from '../../parts/table-rows.ts';

/** A column of a table of numbers: its rows sort by it, or not. */
interface Sortable<Row> {
  readonly key: string;
  readonly sortBy?: (row: Row) => SortValue;
}

/** A column of a file. */
export interface FileColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => CsvCell;
}

/**
 * The rows of a table as CSV, in the order in which the table shows them.
 * @param sort the order of the address; `firstSort` where it names none, or a column that does not sort
 * @param file what each row has in the file
 */
export function sortedCsv<Row>(
  rows: readonly Row[],
  columns: readonly Sortable<Row>[],
  sort: string | undefined,
  firstSort: Sort,
  language: string,
  file: readonly FileColumn<Row>[],
): string {
  const sorting = columns.filter(({ sortBy }) => sortBy !== undefined);
  const { key, descending } =
    parseSort(
      sort,
      sorting.map((column) => column.key),
    ) ?? firstSort;
  const sortBy = sorting.find((column) => column.key === key)?.sortBy ?? (() => undefined);
  const sorted = sortRows(rows, sortBy, descending, language);
  return toCsv(
    file.map(({ name }) => name),
    sorted.map((row) => file.map(({ cell }) => cell(row))),
  );
}
