import type { productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import { isProblem, Problem } from '@longwave/problems';
import { finishJob, hasJob, insertJob, stopJobs } from '../../background/job-table.ts';
import { holdUpload } from '../../workspace/uploads/find-upload.ts';
import { locateSource, type SourceLocation, type SourceOptions } from './production-source.ts';
import type { Production } from './production.ts';
import type { TrackName } from './missing-tracks.ts';
import { pictureJob, trackJob } from './track-job.ts';

type TrackRules = Pick<
  Rules<typeof productCatalog>,
  'production.start_track' | 'production.record_track' | 'production.fail_track'
>;

type Track = NonNullable<NonNullable<Production['tracks']>[TrackName]>;
type Sound = NonNullable<NonNullable<NonNullable<Production['tracks']>['a192']>['file']>;
type TrackProblem = NonNullable<Track['problem']>;

/** The production with another state of one track; a file that is there stays until there is another. */
const withTrack = (current: Readonly<Production>, name: TrackName, track: Track): Production => {
  const before = current.tracks?.[name]?.file;
  return { ...current, tracks: { ...current.tracks, [name]: { ...(before && { file: before }), ...track } } };
};

/** The production with other sound: pictures with the cells of the sound before are none of it. */
function withSound(
  current: Readonly<Production>,
  file: Sound,
): { readonly next: Production; readonly isAlike: boolean } {
  const isAlike = current.tracks?.a192?.file?.index.sha256 === file.index.sha256;
  const kept = isAlike ? current : { ...current, tracks: {} };
  return { next: withTrack(kept, 'a192', { state: 'ready', file }), isAlike };
}

/** Where the source of a production is, or why it is not there any more. */
async function findSource(
  options: SourceOptions,
  workspaceId: string,
  production: Readonly<Production>,
): Promise<SourceLocation | { readonly kind: 'gone'; readonly problem: TrackProblem }> {
  try {
    return await locateSource(options, workspaceId, production);
  } catch (error) {
    if (!isProblem(error, 'upload_not_received', 'production_has_no_audio')) throw error;
    const detail = 'The file that this audio was made of is not stored any more. Encode it from a new upload.';
    return { kind: 'gone', problem: { code: error.code, detail } };
  }
}

/** Rules of the commands about tracks of HLS. The MP3 of a production never depends on them. */
export const trackRules = (options: SourceOptions): TrackRules => ({
  'production.start_track': {
    prepare: async ({ workspaceId, current: before }) => {
      const location = await findSource(options, workspaceId, before!);
      return async ({ tx: held, current, changes: { track }, subjectId, now }) => {
        const sound = current.tracks?.a192?.file;
        if (track !== 'a192' && !sound)
          throw new Problem('state_not_allowed', 'Pictures get the cells of the sound. Make the track "a192" first.');
        const isMade =
          track === 'a192'
            ? hasJob(held, 'encode_hls_audio', subjectId)
            : hasJob(held, 'encode_hls_video', subjectId, track);
        if (await isMade) throw new Problem('state_not_allowed', 'The track is being made already.');
        if (current.file_url !== before!.file_url)
          throw new Problem('temporarily_unavailable', 'The production changed at the same moment. Try again.', {
            retryAfterSeconds: 1,
          });
        if (location.kind === 'gone')
          return { attributes: withTrack(current, track, { state: 'failed', problem: location.problem }) };
        if (location.kind === 'stored') await holdUpload(held, location.found, '/subject');
        const episode = await findResource(held, workspaceId, 'episodes', current.episode_id);
        const job =
          track === 'a192'
            ? { kind: 'encode_hls_audio' as const, ...trackJob(subjectId, current, location, episode!.attributes) }
            : {
                kind: 'encode_hls_video' as const,
                ...pictureJob(subjectId, current, location, { name: track, sound: sound! }),
              };
        return {
          attributes: withTrack(current, track, { state: 'encoding' }),
          also: (tx, { version }) =>
            insertJob(tx, {
              ...job,
              workspaceId,
              subjectType: 'productions',
              subjectId,
              subjectVersion: version,
              now,
            }),
        };
      };
    },
  },

  'production.record_track': ({ current, changes: { track, file, picture }, subjectId, reason }) => {
    const { next, isAlike } =
      track === 'a192'
        ? withSound(current, file)
        : { next: withTrack({ ...current, picture }, track, { state: 'ready', file }), isAlike: true };
    return {
      attributes: next,
      also: async (tx) => {
        await finishJob(tx, subjectId, reason);
        if (!isAlike) await stopJobs(tx, subjectId, 'encode_hls_video');
      },
    };
  },

  'production.fail_track': ({ current, changes: { track, problem }, subjectId, reason }) => ({
    attributes: withTrack(current, track, { state: 'failed', problem }),
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
});
