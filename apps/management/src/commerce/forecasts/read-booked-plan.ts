import { productCatalog } from '@longwave/command-catalog';
import { findResource, listInStates, listLinked, type ResourceRow } from '@longwave/command-pipeline';
import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';
import type { PlanInputs, PlanWorkspace } from '../../advertising/serving-plans/compile-plan.ts';
import { timeZoneOf } from '../../workspace/time-zone-of.ts';
import { bookedPlan, contendingParts, contendingStates, prospectiveLine, type Prospective } from './booked-plan.ts';
import type { LineItem, Window } from '../../advertising/line-items/line-item.ts';

type Db = Pool | Transaction;

/** A workspace as its plans need it. */
export async function findPlanWorkspace(db: Db, workspaceId: string): Promise<PlanWorkspace> {
  return { id: workspaceId, timeZone: await timeZoneOf(db, workspaceId) };
}

const listUnits = (db: Db, workspaceId: string) =>
  // In any state: a line item that excludes a unit is kept out even when the unit is no longer sold.
  listInStates(db, workspaceId, 'inventory_units', productCatalog.resources.inventory_units.states);

/** The plan of everything that contends for slots in a workspace, as of one snapshot. */
export async function readBookedPlan(
  tx: Transaction,
  workspace: PlanWorkspace,
  now: Date,
): Promise<ServingPlanDocument> {
  const list = <T extends keyof typeof contendingParts>(type: T) =>
    listInStates(tx, workspace.id, type, contendingParts[type]);
  return bookedPlan(workspace, now.toISOString(), {
    advertisers: await list('advertisers'),
    campaigns: await list('campaigns'),
    lineItems: await listInStates(tx, workspace.id, 'line_items', contendingStates),
    creatives: await list('creatives'),
    assignments: await list('creative_assignments'),
    inventoryUnits: await listUnits(tx, workspace.id),
  });
}

/** A line item as the plan would have it, whatever its state; undefined when it could not serve anywhere. */
export async function readPlanLine(
  db: Db,
  row: Pick<ResourceRow<'line_items'>, 'id' | 'workspace_id'>,
  attributes: LineItem,
  now: Date,
): Promise<PlanLineItem | undefined> {
  const { workspace_id: workspaceId } = row;
  const campaign = await findResource(db, workspaceId, 'campaigns', attributes.campaign_id);
  const advertiser =
    campaign && (await findResource(db, workspaceId, 'advertisers', campaign.attributes.advertiser_id));
  if (!campaign || !advertiser) return undefined;
  const assignments = (await listLinked(db, workspaceId, 'creative_assignments', 'line_item', row.id)).filter(
    ({ lifecycle_state: state }) => state === 'active',
  );
  const creatives: PlanInputs['creatives'][number][] = [];
  for (const { attributes: assignment } of assignments) {
    const creative = await findResource(db, workspaceId, 'creatives', assignment.creative_id);
    if (creative?.lifecycle_state === 'approved') creatives.push(creative);
  }
  const lineItem = (await findResource(db, workspaceId, 'line_items', row.id))!;
  const plan = bookedPlan(await findPlanWorkspace(db, workspaceId), now.toISOString(), {
    advertisers: [{ ...advertiser, lifecycle_state: 'active' }],
    campaigns: [campaign],
    lineItems: [{ ...lineItem, attributes }],
    ...{ creatives, assignments },
    inventoryUnits: await listUnits(db, workspaceId),
  });
  return plan.line_items[0];
}

/** A line item that is only thought of, as the plan would have it; undefined when it could not serve anywhere. */
export const readProspectiveLine = async (
  db: Db,
  workspaceId: string,
  prospective: Prospective,
  window: Window,
  now: Date,
): Promise<PlanLineItem | undefined> =>
  prospectiveLine(prospective, window, {
    workspace: await findPlanWorkspace(db, workspaceId),
    from: now.toISOString(),
    inventoryUnits: await listUnits(db, workspaceId),
  });
