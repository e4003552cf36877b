import { useQuery } from '@tanstack/react-query';
import { LockKeyhole } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../messages/messages.ts';
import cards from '../../parts/card.module.css';
import { Chart } from '../../parts/chart/chart.tsx';
import { daysBetween, dayIn, rangeText, type Step } from '../../parts/chart/calendar.ts';
import { instantText, zoneName } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failed, Loaded } from '../../parts/loaded.tsx';
import { Segments } from '../../parts/segments.tsx';
import { usePlace } from '../../shell/place.ts';
import { seriesQuery, type NumbersOf } from './analytics-queries.ts';
import { daysBefore, openedBy, stepOf, stepsOf, type AnalyticsSearch, type DayRange } from './analytics-search.ts';
import { Against, Figure } from './figures.tsx';
import { chartOf, endBefore, totalOf, type Episode, type Series } from './series-data.ts';
import { changeFrom } from './typical.ts';
import styles from './analytics.module.css';

/**
 * The downloads of a range, and those of the time before as far as the plan shows all of it.
 * @param countedSince the day on which there was something to count for the first time: what lies before is no comparison
 */
export function useSeries(of: NumbersOf, search: AnalyticsSearch, days: DayRange, countedSince: string) {
  const { zone } = usePlace();
  const step = stepOf(search, days);
  const query = useQuery(seriesQuery(of, days, step, zone));
  const former = daysBefore(search, days, step, countedSince);
  const meta = query.data?.meta;
  const ended = former &&
    meta && { from: former.from, to: endBefore(meta, former.to, daysBetween(former.from, days.from) - 1, zone) };
  const earlier = useQuery({
    ...seriesQuery(of, ended ?? days, step, zone),
    // A range that the plan cuts compares with nothing.
    enabled: ended !== undefined && meta?.history_window === undefined,
  });
  const { data } = earlier;
  const isWhole = former !== undefined && meta?.history_window === undefined && !data?.meta.history_window;
  return { query, step, earlier, before: isWhole ? data : undefined };
}

/** Until when everything is counted, in which zone. */
export function Completeness({ meta }: { readonly meta: Series['meta'] | undefined }) {
  const place = usePlace();
  if (!meta) return null;
  const isToday = dayIn(place.zone, new Date(meta.complete_until)) === dayIn(place.zone, new Date());
  const until = instantText(meta.complete_until, isToday ? 'hour' : 'moment', place);
  return t('analytics.complete_until', { zone: zoneName(place.zone), until });
}

/** Where the plan's history begins, when a range reaches beyond. */
export function HistoryWall({ meta }: { readonly meta: Series['meta'] }) {
  const place = usePlace();
  if (!meta.history_window) return null;
  return (
    <p className={styles.wall}>
      <Icon of={LockKeyhole} size={15} />
      {t('analytics.wall', {
        days: meta.history_window.days,
        from: instantText(meta.history_window.from, 'day', place),
      })}
    </p>
  );
}

/** How long the buckets of a range are. */
const StepChoice = ({
  days,
  step,
  onChange,
}: {
  readonly days: DayRange;
  readonly step: Step;
  readonly onChange: (change: AnalyticsSearch) => void;
}) =>
  stepsOf(days).length > 1 && (
    <Segments
      name={t('analytics.step')}
      value={step}
      choices={stepsOf(days).map((value) => ({ value, name: `analytics.step_${value}` as const }))}
      onChange={(next) => onChange({ step: next })}
    />
  );

/** Downloads of a range: their sum, beside other figures, and their course. */
export function DownloadsCard({
  of,
  title,
  search,
  days,
  countedSince,
  episodes,
  figures,
  onChange,
}: {
  readonly of: NumbersOf;
  /** Of what they are: a podcast, an episode. */
  readonly title: string;
  readonly search: AnalyticsSearch;
  readonly days: DayRange;
  /** The day on which there was something to count for the first time. */
  readonly countedSince: string;
  readonly episodes: readonly Episode[];
  readonly figures?: ReactNode;
  readonly onChange: (change: AnalyticsSearch) => void;
}) {
  const place = usePlace();
  const { query, step, earlier, before } = useSeries(of, search, days, countedSince);
  const names = { own: t('analytics.downloads'), before: t(`analytics.series_${search.compare ?? 'before'}`) };
  const isOpenRange = search.range === 'all';
  const total = query.data && totalOf(query.data);
  const formerTotal = before && totalOf(before);
  return (
    <section className={cards.card} aria-label={t('analytics.downloads')}>
      <dl className={styles.figures}>
        <Figure
          name={t('analytics.downloads')}
          value={total}
          basis={
            total !== undefined &&
            !earlier.isLoading &&
            !earlier.isError && <Against change={changeFrom(total, formerTotal)} before={formerTotal} />
          }
        />
        {figures}
      </dl>
      {query.data && <Failed queries={[earlier]} />}
      <Loaded query={query} lines={8}>
        {(series) => {
          const data = chartOf(series, before, episodes, names, isOpenRange, place);
          const [first, last] = [data.points[0], data.points.at(-1)];
          return (
            <>
              <HistoryWall meta={series.meta} />
              {first && last ? (
                <Chart
                  name={t(`analytics.chart_${step}`, {
                    title,
                    range: isOpenRange
                      ? `${first.title} – ${last.title}`
                      : rangeText(days.from, days.to, place.language),
                  })}
                  data={data}
                  shape="line"
                  file={`downloads-${days.from}-${days.to}`}
                  zone={place.zone}
                  head={<h2>{t(`analytics.downloads_${step}`)}</h2>}
                  tools={<StepChoice days={days} step={step} onChange={onChange} />}
                  onOpen={(at) => {
                    const opened = openedBy(data.points[at]?.key ?? '', step, days);
                    if (opened) onChange(opened);
                  }}
                />
              ) : (
                <p className={styles.nothing}>{t('analytics.nothing')}</p>
              )}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
