import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { t, type MessageKey } from '../../messages/messages.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import type { CsvCell } from '../../parts/chart/csv.ts';
import { saveFile } from '../../parts/chart/save-file.ts';
import { numberText } from '../../parts/format.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Segments } from '../../parts/segments.tsx';
import type { SortValue } from '../../parts/table-rows.ts';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { usePlace } from '../../shell/place.ts';
import { episodesAtAgeQuery, episodesInRangeQuery } from './analytics-queries.ts';
import { ages, type AnalyticsSearch, type DayRange } from './analytics-search.ts';
import { Change } from './figures.tsx';
import { rowsOf, type EpisodeRow } from './episode-rows.ts';
import { sortedCsv } from './sorted-csv.ts';
import styles from './analytics.module.css';

/** A column, and what a file has of it. */
interface NumberColumn extends Column<EpisodeRow> {
  readonly sortBy: (row: EpisodeRow) => SortValue;
  readonly inFile?: (row: EpisodeRow) => CsvCell;
}

const firstSort = { key: 'published', descending: true };

function columnsOf(age: string, language: string): readonly NumberColumn[] {
  const ageName = `analytics.age_${age}` as MessageKey;
  return [
    {
      key: 'title',
      name: 'analytics.episode',
      sortBy: ({ title }) => title,
      cell: ({ id, title }) =>
        title === null ? (
          t('analytics.episode_unknown')
        ) : (
          <Link className="voice" to="/episodes/$episodeId/numbers" params={{ episodeId: id }}>
            {title}
          </Link>
        ),
    },
    {
      key: 'published',
      name: 'analytics.published',
      descendingFirst: true,
      sortBy: ({ publishedAt }) => publishedAt,
      cell: ({ publishedAt }) => publishedAt !== null && <Time at={publishedAt} />,
    },
    {
      key: 'first',
      name: ageName,
      descendingFirst: true,
      end: true,
      sortBy: ({ first }) => first,
      cell: ({ first, isYoung }) =>
        first === undefined ? (
          <span className={styles.quiet}>{t('analytics.beyond')}</span>
        ) : (
          <>
            {numberText(first, language)}
            {isYoung && <small className={styles.quiet}> {t('analytics.so_far')}</small>}
          </>
        ),
    },
    {
      key: 'against',
      name: 'analytics.against_typical',
      descendingFirst: true,
      end: true,
      sortBy: ({ against }) => against,
      inFile: ({ against }) => (against === undefined ? undefined : Math.round(against * 1000) / 1000),
      cell: ({ against }) => against !== undefined && <Change of={against} />,
    },
    {
      key: 'range',
      name: 'analytics.in_range',
      descendingFirst: true,
      end: true,
      sortBy: ({ inRange }) => inRange,
      cell: ({ inRange }) => numberText(inRange, language),
    },
  ];
}

/** Episodes at the same age beside their downloads of the range; the file that one saves has the same rows in the same order. */
export function EpisodesCard({
  podcastId,
  search,
  days,
  onChange,
}: {
  readonly podcastId: string;
  readonly search: AnalyticsSearch;
  readonly days: DayRange;
  readonly onChange: (change: AnalyticsSearch) => void;
}) {
  const { language } = usePlace();
  const age = search.age ?? '7';
  const inRange = useQuery({ ...episodesInRangeQuery(podcastId, days), placeholderData: keepPreviousData });
  const atAge = useQuery({ ...episodesAtAgeQuery(podcastId, Number(age)), placeholderData: keepPreviousData });
  const rows = inRange.data && atAge.data ? rowsOf(inRange.data, atAge.data, Number(age)) : undefined;
  const columns = columnsOf(age, language);
  const save = () => {
    const file = columns.map(({ name, inFile, sortBy }) => ({ name: t(name), cell: inFile ?? sortBy }));
    // Days of episodes are those of UTC, whatever the zone of the page.
    const zone = { name: t('chart.zone'), cell: () => 'UTC' };
    const csv = sortedCsv(rows ?? [], columns, search.sort, firstSort, language, [...file, zone]);
    saveFile(`episodes-${days.from}-${days.to}.csv`, csv, 'text/csv');
  };
  return (
    <Card
      title={t('analytics.episodes')}
      basis={t('analytics.episodes_basis')}
      plain
      end={
        <>
          <Segments
            name={t('analytics.age')}
            value={age}
            choices={ages.map((value) => ({ value, name: `analytics.age_${value}` as const }))}
            onChange={(next) => onChange({ age: next })}
          />
          <Button size="small" icon={Download} onClick={save}>
            {t('chart.csv')}
          </Button>
        </>
      }
    >
      <Loaded query={inRange} lines={6}>
        {() => (
          <Loaded query={atAge} lines={6}>
            {() => (
              <Table
                name={t('analytics.episodes')}
                columns={columns}
                rows={rows ?? []}
                keyOf={({ id }) => id}
                firstSort={firstSort}
                search={search}
                onSearch={onChange}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Card>
  );
}
