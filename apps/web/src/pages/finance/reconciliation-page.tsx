import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { allowedCommands } from '../../commands/allowed.ts';
import { nameOf } from '../../commands/name-of.ts';
import { t } from '../../messages/messages.ts';
import { Column } from '../../parts/card.tsx';
import { changeText, numberText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { usePlace } from '../../shell/place.ts';
import adLooks from '../ads/ads.module.css';
import { Figure, Figures } from '../ads/figure.tsx';
import { HistoryCard } from '../ads/history-card.tsx';
import { ResourceFrame } from '../ads/resource-frame.tsx';
import { DecideCard } from './decide-card.tsx';
import { FinanceResource, type PageOf } from './finance-resource.tsx';
import { itemsByFate, itemsQuery, type Item } from './items.ts';
import { ItemsCard, ItemsTable, signed } from './items-card.tsx';
import { MakegoodsCard } from './makegoods-card.tsx';
import { FactsCard, FindingsCard, FoundCard, type Reconciliation } from './reconciliation-cards.tsx';
import styles from './finance.module.css';

const route = getRouteApi('/w/$ws/$type/$id');

const ofTheItems = ['reconciliation.decide_item'];

/** Both totals, and how far they are from each other. */
function Totals({ of: { totals } }: { readonly of: Reconciliation }) {
  const { language } = usePlace();
  if (!totals) return null;
  const { ours, theirs, items, for_people: forPeople, undecided } = totals;
  const delta = theirs - ours;
  return (
    <Figures>
      <Figure name={t('finance.ours')} value={numberText(ours, language)} note={t('finance.units')} />
      <Figure name={t('finance.theirs')} value={numberText(theirs, language)} note={t('finance.units')} />
      <Figure
        name={t('finance.delta')}
        value={signed(delta, language)}
        note={ours === 0 ? t('finance.units') : t('finance.delta_note', { share: changeText(delta / ours, language) })}
      />
      <Figure
        name={t('field.undecided')}
        value={numberText(undecided, language)}
        note={t('finance.undecided_note', {
          people: numberText(forPeople, language),
          items: numberText(items, language),
        })}
      />
    </Figures>
  );
}

/** Items that the tolerance has decided by itself, folded. */
function Passed(table: Pick<Parameters<typeof ItemsTable>[0], 'items' | 'workspace' | 'reconciliation' | 'mayDecide'>) {
  const { language } = usePlace();
  const [search, setSearch] = useState<TableSearch>({});
  const { length } = table.items;
  return (
    <details className={styles.folded}>
      <summary>{t('finance.passed_items', { items: length, shown: numberText(length, language) })}</summary>
      <ItemsTable
        {...table}
        name={t('finance.within_tolerance')}
        isOpen={false}
        search={search}
        onSearch={(change) => setSearch((former) => changedSearch(former, change))}
      />
    </details>
  );
}

/** Open differences first; then what people decided; what the tolerance passed is folded. */
function Items({ page, items }: { readonly page: PageOf<Reconciliation>; readonly items: readonly Item[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { language } = usePlace();
  const [ofDecided, setOfDecided] = useState<TableSearch>({});
  const { workspace, forms, resource } = page;
  const { open, decided, passed } = itemsByFate(items);
  const form = allowedCommands(forms, resource.lifecycle_state, workspace.roles).find(({ type }) =>
    ofTheItems.includes(type),
  );
  const chosen = items.find(({ item_id: id }) => id === search.item);
  const common = { workspace: workspace.id, reconciliation: resource.id, mayDecide: form !== undefined };
  const onSearch = (change: TableSearch) =>
    void navigate({
      search: ({ item, ...former }) => ({ ...changedSearch(former, change), ...(item !== undefined && { item }) }),
      ...{ replace: true, resetScroll: false },
    });
  const total = resource.attributes.totals?.items ?? items.length;
  return (
    <>
      {form && chosen && <DecideCard key={chosen.item_id} page={page} form={form} item={chosen} />}
      {open.length > 0 && (
        <ItemsCard
          {...common}
          title={t('finance.open_items')}
          items={open}
          isOpen
          search={search}
          onSearch={onSearch}
        />
      )}
      {open.length === 0 && total > 0 && <p className={styles.settled}>{t('finance.none_open')}</p>}
      {decided.length > 0 && (
        <ItemsCard
          {...common}
          title={t('finance.decided_items')}
          items={decided}
          isOpen={false}
          search={ofDecided}
          onSearch={(change) => setOfDecided((former) => changedSearch(former, change))}
        />
      )}
      {passed.length > 0 && <Passed {...common} items={passed} />}
      {items.length < total && (
        <p>
          {t('finance.items_cut', { shown: numberText(items.length, language), total: numberText(total, language) })}
        </p>
      )}
    </>
  );
}

function ReconciliationOf({ page }: { readonly page: PageOf<Reconciliation> }) {
  const { workspace, forms, resource } = page;
  const { attributes, lifecycle_state: state } = resource;
  const isMatched = attributes.totals !== undefined && state !== 'cancelled';
  const query = useQuery({ ...itemsQuery(workspace.id, resource.id), enabled: isMatched });
  const lines = (query.data ?? []).map(({ line_item_id: line }) => line);
  return (
    <ResourceFrame {...{ workspace, forms, resource }} without={ofTheItems}>
      <FindingsCard of={attributes} />
      {state === 'matching' && <p role="status">{t('finance.matching')}</p>}
      <Totals of={attributes} />
      {isMatched && (
        <Loaded query={query} lines={6}>
          {(items) => <Items page={page} items={items} />}
        </Loaded>
      )}
      <div className={adLooks.columns}>
        <Column>
          <FoundCard of={attributes} />
          <HistoryCard workspace={workspace.id} type="reconciliations" id={resource.id} />
        </Column>
        <Column>
          <FactsCard workspace={workspace.id} of={attributes} name={nameOf(resource)} />
          <MakegoodsCard
            workspace={workspace}
            lines={[...new Set([...(attributes.scope.line_item_ids ?? []), ...lines])]}
          />
        </Column>
      </div>
    </ResourceFrame>
  );
}

/** One reconciliation: the buyer's numbers beside ours, and what people decide where they differ. */
export function ReconciliationPage() {
  const { ws, id } = route.useParams();
  return (
    <FinanceResource<Reconciliation> key={id} ws={ws} type="reconciliations" id={id}>
      {(page) => <ReconciliationOf page={page} />}
    </FinanceResource>
  );
}
