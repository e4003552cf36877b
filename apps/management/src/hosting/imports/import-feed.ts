import { createHash } from 'node:crypto';
import { productCatalog, type Resource, type SubjectOf } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { parseTranscript, renderTranscript, TranscriptError, type TranscriptFormat } from '@longwave/transcript';
import type { JobHandler } from '../../background/job-runner.ts';
import { leaseOf, type ClaimedJob } from '../../background/job-table.ts';
import {
  executeAsManagement,
  type ManagementCommand,
  type ProductCommand,
} from '../../background/execute-as-management.ts';
import { createExtraFiles, parseChaptersFile, type ExtraFiles } from './fetch-extras.ts';
import { frameOf, itemsMax, piecesOf } from './fetch-feed.ts';
import { saveImportRecord, type ImportRecord } from './import-report-table.ts';
import { readChannel } from './read-channel.ts';
import { readItem, type ImportedItem, type ReadItem } from './read-item.ts';
import type { Namespaces } from './xml-node.ts';

export interface ImportOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
}

/** Refusals that are about one item; anything else ends this try of the job. */
const itemProblems: readonly string[] = [
  'validation_failed',
  'state_not_allowed',
  'not_found',
  'link_not_found',
  'value_taken',
  'idempotency_conflict',
  'upload_not_received',
  'media_not_fetchable',
];

type Send = <C extends ProductCommand>(step: string, command: ManagementCommand<C>) => Promise<Resource<SubjectOf<C>>>;

/** The item's own fault, if it refuses the work; anything else is thrown. */
async function refusalOf(work: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem && itemProblems.includes(error.code)) return error;
    throw error;
  }
}

/** Chapters and transcripts of an imported episode, as far as they can be had; another try does not fetch them again. */
async function addExtras(
  { item, notes }: Extract<ReadItem, { item: ImportedItem }>,
  episode: Resource<'episodes'>,
  language: string,
  files: ExtraFiles,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const { id } = episode;
  const note = (field: string, refusal: Problem | undefined) => refusal && notes.lost(field, refusal.message);
  if (item.chaptersUrl !== undefined && episode.attributes.chapters === undefined) {
    const text = await files.fetchText(item.chaptersUrl, signal);
    const chapters = text === undefined ? undefined : parseChaptersFile(text);
    if (chapters?.length)
      note(
        'chapters',
        await refusalOf(() => send('chapters', { type: 'episode.set_chapters', id, changes: { chapters } })),
      );
    else notes.lost('chapters', 'The file with the chapters cannot be fetched or read.');
  }
  if (item.transcripts.length === 0 || episode.attributes.transcripts !== undefined) return;
  const transcripts = new Map<string, GivenTranscript>();
  for (const { url, format, captions, language: own = language } of item.transcripts) {
    if (transcripts.has(own.toLowerCase())) continue;
    const content = await files.fetchText(url, signal);
    // One that is not acceptable must not keep the others out.
    const given =
      content === undefined ? undefined : acceptable({ language: own, format, content, ...(captions && { captions }) });
    if (given && listed.safeParse([...transcripts.values(), given]).success) transcripts.set(own.toLowerCase(), given);
    else notes.lost('transcripts', `The transcript for “${own}” cannot be fetched or read.`);
  }
  if (transcripts.size > 0)
    note(
      'transcripts',
      await refusalOf(() =>
        send('transcripts', {
          type: 'episode.set_transcripts',
          id,
          changes: { transcripts: [...transcripts.values()] },
        }),
      ),
    );
}

const { transcripts: listed } = productCatalog.commands['episode.set_transcripts'].changes.shape;

interface GivenTranscript {
  readonly language: string;
  readonly format: TranscriptFormat;
  readonly content: string;
  readonly captions?: boolean;
}

/** A transcript as the command takes it; a wordy file says the same in fewer characters. Undefined when there is no way. */
function acceptable(given: GivenTranscript): GivenTranscript | undefined {
  try {
    const transcript = parseTranscript(given.format, given.content);
    if (listed.safeParse([given]).success) return given;
    const content = renderTranscript('vtt', transcript);
    const shorter = { captions: given.format !== 'json', ...given, format: 'vtt', content } as const;
    return listed.safeParse([shorter]).success ? shorter : undefined;
  } catch (error) {
    if (error instanceof TranscriptError) return undefined;
    throw error;
  }
}

/**
 * Creates the episodes of an imported feed, oldest first, and starts a production of each one's audio; encoding goes on by
 * itself. Every step has a key made of podcast and GUID, so that another try goes on where this one ended and nothing is
 * made twice.
 */
