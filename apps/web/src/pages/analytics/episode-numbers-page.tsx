import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import cards from '../../parts/card.module.css';
import { dayIn } from '../../parts/chart/calendar.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
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
const route = getRouteApi('/episodes/$episodeId/numbers');

/** Downloads of so many first days, against those of a typical episode of the podcast. */
function AtAge({ episode, age }: { readonly episode: Episode; readonly age: Age }) {
  const { data } = useQuery(episodesAtAgeQuery(episode.podcast_id, Number(age)));
  const row = data && rowsOf(data, data, Number(age)).find(({ id }) => id === episode.id);
  const basis = () => {
    if (data && !row) return t('analytics.beyond');
    if (row?.isYoung) return t('analytics.so_far');
    if (row?.against === undefined) return t('analytics.nothing_typical');
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
  const onChange = (change: AnalyticsSearch) =>
    void navigate({ search: (former: AnalyticsSearch) => changedAnalytics(former, change), resetScroll: false });
  return (
    <>
      <section className={cards.card} aria-label={t('analytics.first_days')}>
        <dl className={styles.figures}>
          {ages.map((age) => (
            <AtAge key={age} episode={episode} age={age} />
          ))}
        </dl>
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
  const { data: episode } = useQuery(episodeQuery(episodeId));
  const podcastOf = episode?.podcast_id ?? '';
  const { data: podcast } = useQuery({ ...podcastQuery(podcastOf), enabled: episode !== undefined });
  if (!episode || !podcast) return <Skeleton lines={8} />;
  return (
    <NoNumbers of={podcast} episodeState={episode.state}>
      <Numbers episode={episode} publishedAt={episode.published_at ?? episode.created_at} />
    </NoNumbers>
  );
}
