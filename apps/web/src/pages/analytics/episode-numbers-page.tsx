import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import cards from '../../parts/card.module.css';
import { dayIn } from '../../parts/chart/calendar.ts';
import { Failed, Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../shell/place.ts';
import { episodeQuery } from '../episodes/episode-queries.ts';
import { podcastQuery } from '../podcasts/podcast-queries.ts';
import { episodesAtAgeQuery } from './analytics-queries.ts';
import { ages, changedAnalytics, daysOf, type Age, type AnalyticsSearch } from './analytics-search.ts';
import { DimensionCards } from './dimension-card.tsx';
import { Completeness, DownloadsCard, useSeries } from './downloads-card.tsx';
import { rowsOf } from './episode-rows.ts';
import { Change, Figure } from './figures.tsx';
import { NoNumbers } from './no-numbers.tsx';
import { CompareChoice, RangeBar } from './range-bar.tsx';
import { shortName } from './series-data.ts';
import styles from './analytics.module.css';

type Episode = Answer<'/episodes/{id}'>;
type AtAgeData = Answer<'/podcasts/{id}/analytics/episodes'>;
const route = getRouteApi('/episodes/$episodeId/numbers');

/** Downloads of so many first days, against those of a typical episode of the podcast. Nothing is said of them before they are known. */
function AtAge({ id, age, data }: { readonly id: string; readonly age: Age; readonly data: AtAgeData | undefined }) {
  const row = data && rowsOf(data, data, Number(age)).find((each) => each.id === id);
  const basis = () => {
    if (!data) return null;
    if (!row) return t('analytics.beyond');
    if (row.isYoung) return t('analytics.so_far');
    if (row.against === undefined) return t('analytics.nothing_typical');
    return (
      <>
        <Change of={row.against} /> {t('analytics.than_typical')}
      </>
    );
  };
  return <Figure name={t(`analytics.age_${age}`)} value={row?.first} basis={basis()} />;
}

function Numbers({ episode, publishedAt }: { readonly episode: Episode; readonly publishedAt: string }) {
  const place = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const today = dayIn(place.zone, new Date());
  const days = daysOf(search, today);
  const of = { podcastId: episode.podcast_id, episodeId: episode.id };
  const countedSince = dayIn(place.zone, new Date(publishedAt));
  const { query } = useSeries(of, search, days, countedSince);
  const atAge = useQueries({ queries: ages.map((age) => episodesAtAgeQuery(episode.podcast_id, Number(age))) });
  const onChange = (change: AnalyticsSearch) =>
    void navigate({ search: (former: AnalyticsSearch) => changedAnalytics(former, change), resetScroll: false });
  return (
    <>
      <section className={cards.card} aria-label={t('analytics.first_days')}>
        <dl className={styles.figures}>
          {ages.map((age, place) => (
            <AtAge key={age} id={episode.id} age={age} data={atAge[place]?.data} />
          ))}
        </dl>
        <Failed queries={atAge} />
      </section>
      <RangeBar
        search={search}
        days={days}
        today={today}
        end={<Completeness meta={query.data?.meta} />}
        onChange={onChange}
      >
        <CompareChoice search={search} onChange={onChange} />
      </RangeBar>
      <DownloadsCard
        of={of}
        title={episode.title}
        search={search}
        days={days}
        countedSince={countedSince}
        episodes={[{ at: publishedAt, place: shortName(episode.season, episode.number, episode.title) }]}
        onChange={onChange}
      />
      <DimensionCards of={of} days={days} />
    </>
  );
}

/** The numbers of one episode: its first days against those of a typical one, and its course. */
export function EpisodeNumbersPage() {
  const { episodeId } = route.useParams();
  const query = useQuery(episodeQuery(episodeId));
  const podcastOf = query.data?.podcast_id;
  const podcast = useQuery({ ...podcastQuery(podcastOf ?? ''), enabled: podcastOf !== undefined });
  return (
    <Loaded query={query} lines={8}>
      {(episode) => (
        <Loaded query={podcast} lines={8}>
          {(of) => (
            <NoNumbers of={of} episodeState={episode.state}>
              <Numbers episode={episode} publishedAt={episode.published_at ?? episode.created_at} />
            </NoNumbers>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
