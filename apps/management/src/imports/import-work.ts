import { createHash } from 'node:crypto';
import { productCatalog } from '@longwave/command-catalog';
import { findResource, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { parseTranscript, renderTranscript, TranscriptError, type TranscriptFormat } from '@longwave/transcript';
import type { Work } from '../jobs/job-runner.ts';
import type { ClaimedJob } from '../jobs/job-table.ts';
import { cutFeed } from './cut-feed.ts';
import { createExtraFiles, parseChaptersFile, type ExtraFiles } from './fetch-extras.ts';
import { itemsMax } from './fetch-feed.ts';
import { readItem, type ImportedItem } from './read-item.ts';

export interface ImportWorkOptions {
  readonly pool: Pool;
  readonly store: ObjectStore;
  readonly execute: ExecuteCommand;
  readonly fetch: GuardedFetch;
}

/** Refusals that are about one item; anything else ends this try of the job. */
const ofItem: readonly string[] = [
  'validation_failed',
  'state_not_allowed',
  'not_found',
  'link_not_found',
  'value_taken',
  'idempotency_conflict',
  'upload_not_received',
  'media_not_fetchable',
];

type Send = (
  step: string,
  commandType: string,
  subject: { type: string; id: string | null },
  changes: object,
) => Promise<ResourceView>;

/** True unless the item refuses the work. */
async function accepted(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof Problem && ofItem.includes(error.code)) return false;
    throw error;
  }
}

/** Chapters and transcripts of an imported episode, as far as they can be had; another try does not fetch them again. */
async function addExtras(
  item: ImportedItem,
  episode: ResourceView,
  language: string,
  files: ExtraFiles,
  send: Send,
  signal: AbortSignal,
): Promise<void> {
  const subject = { type: 'episodes', id: episode.id };
  if (item.chaptersUrl !== undefined && episode.attributes['chapters'] === undefined) {
    const text = await files.fetchText(item.chaptersUrl, signal);
    const chapters = text === undefined ? undefined : parseChaptersFile(text);
    if (chapters?.length) await accepted(() => send('chapters', 'episode.set_chapters', subject, { chapters }));
  }
  if (item.transcripts.length === 0 || episode.attributes['transcripts'] !== undefined) return;
  const transcripts = new Map<string, GivenTranscript>();
  for (const { url, format, captions, language: own = language } of item.transcripts) {
    if (transcripts.has(own.toLowerCase())) continue;
    const content = await files.fetchText(url, signal);
    if (content === undefined) continue;
    // One that is not acceptable must not keep the others out.
    const given = acceptable({ language: own, format, content, ...(captions && { captions }) });
    if (given && listed.safeParse([...transcripts.values(), given]).success) transcripts.set(own.toLowerCase(), given);
  }
  if (transcripts.size > 0)
    await accepted(() =>
      send('transcripts', 'episode.set_transcripts', subject, { transcripts: [...transcripts.values()] }),
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
export function createImportWork(options: ImportWorkOptions): Work {
  const { pool, store, execute, fetch } = options;

  async function readItems(job: ClaimedJob): Promise<{ readonly items: ImportedItem[]; readonly unreadable: number }> {
    const { storage_key: key } = job.input as { storage_key: string };
    const chunks: Buffer[] = [];
    for await (const chunk of await store.get(key)) chunks.push(chunk as Buffer);
    const pieces = cutFeed(Buffer.concat(chunks).toString())!.items;
    const items = new Map<string, ImportedItem>();
    let unreadable = Math.max(0, pieces.length - itemsMax);
    for (const piece of pieces.slice(0, itemsMax)) {
      const item = tryReadItem(piece);
      // The first one of a GUID is the newest, which apps show.
      if (!item || items.has(item.guid)) unreadable += 1;
      else items.set(item.guid, item);
      // A large feed is parsed piece by piece between other work.
      await new Promise((turn) => setImmediate(turn));
    }
    return { items: [...items.values()].reverse(), unreadable };
  }

  async function importItem(job: ClaimedJob, item: ImportedItem, context: Context): Promise<boolean> {
    const key = createHash('sha256').update(item.guid).digest('hex').slice(0, 32);
    const send: Send = async (step, commandType, subject, changes) =>
      (
        await execute(
          {
            workspaceId: job.workspace_id,
            commandType,
            idempotencyKey: `${job.subject_id}:${key}:${step}`,
            subject,
            changes,
          },
          { kind: 'service', name: 'management' },
        )
      ).resource;

    const { enclosureUrl } = item;
    // The date of an item without one, or from the future, is that of the import.
    const publishedAt =
      item.publishedAt && item.publishedAt < context.importedAt ? item.publishedAt : context.importedAt;
    return accepted(async () => {
      const episode = await send(
        'episode',
        'episode.import',
        { type: 'episodes', id: null },
        {
          ...item.settings,
          podcast_id: job.subject_id,
          guid: item.guid,
          title: item.title,
          published_at: publishedAt.toISOString(),
        },
      );
      await addExtras(item, episode, context.language, context.files, send, context.signal);
      if (enclosureUrl === undefined) throw new Problem('media_not_fetchable', 'The item has no enclosure.');
      const production = await send(
        'production',
        'production.derive',
        { type: 'productions', id: null },
        {
          episode_id: episode.id,
          file_url: enclosureUrl,
          imported: true,
          publication_flag: true,
        },
      );
      await send('start', 'production.start', { type: 'productions', id: production.id }, {});
    });
  }

  return {
    attemptsMax: 60,
    slots: 2,
    fail: {
      commandType: 'podcast.fail_import',
      problem: {
        code: 'import_gave_up',
        detail: 'The import failed again and again and gave up. The episodes created so far stay.',
      },
    },
    run: async (job, signal) => {
      const podcast = await findResource(pool, job.workspace_id, 'podcasts', job.subject_id);
      const { items, unreadable } = await readItems(job);
      const context: Context = {
        signal,
        language: String(podcast!.attributes['language']),
        importedAt: podcast!.created_at,
        files: createExtraFiles(fetch),
      };
      const counts = { done: 0, failed: unreadable };
      for (const item of items) {
        signal.throwIfAborted();
        const now = await findResource(pool, job.workspace_id, 'podcasts', job.subject_id);
        if (now?.lifecycle_state === 'archived') throw new Problem('state_not_allowed', 'The podcast is archived.');
        counts[(await importItem(job, item, context)) ? 'done' : 'failed'] += 1;
      }
      await execute(
        {
          workspaceId: job.workspace_id,
          commandType: 'podcast.complete_import',
          idempotencyKey: `${job.id}:${job.lease_id}`,
          subject: { type: 'podcasts', id: job.subject_id },
          changes: counts,
          reason: { job_id: job.id, lease_id: job.lease_id },
        },
        { kind: 'service', name: 'management' },
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
}

function tryReadItem(xml: string): ImportedItem | undefined {
  try {
    return readItem(xml);
  } catch {
    return undefined;
  }
}
