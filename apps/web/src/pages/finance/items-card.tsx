import { Link } from '@tanstack/react-router';
import { choiceName } from '../../commands/words.ts';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Badge } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { changeText, instantText, numberText } from '../../parts/format.ts';
import { Table, type Column } from '../../parts/table.tsx';
import type { TableSearch } from '../../parts/table-rows.ts';
import { usePlace } from '../../shell/place.ts';
import { NameOf, ResourceName } from '../ads/attribute-value.tsx';
import { decidedUnits, whyOpen, type Item } from './items.ts';
import styles from './finance.module.css';

/** A date of an item, in the zone of its source: no zone moves it. */
export function Day({ of }: { readonly of: string | null }) {
  const { language } = usePlace();
  return of === null ? t('finance.whole_period') : instantText(`${of}T00:00:00Z`, 'day', { zone: 'UTC', language });
}

const numbers = (language: string): readonly Column<Item>[] => [
  {
    ...{ key: 'ours', name: 'finance.ours', end: true, descendingFirst: true, sortBy: ({ ours }) => ours },
    cell: ({ ours }) => numberText(ours, language),
  },
  {
    ...{ key: 'theirs', name: 'finance.theirs', end: true, descendingFirst: true, sortBy: ({ theirs }) => theirs },
    cell: ({ theirs }) => numberText(theirs, language),
  },
  {
    ...{ key: 'delta', name: 'finance.delta', end: true, descendingFirst: true },
    sortBy: ({ delta }) => Math.abs(delta),
    cell: ({ delta, delta_pct: pct }) => (
      <span>
        {signed(delta, language)}
        <small className={styles.share}>{pct === null ? '–' : changeText(pct / 100, language)}</small>
      </span>
    ),
  },
];

/** A difference in units, always with its sign. */
export const signed = (units: number, language: string): string =>
  `${units > 0 ? '+' : ''}${numberText(units, language)}`.replace('-', '−');

const decision = (language: string): Column<Item> => ({
  key: 'decision',
  name: 'field.verdict',
  cell: (item) =>
    item.verdict !== null && (
      <span>
        {choiceName(item.verdict)}: <b className="number">{numberText(decidedUnits(item) ?? 0, language)}</b>
        {item.note !== null && <small className={styles.note}>{item.note}</small>}
      </span>
    ),
});

const why: Column<Item> = {
  key: 'why',
  name: 'finance.why',
  cell: (item) => {
    const code = whyOpen(item);
    return code !== undefined && <Badge tone="warn" name={`ambiguity.${code}` as MessageKey} />;
  },
};

/** The numbers of both sides, item by item. */
export function ItemsTable({
  name,
  items,
  workspace,
  reconciliation,
  isOpen,
  mayDecide,
  search,
  onSearch,
}: {
  readonly name: string;
  readonly items: readonly Item[];
  readonly workspace: string;
  readonly reconciliation: string;
  /** Whether nobody has decided them yet. */
  readonly isOpen: boolean;
  readonly mayDecide: boolean;
  readonly search: TableSearch;
  readonly onSearch: (change: TableSearch) => void;
}) {
  const { language } = usePlace();
  const columns: readonly Column<Item>[] = [
    {
      key: 'line',
      name: 'field.line_item_id',
      cell: ({ line_item_id: line, item_id: item }) =>
        mayDecide ? (
          <Link
            to="/w/$ws/$type/$id"
            params={{ ws: workspace, type: 'reconciliations', id: reconciliation }}
            search={{ item }}
          >
            <NameOf workspace={workspace} id={line} />
          </Link>
        ) : (
          <ResourceName workspace={workspace} id={line} />
        ),
    },
    { key: 'day', name: 'field.day', sortBy: ({ day }) => day ?? '', cell: ({ day }) => <Day of={day} /> },
    { key: 'source', name: 'finance.source', sortBy: ({ source }) => source, cell: ({ source }) => source },
    ...numbers(language),
    isOpen ? why : decision(language),
  ];
  return (
    <Table
      {...{ name, columns, search, onSearch }}
      rows={items}
      keyOf={({ item_id: id }) => id}
      firstSort={{ key: 'delta', descending: true }}
    />
  );
}

/** Items in a card of their own; none where there are no such items. */
export function ItemsCard({
  title,
  basis,
  ...table
}: { readonly title: string; readonly basis?: string } & Omit<Parameters<typeof ItemsTable>[0], 'name'>) {
  return (
    <Card title={title} plain {...(basis !== undefined && { basis })}>
      <ItemsTable name={title} {...table} />
    </Card>
  );
}
