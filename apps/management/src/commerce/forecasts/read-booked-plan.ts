import { setImmediate as othersTurn } from 'node:timers/promises';
import { productCatalog } from '@longwave/command-catalog';
import { findResource, listByIds, listInStates, listLinked, type ResourceRow } from '@longwave/command-pipeline';
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

/** A line item as the plan of everything that contends for slots has it. */
export interface BookedLine {
  readonly line: PlanLineItem;
  /** Until then it stays as it is while nothing is changed: at that time a window ends, of its own, its amendment or its campaign. */
  readonly untilMs: number;
}

/** The plan of everything that contends for slots, in parts. */
export interface BookedParts {
  readonly plan: Omit<ServingPlanDocument, 'line_items'>;
  /** In no order. */
  readonly lines: readonly BookedLine[];
}

type Parts = Omit<PlanInputs, 'inventoryUnits' | 'fixedMicros'>;

/** All resources that the plan is made of. */
async function listParts(tx: Transaction, workspaceId: string): Promise<Parts> {
  const list = <T extends keyof typeof contendingParts>(type: T) =>
    listInStates(tx, workspaceId, type, contendingParts[type]);
  return {
    advertisers: await list('advertisers'),
    campaigns: await list('campaigns'),
    lineItems: await listInStates(tx, workspaceId, 'line_items', contendingStates),
    creatives: await list('creatives'),
    assignments: await list('creative_assignments'),
  };
}

/** Those of them that some line items are made of. */
async function listPartsOf(tx: Transaction, workspaceId: string, lineItemIds: readonly string[]): Promise<Parts> {
  const states: { readonly [type: string]: readonly string[] } = { ...contendingParts, line_items: contendingStates };
  const list = async <T extends keyof typeof contendingParts | 'line_items'>(type: T, ids: readonly string[]) => {
    const rows = await listByIds(tx, workspaceId, type, [...new Set(ids)]);
    return rows.filter(({ lifecycle_state: state }) => states[type]!.includes(state));
  };
  const lineItems = await list('line_items', lineItemIds);
  const campaigns = await list(
    'campaigns',
    lineItems.map(({ attributes }) => attributes.campaign_id),
  );
  const advertisers = await list(
    'advertisers',
    campaigns.map(({ attributes }) => attributes.advertiser_id),
  );
  const assignments = [];
  for (const { id } of lineItems)
    assignments.push(
      ...(await listLinked(
        ...([tx, workspaceId, 'creative_assignments', 'line_item', id] as const),
        contendingParts.creative_assignments,
      )),
    );
  const creatives = await list(
    'creatives',
    assignments.map(({ attributes }) => attributes.creative_id),
  );
  return { ...{ advertisers, campaigns, lineItems }, creatives, assignments };
}

/** When the first window ends that says whether a line item is in the plan. */
function nextEndMs({ window, amendment }: LineItem, campaignEnd: string | undefined, now: Date): number {
  const ends = [window.end, amendment?.window?.end, campaignEnd].flatMap((end) => (end ? [Date.parse(end)] : []));
  return Math.min(...ends.filter((end) => end > now.getTime()));
}

/** Line items that are made at a time: some milliseconds of the event loop. */
const sliceLength = 100;

/**
 * The plan of everything that contends for slots in a workspace, as of one snapshot; others have the event loop meanwhile.
 * @param lineItemIds only these line items
 */
export async function readBookedParts(
  tx: Transaction,
  workspace: PlanWorkspace,
  now: Date,
  lineItemIds?: readonly string[],
): Promise<BookedParts> {
  const from = now.toISOString();
  const parts = await (lineItemIds ? listPartsOf(tx, workspace.id, lineItemIds) : listParts(tx, workspace.id));
  const inventoryUnits = await listUnits(tx, workspace.id);
  const { advertisers, campaigns, lineItems, creatives, assignments } = parts;
  const campaignOf = new Map(campaigns.map((row) => [row.id, row]));
  const creativeOf = new Map(creatives.map((row) => [row.id, row]));
  const assignmentsOf = Map.groupBy(assignments, ({ attributes }) => attributes.line_item_id);
  const compile = (slice: Parts['lineItems']) => {
    const own = slice.flatMap(({ id }) => assignmentsOf.get(id) ?? []);
    return bookedPlan(workspace, from, {
      ...{ advertisers, inventoryUnits, lineItems: slice, assignments: own },
      campaigns: [...new Set(slice.flatMap(({ attributes }) => campaignOf.get(attributes.campaign_id) ?? []))],
      creatives: [...new Set(own.flatMap(({ attributes }) => creativeOf.get(attributes.creative_id) ?? []))],
    });
  };
  const { line_items: _none, ...plan } = compile([]);
  const lines: BookedLine[] = [];
  for (let at = 0; at < lineItems.length; at += sliceLength) {
    const slice = lineItems.slice(at, at + sliceLength);
    const made = new Map(compile(slice).line_items.map((line) => [line.line_item_id, line]));
    for (const { id, attributes } of slice) {
      const line = made.get(id);
      const campaign = campaignOf.get(attributes.campaign_id)?.attributes;
      if (line) lines.push({ line, untilMs: nextEndMs(attributes, campaign?.window.end, now) });
    }
    await othersTurn();
  }
  return { plan, lines };
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
