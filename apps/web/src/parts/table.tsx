import { ArrowDown, ArrowUp, ChevronLeft, ChevronRight } from 'lucide-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { classes } from '../look/classes.ts';
import { t, type MessageKey } from '../messages/messages.ts';
import { usePlace } from '../shell/place.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import {
  nextSort,
  pageOf,
  parseSort,
  sortRows,
  sortText,
  type RowPage,
  type Sort,
  type SortValue,
} from './table-rows.ts';
import type { TableSearch } from './table-rows.ts';
import styles from './table.module.css';

/** A column. The first one of a table is the title of its rows, with the link to their page. */
export interface Column<Row> {
  /** Its name in addresses. */
  readonly key: string;
  readonly name: MessageKey;
  readonly cell: (row: Row) => ReactNode;
  /** What the column is ordered by; a column without it does not sort. */
  readonly sortBy?: (row: Row) => SortValue;
  /** For numbers and dates: pressed first, the greatest comes first. */
  readonly descendingFirst?: boolean;
  /** Numbers stand at the end of their cell. */
  readonly end?: boolean;
}

const rowsOnPage = 50;

function Head<Row>({
  column: { key, name, sortBy, descendingFirst = false, end = false },
  sort,
  onSort,
}: {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}) {
  const look = classes(end && styles.end);
  if (!sortBy)
    return (
      <th scope="col" className={look}>
        {t(name)}
      </th>
    );
  const isSorted = sort?.key === key;
  const order = sort?.descending ? 'descending' : 'ascending';
  return (
    <th scope="col" className={look} aria-sort={isSorted ? order : undefined}>
      <button type="button" className={styles.sort} onClick={() => onSort(nextSort(sort, key, descendingFirst))}>
        {t(name)}
        {isSorted && <Icon of={sort.descending ? ArrowDown : ArrowUp} size={12} />}
      </button>
    </th>
  );
}

/** Arrow keys go from the link of one row to that of the next. */
function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = (event.target as Element).closest('tr');
  if (step === undefined || !row) return;
  const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  const link = next?.querySelector<HTMLElement>('a[href]');
  if (!link) return;
  event.preventDefault();
  link.focus();
}

function Foot({
  page: { page, pages, from, to },
  total,
  onPage,
}: {
  readonly page: RowPage<unknown>;
  readonly total: number;
  readonly onPage: (page: number) => void;
}) {
  const turn = (icon: typeof ChevronLeft, name: MessageKey, to: number, isThere: boolean) => (
    <Button
      kind="quiet"
      size="small"
      square
      icon={icon}
      aria-label={t(name)}
      busy={!isThere}
      onClick={() => onPage(to)}
    />
  );
  return (
    <div className={styles.foot}>
      <span>{t('table.place', { from, to, total })}</span>
      {pages > 1 && (
        <span className={styles.pages}>
          {turn(ChevronLeft, 'table.page_before', page - 1, page > 1)}
          {turn(ChevronRight, 'table.page_after', page + 1, page < pages)}
        </span>
      )}
    </div>
  );
}

/**
 * Rows in columns: sorted and in pages, both in the address of the page, so that it can be sent to others. In a narrow place each row becomes a card.
 * @param search what the address says; @param onSearch changes it
 * @param total how many rows there are in all, where `rows` has not all of them
 */
export function Table<Row>({
  name,
  columns,
  rows,
  keyOf,
  firstSort,
  search,
  onSearch,
  total,
}: {
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly firstSort: Sort;
  readonly search: TableSearch;
  readonly onSearch: (change: TableSearch) => void;
  readonly total?: number;
}) {
  const { language } = usePlace();
  const sortable = columns.filter(({ sortBy }) => sortBy);
  const sort =
    parseSort(
      search.sort,
      sortable.map(({ key }) => key),
    ) ?? firstSort;
  const sortBy = columns.find(({ key }) => key === sort.key)?.sortBy;
  const sorted = sortBy ? sortRows(rows, sortBy, sort.descending, language) : rows;
  const page = pageOf(sorted, search.page ?? 1, rowsOnPage);
  return (
    <div className={styles.frame}>
      <table className={styles.table}>
        <caption className="hidden">{name}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head
                key={column.key}
                column={column}
                sort={sort}
                onSort={(next) => onSearch({ sort: sortText(next), page: 1 })}
              />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={moveBetweenRows}>
          {page.rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ key, name: title, cell, end = false }, place) => (
                <td key={key} data-name={t(title)} className={classes(end && styles.end)}>
                  {place === 0 ? <div className={styles.title}>{cell(row)}</div> : cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Foot page={page} total={total ?? rows.length} onPage={(to) => onSearch({ page: to })} />
    </div>
  );
}

/** What stands above a table: its search, its filters. */
export const TableTools = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.tools}>{children}</div>
);
