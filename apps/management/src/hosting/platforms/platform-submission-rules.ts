import type { productCatalog } from '@longwave/command-catalog';
import { findResource, holdResource, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { EnclosureServiceService } from '@longwave/rpc/delivery';
import type { DeliveryContract } from '@longwave/services';
import { finishJob, hasJob, insertJob, requireLease } from '../../background/job-table.ts';
import { assertFewOpenJobs } from '../../background/open-jobs.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import type { PlatformAction, Platforms } from './platform.ts';
import { requireVideo, requireVideoSurface, whyNotShown } from './require-presentation.ts';
import { afterFailure, afterStatement, providerOf } from './submission.ts';

type SubmissionRules = Pick<
  Rules<typeof productCatalog>,
  Extract<keyof Rules<typeof productCatalog>, `platform_submission.${string}`>
>;

const kind = 'ask_platform';
/** The longest that public-delivery may take. */
const deadlineMs = 5_000;

export interface SubmissionRuleOptions {
  readonly platforms: Platforms;
  readonly contract: DeliveryContract;
  readonly findPresentation: RpcClient<typeof EnclosureServiceService>['findPresentation'];
}

/** Queues a request to the platform. A submission has one at a time: each begins with what the one before has found. */
const queue =
  (action: PlatformAction, { workspaceId, subjectId, now }: { workspaceId: string; subjectId: string; now: Date }) =>
  (tx: Transaction, { version }: { readonly version: number }): Promise<void> =>
    insertJob(tx, {
      ...{ kind, workspaceId, subjectType: 'platform_submissions', subjectId, subjectVersion: version },
      ...{ input: { action }, now },
    });

async function assertIdle(tx: Transaction, subjectId: string): Promise<void> {
  if (await hasJob(tx, kind, subjectId))
    throw new Problem('state_not_allowed', 'The platform is being asked about this submission. Wait for the answer.');
}

/** Rules of submissions to platforms. */
export const platformSubmissionRules = (options: SubmissionRuleOptions): SubmissionRules => ({
  'platform_submission.create': async ({ tx, workspaceId, changes }) => {
    const { platform, episode_id } = changes;
    const episode = await findResource(tx, workspaceId, 'episodes', episode_id);
    if (!episode || episode.lifecycle_state === 'archived')
      throw new Problem('link_not_found', `There is no episode ${episode_id} that can be used here.`);
    if (episode.attributes.snapshot_id)
      refuseField('/changes/episode_id', 'hosted_elsewhere', 'Another platform hosts this episode.');
    const { missing } = options.platforms[platform];
    return {
      attributes: {
        ...{ platform, episode_id, podcast_id: episode.attributes.podcast_id, ambiguity: 'none' },
        episode_on_platform: `${platform}:${episode_id}`,
        ...(missing !== undefined && { problem: { code: 'platform_not_configured', detail: missing } }),
      },
    };
  },

  'platform_submission.submit': {
    prepare: async ({ workspaceId, current: before }) => {
      const { missing } = options.platforms[before!.platform];
      if (missing !== undefined) throw new Problem('platform_not_configured', missing);
      const decidedBy = requireVideoSurface(options.contract);
      const { presentation } = await options.findPresentation(
        { workspaceId, episodeId: before!.episode_id },
        { deadlineMs },
      );
      return async (input) => {
        const { tx, current, state, subjectId, actor, now } = input;
        if (state === 'ambiguous' && current.absent_at === undefined)
          throw new Problem(
            'state_not_allowed',
            'It is not known whether the platform has this submission. Send platform_submission.refresh, and submit again only if it has nothing.',
          );
        await assertIdle(tx, subjectId);
        // A command that takes them offline at the same moment comes before or after this one.
        await holdResource(tx, workspaceId, 'podcasts', current.podcast_id);
        await holdResource(tx, workspaceId, 'episodes', current.episode_id);
        const podcast = await findResource(tx, workspaceId, 'podcasts', current.podcast_id);
        const reason = whyNotShown(podcast, await findResource(tx, workspaceId, 'episodes', current.episode_id));
        if (reason !== undefined) throw new Problem('presentation_not_ready', reason);
        const { url, digest } = requireVideo(presentation);
        if (actor.kind === 'principal') await assertFewOpenJobs(tx, workspaceId, kind, 'requests to platforms');
        const { problem: _p, absent_at: _a, known: _k, ...kept } = current;
        return {
          attributes: {
            ...{ ...kept, playlist_url: url, presentation_sha256: digest, ambiguity: 'none' },
            submitted_at: now.toISOString(),
          },
          decidedBy,
          also: queue('submit', input),
        };
      };
    },
  },

  'platform_submission.refresh': async (input) => {
    const { tx, workspaceId, current, subjectId, actor } = input;
    await assertIdle(tx, subjectId);
    if (actor.kind === 'principal') await assertFewOpenJobs(tx, workspaceId, kind, 'requests to platforms');
    const { refresh_at: _, ...attributes } = current;
    return { attributes, also: queue('refresh', input) };
  },

  'platform_submission.withdraw': async (input) => {
    const { tx, workspaceId, current, subjectId, changes, actor, now } = input;
    await assertIdle(tx, subjectId);
    if (actor.kind === 'principal') await assertFewOpenJobs(tx, workspaceId, kind, 'requests to platforms');
    const { refresh_at: _, problem: _p, ...kept } = current;
    const withdrawal = { requested_at: now.toISOString(), cause: changes.cause };
    return { attributes: { ...kept, withdrawal }, also: queue('withdraw', input) };
  },

  'platform_submission.discard': ({ current, state }) => {
    if (state === 'ambiguous' && current.absent_at === undefined)
      throw new Problem(
        'state_not_allowed',
        'It is not known whether the platform has this submission. Refresh it first.',
      );
    return { attributes: current };
  },

  'platform_submission.begin': async ({ tx, current, subjectId, changes, reason, now }) => {
    await requireLease(tx, subjectId, reason);
    const { action, sent_sha256 } = changes;
    return {
      attributes: { ...current, attempt: { action, begun_at: now.toISOString(), sent_sha256 } },
      // It may have been asked from now on, so the work can no longer be cancelled.
      provider: { external_receipt: null, ambiguity: 'none' },
    };
  },

  'platform_submission.postpone': async ({ tx, current, subjectId, changes, reason }) => {
    await requireLease(tx, subjectId, reason);
    const { attempt: _, ...kept } = current;
    return { attributes: { ...kept, problem: changes.problem } };
  },

  'platform_submission.record': ({ current, state, subjectId, changes, reason, now }) => {
    const next = afterStatement(current, state as Parameters<typeof afterStatement>[1], changes, now);
    return {
      ...next,
      provider: providerOf(next.attributes, changes.external_receipt),
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },

  'platform_submission.fail': ({ current, state, subjectId, changes, reason, now }) => {
    const next = afterFailure(current, state as Parameters<typeof afterFailure>[1], changes, now);
    return {
      ...next,
      provider: providerOf(next.attributes, changes.external_receipt),
      also: (tx) => finishJob(tx, subjectId, reason),
    };
  },
});
