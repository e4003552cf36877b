import type { Resource } from '@longwave/command-catalog';
import { csvLine } from '@longwave/csv';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { GetImportResponse, ImportItem } from '@longwave/rpc/feed';
import type { Podcast } from '../podcasts/podcast.ts';
import type { ImportNote } from './import-notes.ts';
import {
  countImportItems,
  countImportNotes,
  findChannelNotes,
  findImportJobState,
  listImportItems,
  type ImportItemState,
} from './import-report-table.ts';

const maxItems = 500;
/** States of an episode that has, or had, its audio. */
const audible: readonly ImportItemState[] = ['encoded', 'scheduled', 'published', 'unpublished'];

function importOf({ id, attributes: { import: movedIn } }: Resource<'podcasts'>): NonNullable<Podcast['import']> {
  if (!movedIn) throw new Problem('not_found', `The import with id ${id} could not be found.`);
  return movedIn;
}

const sentences = (notes: readonly ImportNote[], kind: ImportNote['kind']): string =>
  notes
    .filter((note) => note.kind === kind)
    .map(({ field, detail }) => `${field}: ${detail}`)
    .join(' | ');

interface Page {
  readonly after: number;
  readonly limit: number;
}
const bounded = ({ after, limit }: Page) => ({
  after: Math.max(0, after),
  limit: Math.min(Math.max(1, limit), maxItems),
});

/** The report of an import. Every function throws `not_found` for a podcast that was not imported. */
export const createImportReport = (pool: Pool) => ({
  get: async (podcast: Resource<'podcasts'>): Promise<GetImportResponse> => {
    const { total, done, failed, problem } = importOf(podcast);
    const [job, { counts, created }, noteCounts, channelNotes] = await Promise.all([
      findImportJobState(pool, podcast.id),
      countImportItems(pool, podcast.id),
      countImportNotes(pool, podcast.id),
      findChannelNotes(pool, podcast.id),
    ]);
    const count = (...states: readonly ImportItemState[]) =>
      states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
    const isRecorded = counts.size > 0;
    return {
      // Another try of failed items may be under way after an import that did not end well.
      state: job === 'queued' || job === 'running' ? 'running' : problem ? 'failed' : 'completed',
      total,
      // Imports of an earlier release kept no record of their items.
      created: isRecorded ? created : done,
      encoded: count(...audible),
      published: count('published'),
      scheduled: count('scheduled'),
      failed: isRecorded ? count('failed') : failed,
      noteCounts,
      channelNotes: [...channelNotes],
    };
  },

  list: async (podcast: Resource<'podcasts'>, page: Page): Promise<{ items: ImportItem[] }> => {
    importOf(podcast);
    const rows = await listImportItems(pool, podcast.id, bounded(page));
    return {
      items: rows.map(({ episode_id: episodeId, problem, notes, ...row }) => ({
        ...row,
        episodeId: episodeId ?? '',
        problem: problem ?? '',
        notes: [...notes],
      })),
    };
  },

  /** Columns: position, title, guid, state, episode_id, problem, changed, lost. */
  exportLines: async (podcast: Resource<'podcasts'>, page: Page) => {
    importOf(podcast);
    const rows = await listImportItems(pool, podcast.id, bounded(page));
    const lines = rows.map(({ position, title, guid, state, episode_id: episodeId, problem, notes }) =>
      csvLine([
        ...[position, title, guid, state, episodeId ?? '', problem ?? ''],
        ...[sentences(notes, 'changed'), sentences(notes, 'lost')],
      ]),
    );
    return { csv: lines.join(''), items: rows.length, position: rows.at(-1)?.position ?? page.after };
  },
});
