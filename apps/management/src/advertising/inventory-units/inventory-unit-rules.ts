import type { Attributes, productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireCurrency } from '../../workspace/require-currency.ts';
import { requireResources } from '../../workspace/require-resources.ts';

type InventoryUnitRules = Pick<Rules<typeof productCatalog>, 'inventory_unit.create' | 'inventory_unit.revise'>;
type InventoryUnit = Attributes<'inventory_units'>;

/** Levels of units above one another. */
const maxDepth = 8;

/** The source that each kind of unit has. */
const sourceOf = {
  network: { podcast: false, episodes: false, says: 'A network covers the whole workspace; leave source_ref empty.' },
  show: { podcast: true, episodes: false, says: 'A show names its podcast_id, and nothing else.' },
  episode_set: { podcast: true, episodes: true, says: 'An episode set names its podcast_id and its episode_ids.' },
} as const;

async function checkSource(tx: Transaction, workspaceId: string, { kind, source_ref: source }: InventoryUnit) {
  const path = '/changes/source_ref';
  const expected = sourceOf[kind];
  if (
    expected.podcast !== (source.podcast_id !== undefined) ||
    expected.episodes !== (source.episode_ids !== undefined)
  )
    refuseField(path, 'wrong_source', expected.says);
  const { podcast_id: podcastId, episode_ids: episodeIds = [] } = source;
  if (podcastId !== undefined)
    await requireResources(tx, { workspaceId, type: 'podcasts', ids: [podcastId], path: `${path}/podcast_id` });
  const ids = [...new Set(episodeIds)];
  const episodes = await requireResources(tx, { workspaceId, type: 'episodes', ids, path: `${path}/episode_ids` });
  const foreign = episodes.find(({ attributes }) => attributes.podcast_id !== podcastId);
  if (foreign) refuseField(`${path}/episode_ids`, 'other_podcast', `${foreign.id} is of another podcast.`);
}

/** Throws when the parents lead back to the unit, or are too many. */
async function checkParents(tx: Transaction, workspaceId: string, id: string, unit: InventoryUnit): Promise<void> {
  let above = unit.parent_id;
  for (let depth = 0; above !== undefined; depth++) {
    if (above === id || depth === maxDepth)
      refuseField(
        '/changes/parent_id',
        'no_tree',
        `Units lie in one another at most ${maxDepth} deep, never in a circle.`,
      );
    const parent = await findResource(tx, workspaceId, 'inventory_units', above);
    above = parent?.attributes.parent_id;
  }
}

async function check(tx: Transaction, workspaceId: string, id: string, unit: InventoryUnit): Promise<void> {
  await checkSource(tx, workspaceId, unit);
  await checkParents(tx, workspaceId, id, unit);
  const { min_cpm: least, min_cpm_by_position: byPosition } = unit;
  if (unit.kind === 'episode_set' && (least || byPosition)) {
    const path = least ? '/changes/min_cpm' : '/changes/min_cpm_by_position';
    refuseField(path, 'not_of_a_set', 'Least prices are of networks and shows.');
  }
  await requireCurrency(tx, workspaceId, least, '/changes/min_cpm');
  for (const [at, one] of (byPosition ?? []).entries())
    await requireCurrency(tx, workspaceId, one.min_cpm, `/changes/min_cpm_by_position/${at}/min_cpm`);
}

/** Rules of the inventory unit commands. */
export const inventoryUnitRules: InventoryUnitRules = {
  'inventory_unit.create': async ({ tx, workspaceId, subjectId, changes }) => {
    await check(tx, workspaceId, subjectId, changes);
    return { attributes: changes };
  },

  'inventory_unit.revise': async ({ tx, workspaceId, subjectId, current, changes }) => {
    const attributes = { ...current, ...changes };
    await check(tx, workspaceId, subjectId, attributes);
    return { attributes };
  },
};
