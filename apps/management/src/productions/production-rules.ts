import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type RuleInput, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { finishJob, insertJob } from '../jobs/job-table.ts';
import { receivedUpload } from '../uploads/upload-rules.ts';
import { uploadIdOf, type Upload } from '../uploads/upload.ts';
import { encodingMonth, lockBalance, moveBalance } from './encoding-balance-table.ts';
import { checkEncodingTime, startedProduction, withoutReservation, type Production } from './production.ts';

type ProductionRules = Pick<
  Rules<typeof productCatalog>,
  'production.create' | 'production.start' | 'production.complete' | 'production.fail'
>;

/** Duration of a stored audio file, or 0 when it cannot be read: then the encoder finds out and says why. */
export type ProbeDuration = (storageKey: string, deadline?: Date) => Promise<number>;

interface Report {
  readonly job_id: string;
  readonly lease_id: string;
}

/** Settles or returns what the start reserved, and ends the job; in the transaction of the report. */
const settle = (input: RuleInput<Production, unknown>, usedMs: number) => async (tx: Transaction) => {
  await finishJob(tx, input.subjectId, input.reason as Report);
  const { reserved_encoding_ms: reservedMs = 0, encoding_month: month } = input.current;
  if (month) await moveBalance(tx, input.workspaceId, month, { reservedMs: -reservedMs, usedMs });
};

/** What the encoder needs to know about a production. */
async function encodeInput(
  tx: Transaction,
  workspaceId: string,
  productionId: string,
  production: Production,
  sourceEtag: string,
): Promise<unknown> {
  const episode = await findResource(tx, workspaceId, 'episodes', production.episode_id);
  const podcast = await findResource(tx, workspaceId, 'podcasts', String(episode?.attributes['podcast_id']));
  const upload = await findResource(tx, workspaceId, 'uploads', production.upload_id);
  const source = upload!.attributes as unknown as Upload;
  return {
    production_id: productionId,
    episode_id: production.episode_id,
    storage_key: source.storage_key,
    /** What was probed and reserved for; an encoder refuses other bytes under the same key. */
    source_etag: sourceEtag,
    filename: source.filename,
    declared_size_bytes: source.filesize ?? null,
    loudness_target_lufs: podcast!.attributes['loudness_target_lufs'],
    title: episode!.attributes['title'],
    podcast_title: podcast!.attributes['title'],
  };
}

/** Rules of the production commands. */
export const productionRules = (options: {
  pool: Pool;
  store: ObjectStore;
  mediaUrl: string;
  probeDuration: ProbeDuration;
}): ProductionRules => ({
  'production.create': {
    prepare: async ({ workspaceId, changes }) => {
      const { id, upload } = await receivedUpload(
        options.pool,
        options.store,
        workspaceId,
        uploadIdOf(options.mediaUrl, changes.file_url),
        '/changes/file_url',
      );
      return () => ({
        attributes: {
          episode_id: changes.episode_id,
          file_url: upload.file_url,
          upload_id: id,
          publication_flag: changes.publication_flag ?? false,
          files: [],
        },
      });
    },
  },

  'production.start': {
    prepare: async ({ workspaceId, current, deadline }) => {
      const { pool, store } = options;
      const { upload, etag } = await receivedUpload(pool, store, workspaceId, current?.upload_id, '/subject');
      const reservedMs = await options.probeDuration(upload.storage_key, deadline);
      return async ({ tx, subjectId, current: locked, changes, now }) => {
        const month = encodingMonth(now);
        checkEncodingTime(await lockBalance(tx, workspaceId, month), reservedMs);
        const attributes = startedProduction(locked, { publish: changes.publish_episode ?? false, reservedMs, month });
        const input = await encodeInput(tx, workspaceId, subjectId, attributes, etag);
        return {
          attributes,
          also: async (inner, { version }) => {
            await moveBalance(inner, workspaceId, month, { reservedMs, usedMs: 0 });
            await insertJob(inner, {
              kind: 'encode_production',
              workspaceId,
              subjectType: 'productions',
              subjectId,
              subjectVersion: version,
              input,
              now,
            });
          },
        };
      };
    },
  },

  'production.complete': (input) => ({
    attributes: { ...withoutReservation(input.current), ...input.changes },
    also: settle(input, input.changes.audio_duration_ms),
  }),

  'production.fail': (input) => ({
    attributes: { ...withoutReservation(input.current), problem: input.changes.problem },
    also: settle(input, 0),
  }),
});
