import { Link } from '@tanstack/react-router';
import { t } from '../../messages/messages.ts';
import { StateBadge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/table.tsx';
import { Length, Time } from '../../parts/time.tsx';
import { numberText } from '../../parts/format.ts';
import { episodePlace } from './episode-place.ts';
import type { EpisodeRow } from './podcast-queries.ts';
import styles from './episodes-page.module.css';

/** An episode with its downloads of the last 30 days; undefined while they are unknown, or where they are not counted. */
export interface EpisodeWithDownloads extends EpisodeRow {
  readonly downloads: number | undefined;
}

/** When listeners got it or will get it; undefined for a draft. */
const dateOf = ({ published_at: published, publish_at: planned }: EpisodeRow) => published ?? planned;

/** Columns of a podcast's episodes. */
export const episodeColumns = (language: string): readonly Column<EpisodeWithDownloads>[] => [
  {
    key: 'title',
    name: 'episodes.episode',
    sortBy: ({ title }) => title,
    cell: ({ id, title, season, number }) => (
      <>
        <span className={styles.place}>{episodePlace(season, number)}</span>
        <Link className="voice" to="/episodes/$episodeId" params={{ episodeId: id }}>
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
    key: 'date',
    name: 'episodes.date',
    descendingFirst: true,
    // Drafts stand where the next episode will stand.
    sortBy: (row) => dateOf(row) ?? (row.state === 'draft' ? '9999' : undefined),
    cell: (row) => {
      const date = dateOf(row);
      return date === undefined ? t('episodes.no_date') : <Time at={date} />;
    },
  },
  {
    key: 'length',
    name: 'episodes.length',
    descendingFirst: true,
    end: true,
    sortBy: ({ duration_ms: ms }) => ms,
    cell: ({ duration_ms: ms }) => (ms === undefined ? t('episodes.no_audio') : <Length ms={ms} />),
  },
  {
    key: 'downloads',
    name: 'downloads.last_30_days',
    descendingFirst: true,
    end: true,
    sortBy: ({ downloads }) => downloads,
    cell: ({ downloads }) => downloads !== undefined && numberText(downloads, language),
  },
];
