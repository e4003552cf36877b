import type { EventOf } from '@longwave/command-catalog';
import { listInStates, type ResourceRow } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Send } from '../../background/send-as-management.ts';

/** Events after which other policies may be in force. */
type PolicyChange = EventOf<'policy.activated' | 'policy.superseded' | 'policy.retired'>;
type Publication = EventOf<'serving_plan.published' | 'serving_plan.republished'>;

/** When the content of a published plan was first published; a renewal keeps this time. */
export const publicationOf = ({ attributes, updated_at: updatedAt }: ResourceRow<'serving_plans'>): Date =>
  attributes.published_at === undefined ? updatedAt : new Date(attributes.published_at);

/**
 * Publishes the plans of a workspace again under the policies that are in force now, in the order of their publication: the last
 * one in effect goes on deciding, and those for a later time follow. Plans that have these policies already stay.
 */
export async function renewPolicies(
  event: PolicyChange | Publication,
  { send, pool, clock }: { readonly send: Send; readonly pool: Pool; readonly clock: () => Date },
): Promise<void> {
  const published = await listInStates(pool, event.workspace_id, 'serving_plans', ['published']);
  const inOrder = published.toSorted(
    (a, b) =>
      publicationOf(a).getTime() - publicationOf(b).getTime() ||
      a.updated_at.getTime() - b.updated_at.getTime() ||
      (a.id < b.id ? -1 : 1),
  );
  const now = clock().getTime();
  const isAhead = (row: (typeof inOrder)[number]) => Date.parse(row.attributes.effective_from) > now;
  // Of the plans in effect only the last one decides; an earlier one, renewed, would decide for a moment.
  const deciding = inOrder.findLast((row) => !isAhead(row));
  for (const { id } of inOrder.filter((row) => row === deciding || isAhead(row)))
    await send(event, `renew:${id}`, { type: 'serving_plan.renew_policies', id: null, changes: { renews: id } });
}
