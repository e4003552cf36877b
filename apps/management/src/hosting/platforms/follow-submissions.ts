import type { EventOf, Reactions } from '@longwave/command-catalog';
import { findResource, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';
import { whyNotShown } from './require-presentation.ts';

type Submission = Pick<ResourceRow<'platform_submissions'>, 'id' | 'lifecycle_state' | 'attributes'>;

/** Whether the platform has it, and nobody has asked to take it back. */
const isThere = ({ lifecycle_state: state, attributes }: Submission): boolean =>
  (state === 'submitted' || state === 'accepted') && !attributes.withdrawal;

/**
 * Takes submissions back whose episode is not shown any more. One that is being submitted, or is ambiguous, is looked at when its outcome is
 * recorded; so nothing that happens at the same moment is missed.
 */
async function withdrawHidden(
  event: Pick<DomainEvent, 'id' | 'workspace_id'>,
  submissions: readonly Submission[],
  send: Send,
  pool: Pool,
): Promise<void> {
  const { workspace_id: workspaceId } = event;
  for (const { id, attributes } of submissions.filter(isThere)) {
    const { podcast_id, episode_id } = attributes;
    const podcast = await findResource(pool, workspaceId, 'podcasts', podcast_id);
    const cause = whyNotShown(podcast, await findResource(pool, workspaceId, 'episodes', episode_id));
    if (cause !== undefined)
      await send(event, `withdraw:${id}`, { type: 'platform_submission.withdraw', id, changes: { cause } });
  }
}

/** Reactions that take presentations back from platforms when they are not shown here any more. */
export function submissionReactions(send: Send, pool: Pool): Reactions<Promise<void>> {
  const ofParent = (link: 'podcast' | 'episode') => async (event: DomainEvent) => {
    const { workspace_id: workspaceId, subject } = event;
    const submissions = await listLinked(pool, workspaceId, 'platform_submissions', link, subject.id);
    await withdrawHidden(event, submissions, send, pool);
  };
  const ofRecorded = async (event: EventOf<'platform_submission.recorded'>) => {
    const { workspace_id: workspaceId, subject } = event;
    const submission = await findResource(pool, workspaceId, 'platform_submissions', subject.id);
    if (submission) await withdrawHidden(event, [submission], send, pool);
  };
  return {
    'episode.unpublished': ofParent('episode'),
    'episode.archived': ofParent('episode'),
    'podcast.unpublished': ofParent('podcast'),
    'podcast.archived': ofParent('podcast'),
    'podcast.revised': async (event) => {
      if (!event.after.attributes.hls_video) await ofParent('podcast')(event);
    },
    'platform_submission.recorded': ofRecorded,
  };
}
