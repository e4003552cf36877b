import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { RotateCw, SearchX } from 'lucide-react';
import { useEffect } from 'react';
import { get, list, type Answer, type Item, type Listing } from '../../api/queries.ts';
import { asProblem } from '../../api/problems.ts';
import { useSend } from '../../api/send.ts';
import { classes } from '../../look/classes.ts';
import { t } from '../../messages/messages.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card, Pairs } from '../../parts/card.tsx';
import cards from '../../parts/card.module.css';
import { Empty } from '../../parts/empty.tsx';
import { SearchField } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Table, TableTools, type Column } from '../../parts/table.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { showToast } from '../../parts/toast.tsx';
import styles from './import-page.module.css';
import { progressOf } from './import-progress.ts';
import { titleHas } from './title-has.ts';

const route = getRouteApi('/podcasts/$podcastId/import');
type Import = Answer<'/podcasts/{id}/import'>;
type ImportItem = Item<'/podcasts/{id}/import/items'>;
type State = NonNullable<ImportItem['state']>;

/** How often an import that is under way is read again. */
const againMs = 3000;

const tones: Readonly<Record<State, Tone>> = {
  ...{ failed: 'bad', waiting: 'plain', encoding: 'tide', encoded: 'plain', scheduled: 'dusk', published: 'good' },
  ...{ unpublished: 'warn', archived: 'plain' },
};

const notes = (of: ImportItem['changed']) => (of ?? []).map(({ field, detail }) => `${field}: ${detail}`);

/** Tries one failed item again: its file is fetched and encoded once more. */
function RetryButton({ position }: { readonly position: number | undefined }) {
  const { podcastId } = route.useParams();
  const retry = useSend('post', '/podcasts/{id}/import/retry');
  const body = position === undefined ? {} : { position };
  return (
    <>
      <Button
        size={position === undefined ? 'normal' : 'small'}
        icon={RotateCw}
        busy={retry.isPending}
        onClick={() => retry.mutate({ path: { id: podcastId }, body })}
      >
        {t(position === undefined ? 'import.retry_all' : 'retry')}
      </Button>
      {retry.error !== null && (
        <p className={styles.why} lang="en" role="alert">
          {asProblem(retry.error).message}
        </p>
      )}
    </>
  );
}

const columns: readonly Column<ImportItem>[] = [
  {
    key: 'title',
    name: 'episodes.episode',
    sortBy: ({ title }) => title,
    cell: ({ title, episode_id: episodeId }) =>
      episodeId === undefined ? (
        <span className={classes('voice', styles.left)}>{title}</span>
      ) : (
        <Link className="voice" to="/episodes/$episodeId" params={{ episodeId }}>
          {title}
        </Link>
      ),
  },
  {
    key: 'state',
    name: 'state',
    sortBy: ({ state }) => state,
    cell: ({ state }) => state && <Badge tone={tones[state]} name={`import.state_${state}`} />,
  },
  {
    key: 'report',
    name: 'import.report',
    cell: ({ problem, changed, lost }) => (
      <span className={styles.why} lang="en">
        {[...(problem === undefined ? [] : [problem]), ...notes(changed), ...notes(lost)].join(' · ')}
      </span>
    ),
  },
  {
    key: 'again',
    name: 'import.again',
    cell: ({ state, episode_id: episodeId, position }) =>
      state === 'failed' && episodeId !== undefined && <RetryButton position={position} />,
  },
  {
    key: 'place',
    name: 'import.place',
    sortBy: ({ position }) => position,
    end: true,
    cell: ({ position }) => position,
  },
];

