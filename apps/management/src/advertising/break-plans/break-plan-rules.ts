import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { deliveryContract } from '@longwave/services';
import { requireSurfaces } from './surfaces.ts';
import { refuseField } from '../../workspace/refuse-field.ts';
import { requireResources } from '../../workspace/require-resources.ts';

type BreakPlanRules = Pick<
  Rules<typeof productCatalog>,
  'break_plan.create' | 'break_plan.publish' | 'break_plan.retire'
>;

/** Ids without repetitions, in order. */
const distinct = (ids: readonly string[]) => [...new Set(ids)].sort();
const path = '/changes/inventory_unit_ids';

/** Rules of the break plan commands. */
export const breakPlanRules: BreakPlanRules = {
  'break_plan.create': async ({ tx, workspaceId, changes: { surfaces, ...changes } }) => {
    const ids = distinct(changes.inventory_unit_ids);
    await requireResources(tx, { workspaceId, type: 'inventory_units', ids, path });
    const named = surfaces && { surfaces: distinct(surfaces) };
    return { attributes: { ...changes, inventory_unit_ids: ids, ...named } };
  },

  'break_plan.publish': async ({ tx, workspaceId, current, changes, now }) => {
    await requireResources(tx, { workspaceId, type: 'inventory_units', ids: current.inventory_unit_ids, path });
    const decidedBy = requireSurfaces(deliveryContract, current.surfaces ?? ['progressive']);
    return { decidedBy, attributes: { ...current, effective_at: changes.effective_at ?? now.toISOString() } };
  },

  'break_plan.retire': async ({ tx, workspaceId, subjectId, current, changes }) => {
    const { replacement_id: id } = changes;
    if (id === 'none') return { attributes: current };
    const at = '/changes/replacement_id';
    if (id === subjectId) refuseField(at, 'same_plan', 'A break plan does not replace itself.');
    const unless = ['draft', 'superseded', 'retired'];
    await requireResources(tx, { workspaceId, type: 'break_plans', ids: [id], path: at, unless });
    return { attributes: { ...current, replacement_id: id } };
  },
};
