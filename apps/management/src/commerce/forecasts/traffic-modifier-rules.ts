import type { Attributes, productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
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

/** Rules of the commands of traffic modifiers. */
export const trafficModifierRules: Pick<
  Rules<typeof productCatalog>,
  'traffic_modifier.create' | 'traffic_modifier.revise'
> = {
  'traffic_modifier.create': async ({ tx, workspaceId, changes }) => ({
    attributes: await checked(tx, workspaceId, changes),
  }),

  'traffic_modifier.revise': async ({ tx, workspaceId, current, changes }) => ({
    attributes: await checked(tx, workspaceId, { ...current, ...changes }),
  }),
};