/** @param mayRetry whether something failed that has an episode: only that can be tried again */
function Summary({
  moved,
  podcastId,
  mayRetry,
}: {
  readonly moved: Import;
  readonly podcastId: string;
  readonly mayRetry: boolean;
}) {
  const { done, total, isUnderway, drafts } = progressOf(moved);
  const publish = useSend('post', '/podcasts/{id}/import/publish');
  const path = { id: podcastId };
  const go = () => publish.mutate({ path, body: {} }, { onSuccess: () => showToast(t('import.publishing')) });
  const { failed, published, scheduled } = moved;
  const channel = [...moved.channel.changed, ...moved.channel.lost];
  return (
    <Card title={t(isUnderway ? 'import.underway' : 'import.ended')} basis={moved.feed_url}>
      <div className={styles.summary}>
        {moved.problem && <p lang="en">{moved.problem.detail}</p>}
        {isUnderway && total > 0 && <progress value={done} max={total} aria-label={t('import.underway')} />}
        <p role="status">{total > 0 ? t('import.progress', { done, total }) : t('import.reading')}</p>
        <Pairs
          of={[
            [t('import.state_failed'), failed || undefined],
            [t('state.published'), published || undefined],
            [t('state.scheduled'), scheduled || undefined],
            [t('import.drafts'), drafts || undefined],
            ...channel.map(
              ({ field, detail }) =>
                [
                  field,
                  <span key={field} lang="en">
                    {detail}
                  </span>,
                ] as const,
            ),
          ]}
        />
        {publish.error !== null && <ProblemBanner error={publish.error} />}
        <div className={styles.ends}>
          {drafts > 0 && (
            <Button busy={publish.isPending} onClick={go}>
              {t('import.publish_drafts', { drafts })}
            </Button>
          )}
          {mayRetry && moved.state !== 'running' && <RetryButton position={undefined} />}
          <a className={buttonClass()} href={`/api/v1/podcasts/${podcastId}/import/items.csv`} download>
            {t('import.csv')}
          </a>
        </div>
      </div>
    </Card>
  );
}

function Items({ items: { items, total } }: { readonly items: Listing<ImportItem> }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = (change: TableSearch) =>
    void navigate({ search: (former) => changedSearch(former, change), replace: true, resetScroll: false });
  const rows = items.filter(({ title }) => titleHas(title, search.q));
  return (
    <section className={cards.card} aria-label={t('import.items')}>
      <TableTools>
        <SearchField name={t('episodes.search')} value={search.q ?? ''} onChange={(q) => onSearch({ q, page: 1 })} />
      </TableTools>
      {rows.length > 0 ? (
        <Table
          name={t('import.items')}
          columns={columns}
          rows={rows}
          keyOf={({ position, guid, title }) => `${position} ${guid ?? title}`}
          firstSort={{ key: 'place', descending: false }}
          search={search}
          onSearch={onSearch}
          total={search.q === undefined ? total : rows.length}
        />
      ) : (
        <Empty icon={SearchX} title="filtered.none" why="filtered.none_why" />
      )}
    </section>
  );
}

/** How far a show that was moved in is, and what became of each item of its feed. */
export function ImportReportPage() {
  const { podcastId } = route.useParams();
  const path = { id: podcastId };
  const query = useQuery({
    ...get('/podcasts/{id}/import', { path }),
    refetchInterval: ({ state: { data } }) => (data && progressOf(data.data).isUnderway ? againMs : false),
  });
  const isUnderway = query.data && progressOf(query.data).isUnderway;
  const items = useQuery({
    ...list('/podcasts/{id}/import/items', { path }),
    enabled: query.data !== undefined,
    refetchInterval: isUnderway ? againMs : false,
  });
  // The items may have been read before the counts that say that all is done.
  const { refetch } = items;
  useEffect(() => {
    if (isUnderway === false) void refetch({ cancelRefetch: false });
  }, [isUnderway, refetch]);
  return (
    <Loaded query={query} lines={6}>
      {(moved) => (
        <>
          <Summary
            moved={moved}
            podcastId={podcastId}
            mayRetry={(items.data?.items ?? []).some((one) => one.state === 'failed' && one.episode_id !== undefined)}
          />
          <Loaded query={items} lines={8}>
            {(found) => (found.items.length > 0 ? <Items items={found} /> : null)}
          </Loaded>
        </>
      )}
    </Loaded>
  );
}
