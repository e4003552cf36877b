import type { StateOf } from '@longwave/command-catalog';
import type { DeliveredMessage } from '@longwave/event-bus';
import { domainEventSchema, type DomainEvent } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { applyStates, type StatefulType, type StateRevision } from './serving-state-table.ts';

/** A group of its own: it reads the topic from its beginning, and no other follower's failure stops it. */
export const stateFollowerGroup = 'internal-serving.states';

const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('workspace') }),
  z.strictObject({ kind: z.literal('show'), podcast_id: z.string() }),
  z.strictObject({ kind: z.literal('line_item'), line_item_id: z.string() }),
  z.strictObject({ kind: z.literal('creative'), creative_id: z.string() }),
  z.strictObject({ kind: z.literal('surface'), surface: z.string() }),
]);
const halt = z.object({ scope });
const assignment = z.object({ line_item_id: z.string(), creative_id: z.string() });

/** States of a resource in which its subject may serve. */
const servingStates: { readonly [T in StatefulType]: readonly StateOf<T>[] } = {
  line_items: ['booked', 'delivering', 'delivery_extended'],
  campaigns: ['active'],
  advertisers: ['draft', 'active'],
  creatives: ['approved'],
  creative_assignments: ['active'],
  serving_halts: ['released'],
  workspaces: ['provisioning', 'active'],
};

const isStateful = (type: string): type is StatefulType => Object.hasOwn(servingStates, type);

function subjectOf(type: StatefulType, { subject, after }: DomainEvent): StateRevision['subject'] {
  if (type === 'serving_halts') return halt.parse(after.attributes).scope;
  if (type !== 'creative_assignments') return subject.id;
  const { line_item_id, creative_id } = assignment.parse(after.attributes);
  return `${line_item_id}/${creative_id}`;
}

/** A handler for `product.events` that keeps `serving_state`. Throws on an event that lacks a required field. */
export function createStateFollower(pool: Pool, onChanged: () => void) {
  return async (messages: readonly DeliveredMessage[]): Promise<void> => {
    const events = messages.map((message) => domainEventSchema.parse(message.payload));
    const revisions = events.flatMap((event): StateRevision[] => {
      const { type, id, version } = event.subject;
      if (!isStateful(type)) return [];
      const serving: readonly string[] = servingStates[type];
      return [
        {
          resourceId: id,
          resourceType: type,
          workspaceId: event.workspace_id,
          version,
          serves: serving.includes(event.after.lifecycle_state),
          subject: subjectOf(type, event),
        },
      ];
    });
    if (revisions.length === 0) return;
    await applyStates(pool, revisions);
    onChanged();
  };
}
