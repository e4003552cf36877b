import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, type LeaseReport } from '../jobs/job-table.ts';
import { holdUpload, receivedUpload } from '../uploads/find-upload.ts';

type CreativeRules = Pick<
  Rules<typeof productCatalog>,
  'creative.create' | 'creative.attach_media' | 'creative.record_media' | 'creative.fail_media' | 'creative.submit'
>;

/** Loudnesses that an ad is prepared at, so that one is within 1 LU of any usual episode (docs/adr/0014). */
const adLoudnessesLufs = [-24, -22, -20, -18, -16, -14];

/** Rules of the creative commands. */
export const creativeRules = (options: { pool: Pool; store: ObjectStore }): CreativeRules => ({
  'creative.create': ({ changes }) => ({ attributes: { ...changes, media: [] } }),

  'creative.attach_media': {
    prepare: async ({ workspaceId, changes }) => {
      const path = '/changes/upload_ref';
      const named = { workspaceId, uploadId: changes.upload_ref, path };
      const { id, upload, etag } = await receivedUpload(options.pool, options.store, named);
      return async ({ tx: held, current, subjectId, now }) => {
        await holdUpload(held, id, path);
        const { problem: _problem, ...kept } = current;
        return {
          attributes: { ...kept, upload_id: id, media: [] },
          also: (tx, { version }) =>
            insertJob(tx, {
              kind: 'encode_creative',
              workspaceId,
              subjectType: 'creatives',
              subjectId,
              subjectVersion: version,
              input: {
                creative_id: subjectId,
                storage_key: upload.storage_key,
                source_etag: etag,
                loudness_targets_lufs: adLoudnessesLufs,
              },
              now,
            }),
        };
      };
    },
  },

  'creative.record_media': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, ...changes },
    also: (tx) => finishJob(tx, subjectId, reason as LeaseReport),
  }),

  'creative.fail_media': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, problem: changes.problem },
    also: (tx) => finishJob(tx, subjectId, reason as LeaseReport),
  }),

  'creative.submit': ({ current, changes }) => {
    if (current.media.length === 0)
      throw new Problem(
        'creative_not_ready',
        `“${current.name}” has no prepared media yet. Wait for creative.media_recorded.`,
      );
    return { attributes: { ...current, ...changes } };
  },
});
