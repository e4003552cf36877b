import { Problem } from '@longwave/problems';
import { addExtras } from './add-extras.ts';
import { createSend, type ImportContext, type SendForItem } from './import-context.ts';
import type { ImportRecord } from './import-report-table.ts';
import { findItemProblem } from './item-problems.ts';
import type { ReadableItem } from './read-item.ts';

/** Creates the episode of an item, adds its chapters and transcripts and starts the production of its audio. */
export async function importItem(
  read: ReadableItem,
  context: ImportContext,
): Promise<Pick<ImportRecord, 'episodeId' | 'productionId' | 'problem'>> {
  const { item } = read;
  const send = createSend(context, item.guid);
  let episodeId: string | undefined;
  const publication = planPublication(read, context.importedAt);
  const problem = await findItemProblem(async () => {
    const { guid, title, settings } = item;
    const changes = { ...settings, podcast_id: context.podcastId, guid, title, ...publication };
    const episode = await send('episode', { type: 'episode.import', id: null, changes });
    episodeId = episode.id;
    await addExtras(read, episode, send, context);
  });
  if (problem || episodeId === undefined) return { episodeId, problem: problem?.message };
  return { episodeId, ...(await startAudio(item, episodeId, send)) };
}

/**
 * Starts a production of an item's audio.
 * @param attempt makes another production than other attempts did
 */
export async function startAudio(
  { enclosureUrl }: ReadableItem['item'],
  episodeId: string,
  send: SendForItem,
  attempt = '',
): Promise<Pick<ImportRecord, 'productionId' | 'problem'>> {
  let productionId: string | undefined;
  const problem = await findItemProblem(async () => {
    if (enclosureUrl === undefined)
      throw new Problem('media_not_fetchable', 'The item names no file at a web address, so the episode has no audio.');
    const production = await send(`production${attempt}`, {
      type: 'production.derive',
      id: null,
      changes: { episode_id: episodeId, file_url: enclosureUrl, imported: true },
    });
    productionId = production.id;
    await send(`start${attempt}`, { type: 'production.start', id: production.id, changes: {} });
  });
  return { productionId, problem: problem?.message };
}

/** The date of an item, or that of the import when it has none; a date to come is planned. Notes what differs from the feed. */
function planPublication({ item, notes }: ReadableItem, importedAt: Date) {
  const date = item.publishedAt ?? importedAt;
  const isFuture = date > importedAt;
  const { blocked } = item.settings;
  if (isFuture)
    notes.changed(
      'publish_at',
      `Its date, ${date.toISOString()}, is in the future.${blocked ? '' : ' Publishing the import schedules it for that time.'}`,
    );
  if (blocked)
    notes.changed('blocked', 'The feed hides this item. Its episode stays a draft until somebody publishes it.');
  return isFuture ? { publish_at: date.toISOString() } : { published_at: date.toISOString() };
}
