import type { Attributes, productCatalog } from '@longwave/command-catalog';
import { listInStates, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';

type TrafficModifier = Attributes<'traffic_modifiers'>;

/** The attributes with each podcast once; throws `link_not_found` for one that is not in the workspace. */
async function checked(tx: Transaction, workspaceId: string, attributes: TrafficModifier): Promise<TrafficModifier> {
  const { scope } = attributes;
  if (scope.kind === 'workspace') return attributes;
  const ids = [...new Set(scope.podcast_ids)].sort();
  await requireResources(tx, { workspaceId, type: 'podcasts', ids, path: '/changes/scope/podcast_ids' });
  return { ...attributes, scope: { kind: 'podcasts', podcast_ids: ids } };
}

/** Modifiers of a workspace at the same time: each forecast multiplies the hours of all podcasts by them. */
const maxActive = 50;

/** Throws `validation_failed` where the workspace has as many modifiers as it may. */
async function assertFew(tx: Transaction, workspaceId: string): Promise<void> {
  const active = await listInStates(tx, workspaceId, 'traffic_modifiers', ['active']);
  if (active.length >= maxActive)
    refuseField('/changes', 'too_many', `A workspace has at most ${maxActive} traffic modifiers. Retire one first.`);
}

/** Rules of the commands of traffic modifiers. */
export const trafficModifierRules: Pick<
  Rules<typeof productCatalog>,
  'traffic_modifier.create' | 'traffic_modifier.revise'
> = {
  'traffic_modifier.create': async ({ tx, workspaceId, changes }) => {
    await assertFew(tx, workspaceId);
    return { attributes: await checked(tx, workspaceId, changes) };
  },

  'traffic_modifier.revise': async ({ tx, workspaceId, current, changes }) => ({
    attributes: await checked(tx, workspaceId, { ...current, ...changes }),
  }),
};
