import type { Attributes, productCatalog, CommandWithRule } from '@longwave/command-catalog';
import { listLinked, type Rules } from '@longwave/command-pipeline';
import type { ObjectStore } from '@longwave/object-store';
import type { Pool, Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { finishJob, insertJob, stopJobs } from '../../background/job-table.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import { declaredChecksum, holdUpload, receivedUpload } from '../../workspace/uploads/find-upload.ts';
import { advertiserOf } from '../demand-sources/demand-source-rules.ts';
import { markUnsettled } from '../demand-sources/demand-table.ts';
import { requireNoReview } from '../../workspace/reviews/require-no-review.ts';
import { adLoudnessesLufs, expectedLadderMs } from './ad-loudnesses.ts';
import { hasOwnPicture, pictureRules } from './picture-rules.ts';
import { trackRules } from './track-rules.ts';

type Catalog = typeof productCatalog;
type Creative = Attributes<'creatives'>;
type CreativeRules = Pick<Rules<Catalog>, Extract<CommandWithRule<Catalog>, `creative.${string}`>>;

/** Throws unless the podcast is there whose host reads the ad; an ad that nobody's host reads has none. */
async function checkHost(
  tx: Transaction,
  workspaceId: string,
  { production, host_podcast_id: id }: Pick<Creative, 'production' | 'host_podcast_id'>,
): Promise<void> {
  if (id === undefined) return;
  const path = '/changes/host_podcast_id';
  if (production !== 'host_read')
    refuseField(path, 'not_host_read', 'Only an ad of the production host_read has a host.');
  await requireResources(tx, { workspaceId, type: 'podcasts', ids: [id], path });
}

/** Rules of the creative commands. */
export const creativeRules = (options: { pool: Pool; store: ObjectStore }): CreativeRules => ({
  'creative.create': async ({ tx, workspaceId, changes }) => {
    await checkHost(tx, workspaceId, changes);
    return { attributes: { ...changes, media: [] } };
  },

  'creative.revise': async ({ tx, workspaceId, current, changes, state }) => {
    for (const name of ['click_url', 'production', 'host_podcast_id'] as const)
      if (state === 'approved' && changes[name] !== undefined && changes[name] !== current[name])
        refuseField(
          `/changes/${name}`,
          'fixed_by_approval',
          'What listeners meet was approved. Make another creative.',
        );
    const { host_podcast_id: host, ...kept } = current;
    const production = changes.production ?? current.production;
    const attributes = { ...kept, ...(production === 'host_read' && { host_podcast_id: host }), ...changes };
    if (changes.host_podcast_id !== undefined) await checkHost(tx, workspaceId, attributes);
    return { attributes };
  },

  'creative.import': async ({ tx: held, workspaceId, subjectId, changes, now }) => {
    const { source, ...imported } = changes;
    const path = '/changes/demand_source_id';
    const ids = [changes.demand_source_id];
    const [row] = await requireResources(held, { workspaceId, type: 'demand_sources', ids, path, unless: ['retired'] });
    return {
      attributes: {
        ...imported,
        advertiser_id: await advertiserOf(held, workspaceId, row!.attributes),
        ...{ format: 'audio', production: 'produced', media: [] },
      },
      also: (tx, { version }) =>
        insertJob(tx, {
          kind: 'encode_creative',
          workspaceId,
          subjectType: 'creatives',
          subjectId,
          subjectVersion: version,
          input: {
            creative_id: subjectId,
            storage_key: source.storage_key,
            source_etag: source.etag,
            declared_sha256: source.sha256,
            loudness_targets_lufs: adLoudnessesLufs,
          },
          work: { workClass: 'bulk', expectedMs: expectedLadderMs(source.size_bytes) },
          now,
        }),
    };
  },

  'creative.attach_media': {
    prepare: async ({ workspaceId, changes }) => {
      const path = '/changes/upload_ref';
      const request = { workspaceId, uploadId: changes.upload_ref, path };
      const found = await receivedUpload(options.pool, options.store, request);
      const { id, upload, etag, sizeBytes } = found;
      return async ({ tx: held, current, subjectId, now }) => {
        await holdUpload(held, found, path);
        const { problem: _problem, tracks: _tracks, pictures: _pictures, ...kept } = current;
        return {
          attributes: { ...kept, upload_id: id, media: [] },
          also: async (tx, { version }) => {
            await stopJobs(tx, subjectId);
            await insertJob(tx, {
              kind: 'encode_creative',
              workspaceId,
              subjectType: 'creatives',
              subjectId,
              subjectVersion: version,
              input: {
                creative_id: subjectId,
                storage_key: upload.storage_key,
                source_etag: etag,
                ...declaredChecksum(found),
                loudness_targets_lufs: adLoudnessesLufs,
                ...(hasOwnPicture(current) && { needs_picture: true }),
              },
              work: {
                workClass: 'interactive',
                expectedMs: expectedLadderMs(sizeBytes),
              },
              now,
            });
          },
        };
      };
    },
  },

  'creative.cancel_media': ({ current: { upload_id: _upload, ...kept }, subjectId }) => {
    if (kept.media.length > 0)
      throw new Problem('state_not_allowed', `“${kept.name}” is prepared already. Submit it or archive it.`);
    return { attributes: kept, also: (tx) => stopJobs(tx, subjectId) };
  },

  'creative.record_media': ({ current, changes, subjectId, reason, now }) => ({
    attributes: { ...current, ...changes },
    also: async (tx) => {
      await finishJob(tx, subjectId, reason);
      await markUnsettled(tx, current.demand_source_id, now);
    },
  }),

  'creative.fail_media': ({ current, changes, subjectId, reason, now }) => ({
    attributes: { ...current, problem: changes.problem },
    also: async (tx) => {
      await finishJob(tx, subjectId, reason);
      await markUnsettled(tx, current.demand_source_id, now);
    },
  }),

  ...trackRules(options),
  ...pictureRules(options),

  'creative.submit': async ({ tx, workspaceId, subjectId, current, changes, actor, now }) => {
    if (current.media.length === 0)
      throw new Problem(
        'creative_not_ready',
        `“${current.name}” has no prepared media yet. Wait for creative.media_recorded.`,
      );
    const attributes = { ...current, ...changes };
    if (current.production === 'host_read' && attributes.host_podcast_id === undefined)
      refuseField('/changes/host_podcast_id', 'required', 'Name the podcast whose host reads the ad.');
    await checkHost(tx, workspaceId, attributes);
    await requireNoReview(tx, { workspaceId, actor, subjectId, current, changes, now });
    return { attributes, also: (inner) => markUnsettled(inner, current.demand_source_id, now) };
  },

  'creative.reject': ({ current, subjectId }) => ({
    attributes: current,
    also: (tx) => stopJobs(tx, subjectId),
  }),

  'creative.archive': async ({ tx: held, workspaceId, current, subjectId }) => {
    const assignments = await listLinked(held, workspaceId, 'creative_assignments', 'creative', subjectId);
    const active = assignments.find(({ lifecycle_state: state }) => state === 'active');
    if (active) throw new Problem('still_in_use', `Pause or end assignment ${active.id} first.`);
    return { attributes: current, also: (tx) => stopJobs(tx, subjectId) };
  },
});
