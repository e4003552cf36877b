import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Megaphone, Plus, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { seesCampaigns, useWorkspace, type Workspace } from '../../api/me.ts';
import { resourcesQuery, type Resource } from '../../api/management.ts';
import { makingCommand } from '../../commands/allowed.ts';
import { nameOf } from '../../commands/name-of.ts';
import type { TypeForms } from '../../commands/type-forms.ts';
import { commandName, stateName, typeName } from '../../commands/words.ts';
import { hasText, t, type MessageKey } from '../../messages/messages.ts';
import { buttonClass } from '../../parts/button.tsx';
import cards from '../../parts/card.module.css';
import { Empty } from '../../parts/empty.tsx';
import { SearchField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Table, TableTools } from '../../parts/table.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { financeReaders } from '../../shell/ad-place-types.ts';
import { NotFoundPage } from '../../shell/not-found-page.tsx';
import { columnsOf } from './columns.tsx';
import { ServingNote } from './serving-note.tsx';
import { hasForms, useForms, type FormType } from './type-forms.ts';
import { neighboursOf } from './neighbours.ts';
import styles from './ads.module.css';

const route = getRouteApi('/w/$ws/$type');

/** The way to make a new one of a type, where the person may. */
export function NewLink({
  workspace,
  forms,
  start,
}: {
  readonly workspace: Workspace;
  readonly forms: TypeForms;
  readonly start?: Readonly<Record<string, string>>;
}) {
  const making = makingCommand(forms, workspace.roles);
  if (!making) return null;
  return (
    <Link
      className={buttonClass()}
      to="/w/$ws/$type/new"
      params={{ ws: workspace.id, type: forms.type }}
      search={start ?? {}}
    >
      <Icon of={Plus} size={16} />
      {commandName(making.type, forms.type)}
    </Link>
  );
}

/** Rows of a type with their search and their states. */
function Rows({
  workspace,
  forms,
  rows,
}: {
  readonly workspace: Workspace;
  readonly forms: TypeForms;
  readonly rows: readonly Resource[];
}) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = (change: TableSearch) =>
    void navigate({ search: (former) => changedSearch(former, change), replace: true, resetScroll: false });
  const { q = '', state = '' } = search;
  const shown = rows.filter(
    (row) =>
      (state === '' || row.lifecycle_state === state) && nameOf(row).toLowerCase().includes(q.trim().toLowerCase()),
  );
  const states = forms.states.filter((each) => rows.some((row) => row.lifecycle_state === each));
  return (
    <section className={cards.card} aria-label={typeName(forms.type)}>
      <TableTools>
        <SearchField
          name={t('ads.search', { type: typeName(forms.type) })}
          value={q}
          onChange={(next) => onSearch({ q: next, page: 1 })}
        />
        <select
          className={styles.states}
          aria-label={t('ads.states')}
          value={state}
          onChange={({ target }) => onSearch({ state: target.value, page: 1 })}
        >
          <option value="">{t('ads.all_states')}</option>
          {states.map((each) => (
            <option key={each} value={each}>
              {stateName(each)}
            </option>
          ))}
        </select>
      </TableTools>
      {shown.length > 0 ? (
        <Table
          name={typeName(forms.type)}
          columns={columnsOf(workspace.id, forms.type)}
          rows={shown}
          keyOf={({ id }) => id}
          firstSort={{ key: 'updated', descending: true }}
          search={search}
          onSearch={onSearch}
        />
      ) : (
        <Empty icon={SearchX} title="filtered.none" why="filtered.none_why" />
      )}
    </section>
  );
}

/** What will be here, and the one next step. */
const whyNone = (type: string): MessageKey => {
  const own = `ads.none_why_${type}`;
  return hasText(own) ? own : 'ads.none_why';
};

function ListOf({ workspace, type }: { readonly workspace: Workspace; readonly type: FormType }) {
  const forms = useForms(type);
  const query = useQuery(resourcesQuery(workspace.id, type));
  const making = <NewLink workspace={workspace} forms={forms} />;
  const tabs = neighboursOf(type).map((each): ReactNode => (
    <Link key={each} to="/w/$ws/$type" params={{ ws: workspace.id, type: each }}>
      {typeName(each)}
    </Link>
  ));
  if (seesCampaigns(workspace))
    tabs.push(
      <Link key="decisions" to="/w/$ws/decisions" params={{ ws: workspace.id }}>
        {t('nav.decisions')}
      </Link>,
    );
  if (workspace.roles.some((role) => financeReaders.includes(role)))
    tabs.push(
      <Link key="finance" to="/w/$ws/finance" params={{ ws: workspace.id }}>
        {t('nav.finance')}
      </Link>,
    );
  tabs.push(
    <Link key="setup" to="/w/$ws/setup" params={{ ws: workspace.id }}>
      {t('nav.setup')}
    </Link>,
  );
  return (
    <Page title={typeName(type)} actions={query.data && query.data.length > 0 ? making : undefined}>
      {tabs.length > 1 && <Tabs name={t('nav.advertising')} links={tabs} />}
      {type === 'serving_plans' && <ServingNote workspace={workspace.id} />}
      <Loaded query={query} lines={8}>
        {(rows) =>
          rows.length > 0 ? (
            <Rows workspace={workspace} forms={forms} rows={rows} />
          ) : (
            <Empty icon={Megaphone} title="ads.none" why={whyNone(type)} next={making} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Every resource of a type in the workspace. */
export function ListPage() {
  const { ws, type } = route.useParams();
  const workspace = useWorkspace(ws);
  if (!workspace || !hasForms(type)) return <NotFoundPage />;
  return <ListOf key={type} workspace={workspace} type={type} />;
}
