import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Mic, Plus, SearchX } from 'lucide-react';
import { useHasRole } from '../../api/me.ts';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { Artwork } from '../../parts/artwork.tsx';
import { StateBadge } from '../../parts/badge.tsx';
import { buttonClass } from '../../parts/button.tsx';
import cards from '../../parts/card.module.css';
import { Empty } from '../../parts/empty.tsx';
import { SearchField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Table, TableTools, type Column } from '../../parts/table.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { Time } from '../../parts/time.tsx';
import { numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { titleHas } from './title-has.ts';
import { FirstSteps } from './first-steps.tsx';
import { isCounted, overviewQuery, podcastsQuery, type PodcastRow } from './podcast-queries.ts';

type Overview = Answer<'/podcasts/{id}/overview'>;
interface Row extends PodcastRow {
  readonly overview: Overview | undefined;
}

const route = getRouteApi('/podcasts');

function columnsOf(language: string): readonly Column<Row>[] {
  return [
    {
      key: 'title',
      name: 'podcasts.podcast',
      sortBy: ({ title }) => title,
      cell: ({ id, title, artwork }) => (
        <>
          <Artwork of={artwork} title={title} size="small" />
          <Link className="voice" to="/podcasts/$podcastId" params={{ podcastId: id }}>
            {title}
          </Link>
        </>
      ),
    },
    {
      key: 'state',
      name: 'state',
      sortBy: ({ state }) => state,
      cell: ({ state }) => state && <StateBadge state={state} />,
    },
    {
      key: 'latest',
      name: 'podcasts.latest',
      descendingFirst: true,
      sortBy: ({ overview }) => overview?.episodes.latest?.published_at,
      cell: ({ overview }) => overview?.episodes.latest && <Time at={overview.episodes.latest.published_at} />,
    },
    {
      key: 'episodes',
      name: 'podcasts.published',
      descendingFirst: true,
      end: true,
      sortBy: ({ overview }) => overview?.episodes.published,
      cell: ({ overview }) => overview && numberText(overview.episodes.published, language),
    },
    {
      key: 'downloads',
      name: 'downloads.last_7_days',
      descendingFirst: true,
      end: true,
      sortBy: ({ overview }) => overview?.downloads?.last_7_days,
      cell: ({ overview }) => overview?.downloads && numberText(overview.downloads.last_7_days, language),
    },
  ];
}

function Podcasts({ podcasts, total }: { readonly podcasts: readonly PodcastRow[]; readonly total: number }) {
  const { language } = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const overviews = useQueries({
    queries: podcasts.map((podcast) => ({ ...overviewQuery(podcast.id), enabled: isCounted(podcast) })),
  });
  const all = podcasts.map((podcast, place): Row => ({ ...podcast, overview: overviews[place]?.data }));
  const rows = all.filter(({ title }) => titleHas(title, search.q));
  const onSearch = (change: TableSearch) =>
    void navigate({ search: (former) => changedSearch(former, change), replace: true, resetScroll: false });
  return (
    <section className={cards.card} aria-label={t('nav.podcasts')}>
      <TableTools>
        <SearchField name={t('podcasts.search')} value={search.q ?? ''} onChange={(q) => onSearch({ q, page: 1 })} />
      </TableTools>
      {rows.length > 0 ? (
        <Table
          name={t('nav.podcasts')}
          columns={columnsOf(language)}
          rows={rows}
          keyOf={({ id }) => id}
          firstSort={{ key: 'title', descending: false }}
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

/** Every podcast that the session can see. */
export function PodcastsPage() {
  const query = useQuery(podcastsQuery);
  const mayMake = useHasRole('owner');
  return (
    <Page
      title={t('nav.podcasts')}
      actions={
        mayMake &&
        query.data &&
        query.data.items.length > 0 && (
          <>
            <Link className={buttonClass()} to="/podcasts/import">
              {t('import.title')}
            </Link>
            <Link className={buttonClass()} to="/podcasts/new">
              <Icon of={Plus} size={16} />
              {t('new_podcast.title')}
            </Link>
          </>
        )
      }
    >
      <Loaded query={query} lines={8}>
        {({ items, total }) =>
          items.length > 0 ? (
            <Podcasts podcasts={items} total={total} />
          ) : (
            <Empty icon={Mic} title="podcasts.none" why="podcasts.none_why" next={<FirstSteps />} />
          )
        }
      </Loaded>
    </Page>
  );
}
