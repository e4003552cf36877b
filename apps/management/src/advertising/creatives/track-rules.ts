import type { Attributes, productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, hasJob, insertJob } from '../../background/job-table.ts';
import { declaredChecksum, holdUpload } from '../../workspace/uploads/find-upload.ts';
import { adLoudnessesLufs, expectedLadderMs } from './ad-loudnesses.ts';
import { findStoredAd, requireSameUpload, sourceGone, subjectPath } from './stored-ad.ts';

type Creative = Attributes<'creatives'>;
type TrackRules = Pick<
  Rules<typeof productCatalog>,
  'creative.start_tracks' | 'creative.record_tracks' | 'creative.fail_tracks'
>;

const withoutTracks = ({ media }: Pick<Creative, 'media'>) => media.filter(({ hls }) => !hls);

/** Rules of the commands that make tracks of HLS for creatives that were prepared before. */
export const trackRules = (options: { readonly pool: Pool; readonly store: ObjectStore }): TrackRules => ({
  'creative.start_tracks': {
    prepare: async ({ workspaceId, current: before }) => {
      const uploadId = before!.upload_id;
      const found = await findStoredAd(options, workspaceId, uploadId);
      return async ({ tx: held, current, subjectId, now }) => {
        const streams = withoutTracks(current);
        if (streams.length === 0 || (await hasJob(held, 'encode_creative_tracks', subjectId)))
          throw new Problem('state_not_allowed', 'No prepared stream lacks a track that is not being made already.');
        requireSameUpload(current, uploadId);
        if (!found) return { attributes: { ...current, tracks: { state: 'failed', problem: sourceGone } } };
        await holdUpload(held, found, subjectPath);
        return {
          attributes: { ...current, tracks: { state: 'encoding' } },
          also: (tx, { version }) =>
            insertJob(tx, {
              kind: 'encode_creative_tracks',
              workspaceId,
              subjectType: 'creatives',
              subjectId,
              subjectVersion: version,
              input: {
                creative_id: subjectId,
                storage_key: found.upload.storage_key,
                source_etag: found.etag,
                ...declaredChecksum(found),
                loudness_targets_lufs: adLoudnessesLufs,
                streams: streams.map(({ sha256, loudness_lufs }) => ({ sha256, loudness_lufs })),
              },
              work: {
                workClass: 'bulk',
                expectedMs: expectedLadderMs(found.sizeBytes),
              },
              now,
            }),
        };
      };
    },
  },

  'creative.record_tracks': ({ current: { tracks: _tracks, ...current }, changes, subjectId, reason }) => {
    const made = new Map(changes.tracks.map(({ stream, hls }) => [stream, hls]));
    const media = current.media.map((stream) => {
      const hls = stream.hls ?? made.get(stream.sha256);
      return { ...stream, ...(hls && { hls }) };
    });
    return { attributes: { ...current, media }, also: (tx) => finishJob(tx, subjectId, reason) };
  },

  'creative.fail_tracks': ({ current, changes: { problem }, subjectId, reason }) => ({
    attributes: { ...current, tracks: { state: 'failed', problem } },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
});
