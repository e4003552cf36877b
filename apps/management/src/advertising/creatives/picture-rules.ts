import type { Attributes, productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { expectedPictureMs } from '../../background/job-order.ts';
import { finishJob, hasJob, insertJob } from '../../background/job-table.ts';
import { declaredChecksum, holdUpload } from '../../workspace/uploads/find-upload.ts';
import { findStoredAd, requireSameUpload, sourceGone, subjectPath } from './stored-ad.ts';

type Creative = Attributes<'creatives'>;
type PictureRules = Pick<
  Rules<typeof productCatalog>,
  'creative.start_pictures' | 'creative.record_pictures' | 'creative.fail_pictures'
>;

/** Processor seconds for a second of all sizes: of an own picture, and of a still one. */
const cost = { own: 1.8, still: 0.7 };

/** Whether the ad shows a picture of its own, instead of a still one. */
export const hasOwnPicture = ({ format }: Pick<Creative, 'format'>): boolean => format !== 'audio';

/** Rules of the commands that make the pictures of prepared creatives for HLS. */
export const pictureRules = (options: { readonly pool: Pool; readonly store: ObjectStore }): PictureRules => ({
  'creative.start_pictures': {
    prepare: async ({ workspaceId, current: before }) => {
      const uploadId = before!.upload_id;
      const found = hasOwnPicture(before!) ? await findStoredAd(options, workspaceId, uploadId) : undefined;
      return async ({ tx: held, current, subjectId, now }) => {
        const sound = current.media.every(({ hls }) => hls) ? current.media[0]?.hls : undefined;
        if (!sound)
          throw new Problem('state_not_allowed', 'Pictures get the cells of the sound, whose tracks are not made yet.');
        if (await hasJob(held, 'encode_creative_pictures', subjectId))
          throw new Problem('state_not_allowed', 'The pictures are being made already.');
        requireSameUpload(current, uploadId);
        const isOwn = hasOwnPicture(current);
        if (isOwn && !found) return { attributes: { ...current, pictures: { state: 'failed', problem: sourceGone } } };
        if (found) await holdUpload(held, found, subjectPath);
        return {
          attributes: { ...current, pictures: { state: 'encoding' } },
          also: (tx, { version }) =>
            insertJob(tx, {
              kind: 'encode_creative_pictures',
              workspaceId,
              subjectType: 'creatives',
              subjectId,
              subjectVersion: version,
              input: {
                creative_id: subjectId,
                sound_index: { storage_key: sound.index.storage_key, sha256: sound.index.sha256 },
                ...(found && {
                  storage_key: found.upload.storage_key,
                  source_etag: found.etag,
                  ...declaredChecksum(found),
                }),
              },
              work: {
                workClass: 'bulk',
                expectedMs: expectedPictureMs(current.duration_ms ?? 0, isOwn ? cost.own : cost.still),
              },
              now,
            }),
        };
      };
    },
  },

  'creative.record_pictures': ({ current, changes, subjectId, reason }) => ({
    attributes: { ...current, pictures: { state: 'ready', ...changes } },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),

  'creative.fail_pictures': ({ current, changes: { problem }, subjectId, reason }) => ({
    attributes: { ...current, pictures: { state: 'failed', problem } },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
});
