import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ListTree, SearchX } from 'lucide-react';
import { seesCampaigns, useWorkspace, type Workspace } from '../../../api/me.ts';
import { t } from '../../../messages/messages.ts';
import { Button } from '../../../parts/button.tsx';
import cards from '../../../parts/card.module.css';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Page } from '../../../parts/page.tsx';
import { Table, type Column } from '../../../parts/table.tsx';
import { Time } from '../../../parts/time.tsx';
import { NotFoundPage } from '../../../shell/not-found-page.tsx';
import { ResourceName } from '../attribute-value.tsx';
import { decisionsQuery, type DecisionRow } from './decision-queries.ts';
import { parseDecisionSearch, type DecisionSearch, type FoundBy, type Purpose } from './decision-search.ts';
import { windowOf } from './search-window.ts';
import { SearchCard } from './search-card.tsx';
import { noAdReason } from './words.ts';
import styles from './decisions.module.css';

const route = getRouteApi('/w/$ws/decisions');

/** The columns of what was found. The way to a decision goes on with the purpose, and with the line item that was searched for. */
const columnsOf = (ws: string, purpose: Purpose, line: string | undefined): readonly Column<DecisionRow>[] => [
  {
    key: 'at',
    name: 'decisions.played_at',
    cell: ({ decision_id: id, decided_at: at }) => (
      <Link to="/w/$ws/decisions/$id" params={{ ws, id }} search={{ purpose, ...(line !== undefined && { line }) }}>
        <Time at={at} form="moment" />
      </Link>
    ),
  },
  {
    key: 'episode',
    name: 'decisions.episode',
    cell: ({ episode_id: id }) => (
      <span className="voice">
        <ResourceName workspace={ws} id={id} />
      </span>
    ),
  },
  {
    key: 'ads',
    name: 'decisions.ads',
    cell: ({ picks, no_ad_reason: reason }) =>
      picks.length > 0 ? (
        <span>
          {[...new Set(picks.map(({ line_item_id: id }) => id))].map((id, at) => (
            <span key={id}>
              {at > 0 && ', '}
              <ResourceName workspace={ws} id={id} />
            </span>
          ))}
        </span>
      ) : (
        t('decisions.no_ad', { reason: noAdReason(reason) })
      ),
  },
];

function Found({
  workspace,
  search,
  by,
  purpose,
}: {
  readonly workspace: Workspace;
  readonly search: DecisionSearch;
  readonly by: FoundBy;
  readonly purpose: Purpose;
}) {
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(decisionsQuery(workspace.id, by, purpose));
  const further = query.hasNextPage && (
    <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {t('decisions.further')}
    </Button>
  );
  return (
    <Loaded query={query} lines={6}>
      {({ pages }) => {
        const rows = pages.flatMap((page) => page.rows);
        if (rows.length === 0)
          return (
            <Empty
              icon={SearchX}
              title="decisions.none"
              why={query.hasNextPage ? 'decisions.none_yet' : 'decisions.none_why'}
              {...(further && { next: further })}
            />
          );
        return (
          <section className={cards.card} aria-label={t('decisions.found')}>
            <Table
              name={t('decisions.found')}
              columns={columnsOf(workspace.id, purpose, search.line_item_id)}
              rows={rows}
              keyOf={({ decision_id: id }) => id}
              firstSort={{ key: 'at', descending: true }}
              search={{ ...(search.page !== undefined && { page: search.page }) }}
              onSearch={({ page }) =>
                void navigate({
                  search: (former) => parseDecisionSearch({ ...former, page }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
            {further && <div className={styles.further}>{further}</div>}
          </section>
        );
      }}
    </Loaded>
  );
}

function DecisionsOf({ workspace }: { readonly workspace: Workspace }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const queries = useQueryClient();
  const { purpose } = search;
  const found = windowOf(search, workspace.timeZone, Date.now());
  const onSearch = (next: DecisionSearch) => {
    // Asked once more, a search is a new reading.
    if (JSON.stringify(next) === JSON.stringify({ ...search, page: undefined }))
      return void queries.resetQueries({ queryKey: ['decisions', workspace.id], type: 'active' });
    queries.removeQueries({ queryKey: ['decisions', workspace.id], type: 'inactive' });
    return void navigate({ search: next, resetScroll: false });
  };
  return (
    <Page title={t('nav.decisions')}>
      <SearchCard key={JSON.stringify(search)} workspace={workspace} search={search} onSearch={onSearch} />
      {purpose !== undefined && found.fault === undefined ? (
        <Found workspace={workspace} search={search} by={{ ...foundBy(search), ...found.by }} purpose={purpose} />
      ) : (
        <Empty icon={ListTree} title="decisions.intro" why="decisions.intro_why" />
      )}
    </Page>
  );
}

const foundBy = ({ line_item_id, verdict, podcast_id, episode_id, outcome }: DecisionSearch): FoundBy => ({
  ...(line_item_id !== undefined && { line_item_id }),
  ...(verdict !== undefined && { verdict }),
  ...(podcast_id !== undefined && { podcast_id }),
  ...(episode_id !== undefined && { episode_id }),
  ...(outcome !== undefined && { outcome }),
});

/** Finds decisions about ads by line item, episode and time. Whoever may not read them sees the page of what is not there. */
export function DecisionsPage() {
  const workspace = useWorkspace(route.useParams().ws);
  return workspace && seesCampaigns(workspace) ? <DecisionsOf workspace={workspace} /> : <NotFoundPage />;
}
