import type { Attributes, StateOf } from '@longwave/command-catalog';
import type { ResourceRow } from '@longwave/command-pipeline';
import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import { afterAmendment, type Window } from '../../advertising/line-items/line-item.ts';
import {
  compilePlan,
  servingStates,
  type PlanInputs,
  type PlanWorkspace,
} from '../../advertising/serving-plans/compile-plan.ts';
import { heldLine } from './held-line.ts';

/** States in which a line item has a right to slots. */
export const contendingStates = [
  'reserved',
  'booked',
  'delivering',
  'delivery_extended',
  'paused',
] as const satisfies readonly StateOf<'line_items'>[];

/** States of the other resources that a plan of everything sold is made of: what may still come to serve. */
export const contendingParts = {
  advertisers: servingStates.advertisers,
  campaigns: ['draft', 'pending_review', 'approved', 'active', 'paused'],
  creatives: servingStates.creatives,
  creative_assignments: servingStates.creative_assignments,
} as const satisfies { readonly [T in Exclude<keyof typeof servingStates, 'line_items'>]: readonly StateOf<T>[] };

/** Length of an ad that is not there yet. */
const usualAdMs = 30_000;
/** Where ads can be in every format that a play asks for. */
const anyFormat = 'any';

type LineItemRow = ResourceRow<'line_items'>;

/** A row of a type that stands for one that is not there; it is stored nowhere. */
const standIn = <T extends keyof typeof servingStates>(
  resource_type: T,
  id: string,
  lifecycle_state: StateOf<T>,
  attributes: object,
): ResourceRow<T> => {
  const times = { created_at: new Date(0), updated_at: new Date(0) };
  const row = {
    id,
    workspace_id: '',
    resource_type,
    version: 1,
    lifecycle_state,
    digest: '',
    operation_id: '',
    ...times,
  };
  return { ...row, attributes } as ResourceRow as ResourceRow<T>;
};

/** An assignment and its creative for a line item without an approved ad. */
function standInAd(lineItemId: string, durationMs: number) {
  const media = { stream_format: anyFormat, loudness_lufs: 0, sha256: '', size_bytes: 1, duration_ms: durationMs };
  const creative = standIn('creatives', `${lineItemId}:ad`, 'approved', {
    production: 'produced',
    categories: [],
    media: [media],
  });
  const assigned = { line_item_id: lineItemId, creative_id: creative.id, weight: 1 };
  return { creative, assignment: standIn('creative_assignments', `${lineItemId}:ad`, 'active', assigned) };
}

/** One ad in place of all of a line item's, as long as the shortest of them, that every play can have. */
function withOneAd(line: PlanLineItem): PlanLineItem {
  const [first] = line.creatives;
  const durationMs = Math.min(...line.creatives.flatMap(({ media }) => media.map((one) => one.duration_ms)));
  const media = {
    stream_format: anyFormat,
    loudness_lufs: null,
    segment_digest: '',
    size_bytes: 1,
    duration_ms: durationMs,
  };
  const { production, creative_id } = first!;
  const ad = {
    creative_id,
    weight: 1,
    sequence_no: 1,
    window: null,
    place: 'any',
    production,
    click_url: null,
  } as const;
  return { ...line, creatives: [{ ...ad, media: [media] }] };
}

const byLineItem = (a: PlanLineItem, b: PlanLineItem) => (a.line_item_id < b.line_item_id ? -1 : 1);

/** The row without the time in which its ad may serve: another one will take its place. */
const anyTime = <R extends ResourceRow<'creatives'> | ResourceRow<'creative_assignments'>>(row: R): R => {
  const { window: _assigned, valid_window: _valid, ...attributes } = row.attributes as Record<string, unknown>;
  return { ...row, attributes };
};

/**
 * The serving plan that there would be if everything that is sold or reserved served: paused and reserved line items and those of
 * campaigns that do not run yet take part, and one without an approved ad takes part with one of 30 s. One with an amendment that waits
 * holds what it has and what it will have. Pure.
 * @param inputs resources in the states above; inventory units in any
 */
export function bookedPlan(workspace: PlanWorkspace, from: string, inputs: PlanInputs): ServingPlanDocument {
  const approved = new Set(inputs.creatives.map(({ id }) => id));
  const withAd = new Set(
    inputs.assignments
      .filter(({ attributes }) => approved.has(attributes.creative_id))
      .map(({ attributes }) => attributes.line_item_id),
  );
  const ads = inputs.lineItems.filter(({ id }) => !withAd.has(id)).map(({ id }) => standInAd(id, usualAdMs));
  const sells = ({ lifecycle_state: state }: LineItemRow) => state === 'delivery_extended';
  const compile = (lineItems: readonly LineItemRow[]) =>
    compilePlan(workspace, from, {
      ...inputs,
      campaigns: inputs.campaigns.map((row) => ({ ...row, lifecycle_state: 'active' })),
      lineItems: lineItems.map((row) => (sells(row) ? row : { ...row, lifecycle_state: 'booked' })),
      creatives: [...inputs.creatives.map(anyTime), ...ads.map(({ creative }) => creative)],
      assignments: [...inputs.assignments.map(anyTime), ...ads.map(({ assignment }) => assignment)],
    });
  const plan = compile(inputs.lineItems);
  const changed = inputs.lineItems.flatMap((row) => {
    const attributes = afterAmendment(row.attributes);
    return attributes ? [{ ...row, attributes }] : [];
  });
  const held = new Map(plan.line_items.map((line) => [line.line_item_id, line]));
  if (changed.length > 0)
    for (const line of compile(changed).line_items) {
      const now = held.get(line.line_item_id);
      held.set(line.line_item_id, now ? heldLine(now, line) : line);
    }
  return { ...plan, inputs: [], line_items: [...held.values()].sort(byLineItem).map(withOneAd) };
}

/** The settings of a line item that is only thought of. */
export type Prospective = NonNullable<Attributes<'forecasts'>['prospective']>;

/** The id of a line item that is only thought of, in plans. */
const prospectiveId = 'li_prospective';

/** A line item that is only thought of, as a plan has it; undefined when its targeting leaves no place. Pure. */
export function prospectiveLine(
  prospective: Prospective,
  window: Window,
  at: {
    readonly workspace: PlanWorkspace;
    readonly from: string;
    readonly inventoryUnits: PlanInputs['inventoryUnits'];
  },
): PlanLineItem | undefined {
  const { quantity, duration_ms: durationMs, ad_product_categories, ...terms } = prospective;
  const [campaignId, advertiserId] = ['cmp_prospective', 'adv_prospective'];
  const goal = quantity === undefined ? { unit: 'unlimited' } : { unit: 'impressions', quantity };
  const lineItem = standIn('line_items', prospectiveId, 'booked', {
    ...terms,
    ...{
      campaign_id: campaignId,
      window,
      goal,
      rate: { model: 'none' },
      weight: 1,
      pacing: { mode: 'even', velocity: 1, finish_early_pct: 0 },
      counting_basis: 'ad_delivered',
    },
  });
  const ad = standInAd(prospectiveId, durationMs);
  const plan = bookedPlan(at.workspace, at.from, {
    advertisers: [standIn('advertisers', advertiserId, 'active', { ad_product_categories })],
    campaigns: [standIn('campaigns', campaignId, 'active', { advertiser_id: advertiserId, window })],
    lineItems: [lineItem],
    creatives: [ad.creative],
    assignments: [ad.assignment],
    inventoryUnits: at.inventoryUnits,
  });
  return plan.line_items[0];
}
