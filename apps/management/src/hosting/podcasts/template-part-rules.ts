import type { productCatalog } from '@longwave/command-catalog';
import type { RuleInput, Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import { expectedEncodingMs } from '../../background/job-order.ts';
import { finishJob, insertJob, stopSegmentJobs } from '../../background/job-table.ts';
import { declaredChecksum, holdUpload, type ReceivedUpload } from '../../workspace/uploads/find-upload.ts';
import type { FindNamedUpload } from './named-upload.ts';
import type { Podcast, TemplatePart } from './podcast.ts';

type Part = 'intro' | 'outro';
type PartRules<P extends Part> = Pick<
  Rules<typeof productCatalog>,
  `podcast.set_${P}` | `podcast.clear_${P}` | `podcast.start_${P}_track` | `podcast.record_${P}` | `podcast.fail_${P}`
>;
type AnyPartRules = {
  readonly [K in 'set' | 'clear' | 'record' | 'fail']: Rules<typeof productCatalog>[`podcast.${K}_intro`];
} & { readonly startTrack: Rules<typeof productCatalog>['podcast.start_intro_track'] };

/** The part that an encoder reports about. Throws `lease_lost` for a cleared part, whose job has ended. */
function reported(podcast: Readonly<Podcast>, part: Part): TemplatePart {
  const found = podcast[part];
  if (!found) throw new Problem('lease_lost', `The ${part} was cleared; drop the job.`);
  return found;
}

/** Queues the preparation of a part. The newest one wins: an earlier one ends. */
async function prepareAgain(
  tx: Transaction,
  part: Part,
  found: ReceivedUpload,
  podcast: Pick<RuleInput<Podcast, unknown>, 'workspaceId' | 'subjectId' | 'current' | 'now'>,
  version: number,
): Promise<void> {
  const { workspaceId, subjectId, current, now } = podcast;
  await stopSegmentJobs(tx, subjectId, part);
  await insertJob(tx, {
    kind: 'encode_segment',
    workspaceId,
    subjectType: 'podcasts',
    subjectId,
    subjectVersion: version,
    input: {
      podcast_id: subjectId,
      part,
      storage_key: found.upload.storage_key,
      source_etag: found.etag,
      ...declaredChecksum(found),
      loudness_target_lufs: current.loudness_target_lufs,
    },
    work: { workClass: 'interactive', expectedMs: expectedEncodingMs({ sizeBytes: found.sizeBytes }) },
    now,
  });
}

/** The part, when a track of HLS is all that it lacks. Throws `state_not_allowed` otherwise. */
function withoutTrack(podcast: Readonly<Podcast>, part: Part): TemplatePart {
  const found = podcast[part];
  if (found?.state !== 'ready' || !found.segment || found.segment.hls)
    throw new Problem('state_not_allowed', `The ${part} needs no track of HLS now.`);
  return found;
}

/** Why the file of a part cannot be had any more. Throws any other error. */
function whyGone(error: unknown): Required<Pick<TemplatePart, 'problem'>> {
  if (!isProblem(error, 'upload_not_received')) throw error;
  return { problem: { code: error.code, detail: 'The file is not stored any more. Upload it again and set it.' } };
}

/** Rules of one part; intro and outro have the same shapes. */
const rulesOf = (part: Part, findNamedUpload: FindNamedUpload): AnyPartRules => ({
  set: {
    prepare: async ({ workspaceId, actor, changes }) => {
      const found = await findNamedUpload({
        workspaceId,
        actor,
        fileUrl: changes.file_url,
        path: '/changes/file_url',
      });
      const { id, upload } = found;
      return async (input) => {
        const { tx: held, current } = input;
        await holdUpload(held, found, '/changes/file_url');
        const before = current[part]?.segment;
        return {
          attributes: {
            ...current,
            [part]: {
              file_url: upload.file_url,
              upload_id: id,
              state: 'encoding',
              ...(before && { segment: before }),
            } satisfies TemplatePart,
          },
          also: (tx, { version }) => prepareAgain(tx, part, found, input, version),
        };
      };
    },
  },

  startTrack: {
    prepare: async ({ workspaceId, actor, current: before }) => {
      const { upload_id: uploadId, file_url: fileUrl } = withoutTrack(before!, part);
      const found = await findNamedUpload({ workspaceId, actor, fileUrl, path: '/subject' }).catch(whyGone);
      return async (input) => {
        const present = withoutTrack(input.current, part);
        if (present.upload_id !== uploadId)
          throw new Problem('state_not_allowed', `The ${part} was replaced at the same moment.`);
        if ('problem' in found) return { attributes: { ...input.current, [part]: { ...present, ...found } } };
        await holdUpload(input.tx, found, '/subject');
        return {
          attributes: input.current,
          also: (tx, { version }) => prepareAgain(tx, part, found, input, version),
        };
      };
    },
  },

  clear: ({ current, subjectId }) => {
    const { [part]: _part, ...kept } = current;
    return { attributes: kept, also: (tx) => stopSegmentJobs(tx, subjectId, part) };
  },

  record: ({ current, changes, subjectId, reason }) => {
    const { problem: _problem, ...kept } = reported(current, part);
    return {
      attributes: { ...current, [part]: { ...kept, state: 'ready', segment: changes.segment } satisfies TemplatePart },
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },

  fail: ({ current, changes: { problem }, subjectId, reason }) => {
    const before = reported(current, part);
    // A part that was prepared again for its track is usable as before.
    const state = before.state === 'ready' ? 'ready' : 'failed';
    return {
      attributes: { ...current, [part]: { ...before, state, problem } satisfies TemplatePart },
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },
});

/** Rules of the commands that set, clear and report intro and outro. */
export function templatePartRules(findNamedUpload: FindNamedUpload): PartRules<Part> {
  const intro = rulesOf('intro', findNamedUpload);
  const outro = rulesOf('outro', findNamedUpload);
  return {
    'podcast.set_intro': intro.set,
    'podcast.set_outro': outro.set,
    'podcast.start_intro_track': intro.startTrack,
    'podcast.start_outro_track': outro.startTrack,
    'podcast.clear_intro': intro.clear,
    'podcast.clear_outro': outro.clear,
    'podcast.record_intro': intro.record,
    'podcast.record_outro': outro.record,
    'podcast.fail_intro': intro.fail,
    'podcast.fail_outro': outro.fail,
  };
}
