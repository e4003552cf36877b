import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ListMusic, SearchX } from 'lucide-react';
import type { Listing } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import cards from '../../parts/card.module.css';
import { Empty } from '../../parts/empty.tsx';
import { SearchField } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Table, TableTools } from '../../parts/table.tsx';
import { changedSearch, type TableSearch } from '../../parts/table-rows.ts';
import { usePlace } from '../../shell/place.ts';
import { episodeColumns, type EpisodeWithDownloads } from './episode-columns.tsx';
import { titleHas } from './title-has.ts';
import { episodeDownloadsQuery, episodesQuery, isCounted, podcastQuery, type EpisodeRow } from './podcast-queries.ts';

const route = getRouteApi('/podcasts/$podcastId/');
const states = [
  { value: 'all', name: 'episodes.all' },
  { value: 'published', name: 'state.published' },
  { value: 'scheduled', name: 'state.scheduled' },
  { value: 'draft', name: 'state.draft' },
] as const;
type StateChoice = (typeof states)[number]['value'];

const stateOf = (text: string | undefined): StateChoice => states.find(({ value }) => value === text)?.value ?? 'all';

function Episodes({ episodes: { items, total } }: { readonly episodes: Listing<EpisodeRow> }) {
  const { podcastId } = route.useParams();
  const { language } = usePlace();
  const { data: podcast } = useQuery(podcastQuery(podcastId));
  const { data: counted, error } = useQuery({
    ...episodeDownloadsQuery(podcastId),
    enabled: podcast !== undefined && isCounted(podcast) && podcast.analytics === 'available',
  });
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const onSearch = (change: TableSearch) =>
    void navigate({ search: (former) => changedSearch(former, change), replace: true, resetScroll: false });
  const state = stateOf(search.state);
  const downloads = new Map(counted?.objects.map((one) => [one.episode_id, one.downloads]));
  const rows = items
    .filter((episode) => (state === 'all' || episode.state === state) && titleHas(episode.title, search.q))
    .map((episode): EpisodeWithDownloads => ({ ...episode, downloads: downloads.get(episode.id) }));
  return (
    <>
      {error && <ProblemBanner error={error} />}
      <section className={cards.card} aria-label={t('podcast.tab_episodes')}>
        <TableTools>
          <SearchField name={t('episodes.search')} value={search.q ?? ''} onChange={(q) => onSearch({ q, page: 1 })} />
          <Segments
            name={t('state')}
            value={state}
            choices={states}
            onChange={(value) => onSearch({ state: value === 'all' ? '' : value, page: 1 })}
          />
        </TableTools>
        {rows.length > 0 ? (
          <Table
            name={t('podcast.tab_episodes')}
            columns={episodeColumns(language)}
            rows={rows}
            keyOf={({ id }) => id}
            firstSort={{ key: 'date', descending: true }}
            search={search}
            onSearch={onSearch}
            total={rows.length === items.length ? total : rows.length}
          />
        ) : (
          <Empty icon={SearchX} title="filtered.none" why="filtered.none_why" />
        )}
      </section>
    </>
  );
}

/** The episodes of a podcast. */
export function EpisodesPage() {
  const { podcastId } = route.useParams();
  const query = useQuery(episodesQuery(podcastId));
  return (
    <Loaded query={query} lines={8}>
      {(episodes) =>
        episodes.items.length > 0 ? (
          <Episodes episodes={episodes} />
        ) : (
          <Empty icon={ListMusic} title="episodes.none" why="episodes.none_why" />
        )
      }
    </Loaded>
  );
}
