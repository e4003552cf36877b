import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { expectedEncodingMs } from '../../background/job-order.ts';
import { finishJob, insertJob, stopSegmentJobs } from '../../background/job-table.ts';
import { declaredChecksum, holdUpload } from '../../workspace/uploads/find-upload.ts';
import type { FindNamedUpload } from './named-upload.ts';
import type { Podcast, TemplatePart } from './podcast.ts';

type Part = 'intro' | 'outro';
type PartRules<P extends Part> = Pick<
  Rules<typeof productCatalog>,
  `podcast.set_${P}` | `podcast.clear_${P}` | `podcast.record_${P}` | `podcast.fail_${P}`
>;
type AnyPartRules = {
  readonly [K in 'set' | 'clear' | 'record' | 'fail']: Rules<typeof productCatalog>[`podcast.${K}_intro`];
};

/** The part that an encoder reports about. Throws `lease_lost` for a cleared part, whose job has ended. */
function reported(podcast: Readonly<Podcast>, part: Part): TemplatePart {
  const found = podcast[part];
  if (!found) throw new Problem('lease_lost', `The ${part} was cleared; drop the job.`);
  return found;
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
      const { id, upload, etag, sizeBytes } = found;
      return async ({ tx: held, current, subjectId, now }) => {
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
          also: async (tx, { version }) => {
            // The newest file wins: the preparation of an earlier one ends.
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
                storage_key: upload.storage_key,
                source_etag: etag,
                ...declaredChecksum(found),
                loudness_target_lufs: current.loudness_target_lufs,
              },
              work: { workClass: 'interactive', expectedMs: expectedEncodingMs({ sizeBytes }) },
              now,
            });
          },
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

  fail: ({ current, changes, subjectId, reason }) => ({
    attributes: {
      ...current,
      [part]: { ...reported(current, part), state: 'failed', problem: changes.problem } satisfies TemplatePart,
    },
    also: (tx) => finishJob(tx, subjectId, reason),
  }),
});

/** Rules of the commands that set, clear and report intro and outro. */
export function templatePartRules(findNamedUpload: FindNamedUpload): PartRules<Part> {
  const intro = rulesOf('intro', findNamedUpload);
  const outro = rulesOf('outro', findNamedUpload);
  return {
    'podcast.set_intro': intro.set,
    'podcast.set_outro': outro.set,
    'podcast.clear_intro': intro.clear,
    'podcast.clear_outro': outro.clear,
    'podcast.record_intro': intro.record,
    'podcast.record_outro': outro.record,
    'podcast.fail_intro': intro.fail,
    'podcast.fail_outro': outro.fail,
  };
}