export function createImportHandler(options: ImportOptions): JobHandler {
  const { pool, store, execute, fetch } = options;

  async function readFeed(job: ClaimedJob) {
    const { storage_key: key } = job.input as { storage_key: string };
    const chunks: Buffer[] = [];
    for await (const chunk of await store.get(key)) chunks.push(chunk as Buffer);
    const pieces = piecesOf(Buffer.concat(chunks).toString());
    return { items: pieces.items, frame: frameOf(pieces) };
  }

  /** GUID → place of the item that is imported: the first one is the newest, which apps show. */
  async function placesOf(items: readonly string[], namespaces: Namespaces): Promise<Map<string, number>> {
    const places = new Map<string, number>();
    for (const [index, xml] of items.slice(0, itemsMax).entries()) {
      const { item } = readItem(xml, namespaces);
      if (item && !places.has(item.guid)) places.set(item.guid, index);
      // A large feed is parsed piece by piece between other work.
      await new Promise((turn) => setImmediate(turn));
    }
    return places;
  }

  /** Creates one episode and starts its production. */
  async function importItem(
    job: ClaimedJob,
    read: Extract<ReadItem, { item: ImportedItem }>,
    context: Context,
  ): Promise<Pick<ImportRecord, 'episodeId' | 'productionId' | 'problem'>> {
    const { item, notes } = read;
    const key = createHash('sha256').update(item.guid).digest('hex').slice(0, 32);
    const send: Send = (step, command) => {
      const idempotencyKey = `${job.subject_id}:${key}:${step}`;
      return executeAsManagement(execute, { workspaceId: job.workspace_id, idempotencyKey }, command);
    };

    // The date of an item without one is that of the import.
    const date = item.publishedAt ?? context.importedAt;
    const isFuture = date > context.importedAt;
    const { blocked } = item.settings;
    if (isFuture)
      notes.changed(
        'publish_at',
        `Its date, ${date.toISOString()}, is in the future.${blocked ? '' : ' Publishing the import schedules it for that time.'}`,
      );
    if (blocked)
      notes.changed('blocked', 'The feed hides this item. Its episode stays a draft until somebody publishes it.');
    let episodeId: string | undefined;
    let productionId: string | undefined;
    const refusal = await refusalOf(async () => {
      const episode = await send('episode', {
        type: 'episode.import',
        id: null,
        changes: {
          ...item.settings,
          podcast_id: job.subject_id,
          guid: item.guid,
          title: item.title,
          ...(isFuture ? { publish_at: date.toISOString() } : { published_at: date.toISOString() }),
        },
      });
      episodeId = episode.id;
      await addExtras(read, episode, context.language, context.files, send, context.signal);
      if (item.enclosureUrl === undefined)
        throw new Problem(
          'media_not_fetchable',
          'The item names no file at a web address, so the episode has no audio.',
        );
      const production = await send('production', {
        type: 'production.derive',
        id: null,
        changes: { episode_id: episode.id, file_url: item.enclosureUrl, imported: true },
      });
      productionId = production.id;
      await send('start', { type: 'production.start', id: production.id, changes: {} });
    });
    return { episodeId, productionId, problem: refusal?.message };
  }

  /** What became of the item at a place of the feed. */
  async function recordOf(
    job: ClaimedJob,
    xml: string,
    index: number,
    places: ReadonlyMap<string, number>,
    context: Context,
  ): Promise<ImportRecord> {
    const position = index + 1;
    const read = readItem(xml, context.namespaces);
    if (!read.item) return { position, guid: '', title: '', problem: read.problem, notes: [] };
    const { guid, title } = read.item;
    const place = places.get(guid);
    if (place !== index) {
      const problem =
        place === undefined
          ? `Only the newest ${itemsMax} items are imported.`
          : `It has the same guid as item ${place + 1}, which is imported.`;
      return { position, guid, title, problem, notes: [] };
    }
    const outcome = await importItem(job, read, context);
    return { position, guid, title, ...outcome, notes: read.notes.list };
  }

  return {
    attemptsMax: 60,
    concurrency: 2,
    fail: {
      commandType: 'podcast.fail_import',
      problem: {
        code: 'import_gave_up',
        detail: 'The import failed too often and was given up. The episodes that it created are kept.',
      },
    },
    run: async (job, signal) => {
      const podcast = await findResource(pool, job.workspace_id, 'podcasts', job.subject_id);
      const { items, frame } = await readFeed(job);
      const target = { workspaceId: job.workspace_id, podcastId: job.subject_id };
      const channel = readChannel(frame.channel, frame.fault);
      await saveImportRecord(pool, target, {
        position: 0,
        guid: podcast!.attributes.podcast_guid,
        title: podcast!.attributes.title,
        notes: channel.notes.list,
      });
      const context: Context = {
        signal,
        language: podcast!.attributes.language,
        importedAt: podcast!.created_at,
        files: createExtraFiles(fetch),
        namespaces: frame.namespaces,
      };
      const places = await placesOf(items, frame.namespaces);
      const counts = { done: 0, failed: 0 };
      // Oldest first, so that ids are in the order of the dates.
      for (let index = items.length - 1; index >= 0; index--) {
        signal.throwIfAborted();
        const now = await findResource(pool, job.workspace_id, 'podcasts', job.subject_id);
        if (now?.lifecycle_state === 'archived') throw new Problem('state_not_allowed', 'The podcast is archived.');
        const record = await recordOf(job, items[index]!, index, places, context);
        await saveImportRecord(pool, target, record);
        counts[record.problem === undefined ? 'done' : 'failed'] += 1;
      }
      await executeAsManagement(
        execute,
        {
          workspaceId: job.workspace_id,
          idempotencyKey: `${job.id}:${job.lease_id}`,
          reason: leaseOf(job),
        },
        { type: 'podcast.complete_import', id: job.subject_id, changes: counts },
      );
    },
  };
}

interface Context {
  readonly signal: AbortSignal;
  /** Of transcripts that do not say theirs. */
  readonly language: string;
  readonly importedAt: Date;
  readonly files: ExtraFiles;
  readonly namespaces: Namespaces;
}
