/** What a cell is ordered by; null and undefined are empty. */
export type SortValue = string | number | null | undefined;

/** The order of a table: a column, and whether its greatest value comes first. In an address: `title`, `-published`. */
export interface Sort {
  readonly key: string;
  readonly descending: boolean;
}

/** Reads the order of an address; undefined for a column that does not sort. */
export function parseSort(text: string | undefined, keys: readonly string[]): Sort | undefined {
  if (text === undefined) return undefined;
  const descending = text.startsWith('-');
  const key = descending ? text.slice(1) : text;
  return keys.includes(key) ? { key, descending } : undefined;
}

/** The order as text of an address. */
export const sortText = ({ key, descending }: Sort): string => `${descending ? '-' : ''}${key}`;

/**
 * The order after the head of a column was pressed: first as that column begins, then the other way round.
 * @param descendingFirst whether the column begins with its greatest value, as numbers and dates do
 */
export const nextSort = (current: Sort | undefined, key: string, descendingFirst: boolean): Sort =>
  current?.key === key ? { key, descending: !current.descending } : { key, descending: descendingFirst };

const isEmpty = (value: SortValue) => value === null || value === undefined || value === '';

/**
 * Rows in an order; rows that are equal keep theirs, and empty cells come last whichever way round.
 * @param language texts are compared as it is written: `ä` beside `a`, `Episode 9` before `Episode 10`
 */
export function sortRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => SortValue,
  descending: boolean,
  language: string,
): readonly Row[] {
  const collator = new Intl.Collator(language, { numeric: true, sensitivity: 'base' });
  const compare = (a: SortValue, b: SortValue) => {
    if (isEmpty(a) || isEmpty(b)) return Number(isEmpty(a)) - Number(isEmpty(b));
    const order = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
    return descending ? -order : order;
  };
  return rows
    .map((row) => [row, valueOf(row)] as const)
    .toSorted(([, a], [, b]) => compare(a, b))
    .map(([row]) => row);
}

/** One page of rows. */
export interface RowPage<Row> {
  readonly rows: readonly Row[];
  /** From 1; within the pages that there are. */
  readonly page: number;
  readonly pages: number;
  /** Places of the first and the last row of the page among all, from 1; both 0 without rows. */
  readonly from: number;
  readonly to: number;
}

/** Cuts a page out of rows; a page beyond the last one is the last one, because rows may have gone. */
export function pageOf<Row>(rows: readonly Row[], page: number, size: number): RowPage<Row> {
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const current = Math.min(Math.max(1, Math.trunc(page) || 1), pages);
  const start = (current - 1) * size;
  const shown = rows.slice(start, start + size);
  return { rows: shown, page: current, pages, from: shown.length > 0 ? start + 1 : 0, to: start + shown.length };
}

/** What of a table stands in the address of its page. */
export interface TableSearch {
  readonly q?: string;
  readonly state?: string;
  readonly sort?: string;
  readonly page?: number;
}

/** Reads an address; what it does not know is left out, so that a broken link still opens. */
export function parseTableSearch(search: Readonly<Record<string, unknown>>): TableSearch {
  const text = (key: string) => {
    const value = search[key];
    const said = typeof value === 'number' ? String(value) : value;
    return typeof said === 'string' && said !== '' && said.length <= 200 ? { [key]: said } : {};
  };
  const page = Number(search['page']);
  return {
    ...text('q'),
    ...text('state'),
    ...text('sort'),
    ...(Number.isSafeInteger(page) && page > 1 ? { page } : {}),
  };
}

/** What an address says after a change; what is empty, and the first page, are left out. */
export const changedSearch = (former: TableSearch, change: TableSearch): TableSearch =>
  parseTableSearch({ ...former, ...change });
