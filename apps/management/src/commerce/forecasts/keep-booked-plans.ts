import { listByIds, listChangedSince, listLinked } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { LRUCache } from 'lru-cache';
import type { PlanWorkspace } from '../../advertising/serving-plans/compile-plan.ts';
import { contendingStates } from './booked-plan.ts';
import { keepPlan, type BookedPlan } from './kept-plan.ts';
import { readBookedParts } from './read-booked-plan.ts';

interface KeptPlan extends BookedPlan {
  /** The workspace's newest change when it was read. */
  readonly seq: number;
  readonly timeZone: string;
  readonly size: number;
}

/** Characters of all kept plans; one of 10,000 line items has 13 million. */
const maxKept = 64 * 2 ** 20;
/** Changed resources up to which their line items alone are read again. */
const maxChanged = 100;
/** Every type of resource that a plan is made of. */
const partTypes = [
  'line_items',
  'creative_assignments',
  'creatives',
  'campaigns',
  'advertisers',
  'inventory_units',
] as const;

const sized = (plan: BookedPlan, at: Pick<KeptPlan, 'seq' | 'timeZone'>): KeptPlan => ({
  ...{ ...plan, ...at },
  size: [...plan.lines.values()].reduce((sum, { json }) => sum + json.length, plan.head.length),
});

/** The line items that changed resources concern; undefined where too many may be. */
async function concernedBy(
  tx: Transaction,
  workspaceId: string,
  changed: Awaited<ReturnType<typeof listChangedSince>>['changed'],
): Promise<readonly string[] | undefined> {
  const ids = new Set<string>();
  for (const { resource_type: type, resource_id: id } of changed) {
    if (type === 'line_items') ids.add(id);
    else if (type === 'creative_assignments')
      for (const { attributes } of await listByIds(tx, workspaceId, type, [id])) ids.add(attributes.line_item_id);
    else if (type === 'creatives')
      for (const { attributes } of await listLinked(tx, workspaceId, 'creative_assignments', 'creative', id))
        ids.add(attributes.line_item_id);
    else if (type === 'campaigns')
      for (const row of await listLinked(tx, workspaceId, 'line_items', 'campaign', id, contendingStates))
        ids.add(row.id);
    else return undefined;
  }
  return ids.size > maxChanged ? undefined : [...ids];
}

/** Reads the plan of everything that is sold in a workspace. Call it once at a time for a workspace, each with a snapshot of its own. */
export type ReadPlan = (tx: Transaction, workspace: PlanWorkspace, now: Date) => Promise<BookedPlan>;

/**
 * Keeps the plan of each workspace for the next question. A plan is made of the workspace's zone, of the resources of six types, and of the
 * time at which windows end: the zone is compared, changes of resources are asked of the change feed, which each command extends under the
 * lock of the workspace's chain, and each line item knows when it is to be read again. Only the line items that these concern are read.
 */
export function createReadPlan(): ReadPlan {
  const plans = new LRUCache<string, KeptPlan>({ maxSize: maxKept, sizeCalculation: ({ size }) => size });
  return async (tx, workspace, now) => {
    const known = plans.get(workspace.id);
    const { seq, changed } = await listChangedSince(tx, workspace.id, {
      ...{ after: known?.seq ?? Number.MAX_SAFE_INTEGER, types: partTypes, limit: maxChanged + 1 },
    });
    const at = { seq, timeZone: workspace.timeZone };
    const isNear = known?.timeZone === at.timeZone && known.seq <= seq && changed.length <= maxChanged;
    const concerned = isNear ? await concernedBy(tx, workspace.id, changed) : undefined;
    let plan: KeptPlan;
    if (known && concerned) {
      const ended = [...known.lines].flatMap(([id, { untilMs }]) => (untilMs <= now.getTime() ? [id] : []));
      const ids = new Set([...concerned, ...ended]);
      const others = new Map([...known.lines].filter(([id]) => !ids.has(id)));
      plan =
        changed.length + ids.size === 0
          ? { ...known, ...at }
          : sized(keepPlan(await readBookedParts(tx, workspace, now, [...ids]), others, known), at);
    } else plan = sized(keepPlan(await readBookedParts(tx, workspace, now), new Map(), known), at);
    plans.set(workspace.id, plan);
    return plan;
  };
}
