import { isResource } from '@longwave/command-catalog';
import { subscribeWhenReachable, type EventBus } from '@longwave/event-bus';
import { domainEventSchema, topics } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import type { Logger } from '@longwave/service-kit';
import { z } from 'zod';
import { deleteWithoutWorkspace } from '../accounts/without-workspace-table.ts';
import { collaborationRoles } from './grant.ts';
import { isForPeople, saveAuthorityGrant } from './authority-grant-table.ts';
import { saveCollaborators } from './grant-table.ts';

const podcast = z.object({
  title: z.string(),
  collaborators: z.array(z.object({ email: z.string(), role: z.enum(collaborationRoles) })).default([]),
});

/**
 * Keeps, from management's events, who collaborates on which podcast (an archived one has no collaborators), which authority grants people
 * have, and which accounts have their workspace.
 */
export const followProduct = (options: {
  readonly bus: EventBus;
  readonly pool: Pool;
  readonly logger: Logger;
  /** Called when there may be new invitations. */
  readonly onSaved: () => void;
}): AsyncDisposable =>
  subscribeWhenReachable(options.bus, {
    topic: topics.product,
    group: 'auth-server',
    oneByOne: true,
    handle: async (messages) => {
      for (const { payload } of messages) {
        const { subject, workspace_id: workspaceId, after, occurred_at: at } = domainEventSchema.parse(payload);
        if (isResource(after, 'workspaces')) await deleteWithoutWorkspace(options.pool, workspaceId);
        if (isResource(after, 'authority_grants') && isForPeople(after.attributes)) {
          const { lifecycle_state: state, attributes } = after;
          const { id, version } = subject;
          await saveAuthorityGrant(options.pool, { id, workspaceId, version, state, attributes, at: new Date(at) });
          options.onSaved();
        }
        if (!isResource(after, 'podcasts')) continue;
        const { title, collaborators } = podcast.parse(after.attributes);
        await saveCollaborators(options.pool, {
          id: subject.id,
          workspaceId,
          version: subject.version,
          title,
          at: new Date(at),
          collaborators:
            after.lifecycle_state === 'archived'
              ? []
              : collaborators.map(({ email, role }) => ({ email: email.toLowerCase(), role })),
        });
        options.onSaved();
      }
    },
    onRetry: (error) => options.logger.warn({ err: error, topic: topics.product }, 'follower.retried'),
  });
