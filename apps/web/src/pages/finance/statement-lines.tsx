import { useState } from 'react';
import { choiceName } from '../../commands/words.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { numberText } from '../../parts/format.ts';
import { moneyText } from '../../parts/money-text.ts';
import { Table, type Column } from '../../parts/table.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import { ResourceName } from '../ads/attribute-value.tsx';
import { sumOf, type StatementLine } from './statement.ts';
import styles from './finance.module.css';

const isByUnits = ({ model }: StatementLine) => model === 'cpm' || model === 'cpcv';

const columnsOf = (workspace: string, currency: string, language: string): readonly Column<StatementLine>[] => [
  {
    ...{ key: 'name', name: 'field.line_item_id', sortBy: ({ name }) => name },
    cell: ({ line_item_id: id }) => <ResourceName workspace={workspace} id={id} />,
  },
  {
    ...{ key: 'price', name: 'finance.price' },
    cell: (line) => (
      <span>
        <span className="number">{moneyText(line.price_micros, currency, language)}</span> {choiceName(line.model)}
        <small className={styles.note}>
          {t('finance.price_since')} <Time at={line.rate_from} />
        </small>
      </span>
    ),
  },
  {
    ...{ key: 'basis', name: 'field.counting_basis' },
    cell: (line) => (isByUnits(line) ? choiceName(line.basis) : t('finance.local_days')),
  },
  {
    ...{ key: 'units', name: 'finance.charged', end: true, descendingFirst: true },
    sortBy: (line) => (isByUnits(line) ? line.units : line.days),
    cell: (line) => numberText(isByUnits(line) ? line.units : line.days, language).replace('-', '−'),
  },
  {
    ...{ key: 'amount', name: 'field.amount_micros', end: true, descendingFirst: true },
    sortBy: ({ amount_micros: micros }) => Number(micros),
    cell: ({ amount_micros: micros }) => moneyText(micros, currency, language),
  },
];

/** Lines of a statement of one kind, and their sum. */
export function LinesCard({
  title,
  basis,
  lines,
  currency,
  workspace,
}: {
  readonly title: string;
  readonly basis: string;
  readonly lines: readonly StatementLine[];
  readonly currency: string;
  readonly workspace: string;
}) {
  const { language } = usePlace();
  const [search, setSearch] = useState<TableSearch>({});
  return (
    <Card title={title} basis={basis} plain>
      <Table
        name={title}
        columns={columnsOf(workspace, currency, language)}
        rows={lines}
        keyOf={({ line_item_id: id, rate_from: from, kind }) => `${id} ${from} ${kind}`}
        firstSort={{ key: 'name', descending: false }}
        search={search}
        onSearch={(change) => setSearch((former) => changedSearch(former, change))}
      />
      <p className={styles.sum}>
        {t('finance.sum')} <b className="number">{moneyText(sumOf(lines), currency, language)}</b>
      </p>
    </Card>
  );
}
