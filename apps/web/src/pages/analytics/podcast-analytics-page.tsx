import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Answer } from '../../api/queries.ts';
import { t } from '../../messages/messages.ts';
import { dayIn } from '../../parts/chart/calendar.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { numberText } from '../../parts/format.ts';
import { usePlace } from '../../shell/place.ts';
import { episodesQuery, podcastQuery } from '../podcasts/podcast-queries.ts';
import { adsQuery, episodesAtAgeQuery, listenersQuery } from './analytics-queries.ts';
import { changedAnalytics, daysOf, type AnalyticsSearch, type DayRange } from './analytics-search.ts';
import { Completeness, DownloadsCard, useSeries } from './downloads-card.tsx';
import { EpisodesCard } from './episodes-card.tsx';
import { Figure } from './figures.tsx';
import { ListenersCard } from './listeners-card.tsx';
import { DimensionCards } from './dimension-card.tsx';
import { ExportCard } from './export-card.tsx';
import { NoNumbers } from './no-numbers.tsx';
import { Choice, CompareChoice, RangeBar } from './range-bar.tsx';
import { shortName, totalOf } from './series-data.ts';
import { typicalOf } from './typical.ts';
import styles from './analytics.module.css';

const route = getRouteApi('/podcasts/$podcastId/analytics');
const typicalDays = 7;

/** Figures of a whole podcast: each is counted by itself, none is a sum of others. */
function PodcastFigures({
  podcastId,
  days,
  downloads,
}: {
  readonly podcastId: string;
  readonly days: DayRange;
  readonly downloads: number | undefined;
}) {
  const { language } = usePlace();
  const { data: months } = useQuery(listenersQuery(podcastId));
  const { data: atAge } = useQuery(episodesAtAgeQuery(podcastId, typicalDays));
  const { data: ads } = useQuery(adsQuery(podcastId, days));
  const month = months?.objects.at(-1);
  const delivered = ads?.objects.reduce((sum, bucket) => sum + bucket.ads_delivered, 0);
  const perDownload = delivered === undefined || !downloads ? undefined : delivered / downloads;
  return (
    <>
      <Figure name={t('analytics.listeners')} value={month?.listeners} basis={t('analytics.listeners_basis')} />
      <Figure
        name={t('analytics.typical')}
        value={atAge && typicalOf(atAge.objects, typicalDays, atAge.meta.complete_until)}
        basis={t('analytics.typical_basis')}
      />
      <Figure
        name={t('analytics.ads')}
        value={delivered}
        basis={
          perDownload === undefined
            ? t('analytics.ads_basis')
            : t('analytics.ads_each', { each: numberText(Math.round(perDownload * 10) / 10, language) })
        }
      />
    </>
  );
}

function Numbers({ podcast }: { readonly podcast: Answer<'/podcasts/{id}'> }) {
  const place = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: episodes } = useQuery(episodesQuery(podcast.id));
  const today = dayIn(place.zone, new Date());
  const days = daysOf(search, today);
  const of = { podcastId: podcast.id, episodeId: search.episode };
  const onChange = (change: AnalyticsSearch) =>
    void navigate({ search: (former: AnalyticsSearch) => changedAnalytics(former, change), resetScroll: false });
  const published = (episodes?.items ?? []).flatMap((one) =>
    one.state === 'published' && one.published_at !== undefined ? [{ ...one, at: one.published_at }] : [],
  );
  const chosen = published.find(({ id }) => id === search.episode);
  const countedSince = dayIn(place.zone, new Date(chosen?.at ?? podcast.created_at));
  const { query } = useSeries(of, search, days, countedSince);
  const marks = (chosen ? [chosen] : published).map(({ at, season, number, title }) => ({
    at,
    place: shortName(season, number, title),
  }));
  return (
    <>
      <RangeBar
        search={search}
        days={days}
        today={today}
        end={<Completeness meta={query.data?.meta} />}
        onChange={onChange}
      >
        <CompareChoice search={search} onChange={onChange} />
        <Choice
          name={t('analytics.filter')}
          value={search.episode ?? ''}
          choices={[['', t('analytics.all_episodes')], ...published.map(({ id, title }) => [id, title] as const)]}
          onChange={(episode) => onChange({ episode })}
        />
      </RangeBar>
      <DownloadsCard
        of={of}
        title={chosen?.title ?? podcast.title}
        search={search}
        days={days}
        countedSince={countedSince}
        episodes={marks}
        figures={
          search.episode === undefined && (
            <PodcastFigures podcastId={podcast.id} days={days} downloads={query.data && totalOf(query.data)} />
          )
        }
        onChange={onChange}
      />
      {search.episode === undefined && (
        <EpisodesCard podcastId={podcast.id} search={search} days={days} onChange={onChange} />
      )}
      <DimensionCards of={of} days={days} />
      {search.episode === undefined && <ListenersCard podcastId={podcast.id} title={podcast.title} />}
      {search.episode === undefined && <ExportCard key={podcast.id} podcastId={podcast.id} />}
      {query.data && (
        <p className={styles.method}>{t('analytics.method', { method: query.data.meta.methodology_version })}</p>
      )}
    </>
  );
}

/** The numbers of a podcast; where there are none, why, and what would be here. */
export function PodcastAnalyticsPage() {
  const { podcastId } = route.useParams();
  const query = useQuery(podcastQuery(podcastId));
  return (
    <Loaded query={query} lines={8}>
      {(podcast) => (
        <NoNumbers of={podcast}>
          <Numbers podcast={podcast} />
        </NoNumbers>
      )}
    </Loaded>
  );
}
