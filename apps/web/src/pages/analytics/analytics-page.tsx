import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChartNoAxesColumn, Download } from 'lucide-react';
import { t } from '../../messages/messages.ts';
import { Artwork } from '../../parts/artwork.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import cards from '../../parts/card.module.css';
import { daysBetween, dayIn } from '../../parts/chart/calendar.ts';
import { saveFile } from '../../parts/chart/save-file.ts';
import { Spark } from '../../parts/chart/spark.tsx';
import { Empty } from '../../parts/empty.tsx';
import { numberText } from '../../parts/format.ts';
import { Failed, Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { usePlace } from '../../shell/place.ts';
import { podcastsQuery, type PodcastRow as Podcast } from '../podcasts/podcast-queries.ts';
import { seriesQuery } from './analytics-queries.ts';
import {
  changedAnalytics,
  daysBefore,
  daysOf,
  stepOf,
  type AnalyticsSearch,
  type DayRange,
} from './analytics-search.ts';
import { Completeness, HistoryWall } from './downloads-card.tsx';
import { Against, Change, Figure } from './figures.tsx';
import { CompareChoice, RangeBar } from './range-bar.tsx';
import { endBefore } from './series-data.ts';
import { rowOf, sumOf, type PodcastRow } from './side-by-side.ts';
import { sortedCsv } from './sorted-csv.ts';
import { changeFrom } from './typical.ts';
import styles from './analytics.module.css';

const route = getRouteApi('/analytics');
/** Podcasts that are shown beside each other: each is asked for by itself. */
const shownMax = 50;
const firstSort = { key: 'downloads', descending: true };

interface Row extends PodcastRow {
  readonly artwork: Podcast['artwork'];
}

/** The downloads of podcasts in a range and in the time before, and until when they are counted. */
function useRows(podcasts: readonly Podcast[], search: AnalyticsSearch, days: DayRange) {
  const { zone } = usePlace();
  const step = stepOf(search, days);
  // What lies before a podcast is no comparison.
  const formerOf = ({ created_at: at }: Podcast) => daysBefore(search, days, step, dayIn(zone, new Date(at ?? 0)));
  const current = useQueries({ queries: podcasts.map(({ id }) => seriesQuery({ podcastId: id }, days, step, zone)) });
  const earlier = useQueries({
    queries: podcasts.map((podcast, place) => {
      const former = formerOf(podcast);
      const meta = current[place]?.data?.meta;
      const shift = former ? daysBetween(former.from, days.from) - 1 : 0;
      const range = former && meta && { from: former.from, to: endBefore(meta, former.to, shift, zone) };
      return { ...seriesQuery({ podcastId: podcast.id }, range ?? days, step, zone), enabled: range !== undefined };
    }),
  });
  const rows = podcasts.map((podcast, place): Row => {
    const { data } = current[place] ?? {};
    const before = formerOf(podcast) && data ? earlier[place]?.data : undefined;
    return { ...rowOf(podcast, data, before), artwork: podcast.artwork };
  });
  const queries = [...current, ...earlier];
  const isComplete = queries.every(({ isLoading, isError }) => !isLoading && !isError);
  return { rows, meta: current.find(({ data }) => data)?.data?.meta, queries, isComplete };
}

function columnsOf(language: string, search: AnalyticsSearch): readonly Column<Row>[] {
  return [
    {
      key: 'title',
      name: 'podcasts.podcast',
      sortBy: ({ title }) => title,
      cell: ({ id, title, artwork }) => (
        <>
          <Artwork of={artwork} title={title} size="small" />
          <Link
            className="voice"
            to="/podcasts/$podcastId/analytics"
            params={{ podcastId: id }}
            search={changedAnalytics(search, { sort: '', page: 1 })}
          >
            {title}
          </Link>
        </>
      ),
    },
    { key: 'course', name: 'analytics.course', cell: ({ course }) => course.length > 1 && <Spark values={course} /> },
    {
      key: 'downloads',
      name: 'analytics.downloads',
      descendingFirst: true,
      end: true,
      sortBy: ({ downloads }) => downloads,
      cell: ({ downloads }) => downloads !== undefined && numberText(downloads, language),
    },
    {
      key: 'change',
      name: 'analytics.change',
      descendingFirst: true,
      end: true,
      sortBy: ({ change }) => change,
      cell: ({ change }) => change !== undefined && <Change of={change} />,
    },
  ];
}

/** @param of how many podcasts have numbers, of which these are shown */
function SideBySide({ podcasts, of }: { readonly podcasts: readonly Podcast[]; readonly of: number }) {
  const { zone, language } = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const today = dayIn(zone, new Date());
  const days = daysOf(search, today);
  const { rows, meta, queries, isComplete } = useRows(podcasts, search, days);
  const { downloads, before } = sumOf(rows);
  const columns = columnsOf(language, search);
  const onChange = (change: AnalyticsSearch) =>
    void navigate({ search: (former: AnalyticsSearch) => changedAnalytics(former, change), resetScroll: false });
  const save = () => {
    const csv = sortedCsv(rows, columns, search.sort, firstSort, language, [
      { name: t('podcasts.podcast'), cell: ({ title }) => title },
      { name: t('chart.zone'), cell: () => zone },
      { name: t('analytics.downloads'), cell: (row) => row.downloads },
      { name: t(`analytics.series_${search.compare ?? 'before'}`), cell: (row) => row.before },
    ]);
    saveFile(`podcasts-${days.from}-${days.to}.csv`, csv, 'text/csv');
  };
  return (
    <>
      <RangeBar search={search} days={days} today={today} end={<Completeness meta={meta} />} onChange={onChange}>
        <CompareChoice search={search} onChange={onChange} />
      </RangeBar>
      <Failed queries={queries} />
      <section className={cards.card} aria-label={t('analytics.downloads')}>
        <dl className={styles.figures}>
          <Figure
            name={
              rows.length < of
                ? t('analytics.some_podcasts', { shown: rows.length, podcasts: of })
                : t('analytics.all_podcasts', { podcasts: of })
            }
            value={downloads}
            basis={
              isComplete &&
              downloads !== undefined && <Against change={changeFrom(downloads, before)} before={before} />
            }
          />
        </dl>
        {meta && <HistoryWall meta={meta} />}
      </section>
      <Card
        title={t('nav.podcasts')}
        basis={t('analytics.side_by_side')}
        plain
        end={
          <Button size="small" icon={Download} onClick={save}>
            {t('chart.csv')}
          </Button>
        }
      >
        <Table
          name={t('nav.podcasts')}
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          firstSort={firstSort}
          search={search}
          onSearch={onChange}
        />
      </Card>
    </>
  );
}

/** All podcasts side by side. A view of them is its address. */
export function AnalyticsPage() {
  const query = useQuery(podcastsQuery);
  return (
    <Page
      title={t('nav.analytics')}
      actions={
        <Link className={buttonClass()} to="/analytics/reports">
          {t('analytics.reports')}
        </Link>
      }
    >
      <Loaded query={query} lines={8}>
        {({ items }) => {
          const counted = items.filter(({ state, analytics }) => state === 'published' && analytics === 'available');
          if (counted.length > 0) return <SideBySide podcasts={counted.slice(0, shownMax)} of={counted.length} />;
          const isPlan = items.some(({ analytics }) => analytics === 'not_in_plan');
          return isPlan ? (
            <Empty icon={ChartNoAxesColumn} title="analytics.not_in_plan" why="analytics.not_in_plan_why" />
          ) : (
            <Empty icon={ChartNoAxesColumn} title="analytics.no_podcast" why="analytics.not_published_why" />
          );
        }}
      </Loaded>
    </Page>
  );
}
