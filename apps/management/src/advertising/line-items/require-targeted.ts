import type { ResourceRow } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';
import type { LineItem } from './line-item.ts';

type ListedRow = ResourceRow<'podcasts' | 'episodes' | 'inventory_units'>;

/** Throws for sets of episodes beside whole podcasts: these are two dimensions, and a play would have to match both. */
function checkMixture(units: readonly ListedRow[], targeting: LineItem['targeting'], path: string): void {
  const isSet = ({ attributes }: ListedRow) => 'kind' in attributes && attributes.kind === 'episode_set';
  const { podcasts } = targeting;
  const whole = units.some((unit) => !isSet(unit)) || (!Array.isArray(podcasts) && podcasts.include.length > 0);
  if (units.some(isSet) && whole)
    refuseField(
      path,
      'mixed_inventory',
      'Target whole podcasts or sets of episodes, each with a line item of its own.',
    );
}

/**
 * Throws unless the resources that a targeting names exist and may be combined.
 * @param at JSON Pointer of the targeting
 */
export async function requireTargeted(
  tx: Transaction,
  workspaceId: string,
  targeting: LineItem['targeting'] | undefined,
  at: string,
): Promise<void> {
  const types = { podcasts: 'podcasts', episodes: 'episodes', inventory: 'inventory_units' } as const;
  for (const [name, type] of Object.entries(types)) {
    const lists = targeting?.[name as keyof typeof types];
    if (!lists || Array.isArray(lists)) continue;
    for (const [side, ids] of Object.entries(lists)) {
      const path = `${at}/${name}/${side}`;
      const rows = await requireResources(tx, { workspaceId, type, ids: [...new Set(ids)], path, unless: [] });
      if (name === 'inventory' && side === 'include') checkMixture(rows, targeting, path);
    }
  }
}
