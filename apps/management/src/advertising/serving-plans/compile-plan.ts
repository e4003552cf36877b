import type { Attributes, ResourceType, StateOf } from '@longwave/command-catalog';
import type { ResourceRow } from '@longwave/command-pipeline';
import {
  defaultSeparation,
  type AdPicture,
  type AdTrack,
  type PlanLineItem,
  type ServingPlanDocument,
} from '@longwave/events';
import type { Campaign } from '../campaigns/campaign.ts';
import type { LineItem, Window } from '../line-items/line-item.ts';
import { planPacing } from './plan-pacing.ts';
import { floorsOf, resolveTargeting } from './plan-targeting.ts';

type Advertiser = Attributes<'advertisers'>;

/** The workspace of a plan. */
export interface PlanWorkspace {
  readonly id: string;
  /** IANA name: in it the days of goals begin. */
  readonly timeZone: string;
}

/** Resources of one workspace as they were at one moment, in whatever state and order. */
export interface PlanInputs {
  readonly advertisers: readonly ResourceRow<'advertisers'>[];
  readonly campaigns: readonly ResourceRow<'campaigns'>[];
  readonly lineItems: readonly ResourceRow<'line_items'>[];
  readonly creatives: readonly ResourceRow<'creatives'>[];
  readonly assignments: readonly ResourceRow<'creative_assignments'>[];
  readonly inventoryUnits: readonly ResourceRow<'inventory_units'>[];
  /** By campaign what its line items cost whatever they deliver, in millionths of the currency; absent: nothing. */
  readonly fixedMicros?: ReadonlyMap<string, bigint>;
}

/** The states in which a resource may serve. */
export const servingStates = {
  advertisers: ['draft', 'active'],
  campaigns: ['active'],
  line_items: ['booked', 'delivering', 'delivery_extended'],
  creatives: ['approved'],
  creative_assignments: ['active'],
} as const satisfies { readonly [T in ResourceType]?: readonly StateOf<T>[] };

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
const indexed = <R extends ResourceRow>(rows: readonly R[], states: readonly string[]): ReadonlyMap<string, R> =>
  new Map(rows.filter((row) => states.includes(row.lifecycle_state)).map((row) => [row.id, row]));

/** The intersection of half-open windows; null without any window, undefined when it is empty or has ended. */
function common(windows: readonly (Window | undefined)[], from: string): Window | null | undefined {
  const present = windows.filter((window) => window !== undefined);
  if (present.length === 0) return null;
  const latest = (a: string, b: string) => (Date.parse(a) >= Date.parse(b) ? a : b);
  const start = present.map((window) => window.start).reduce(latest);
  const end = present.map((window) => window.end).reduce((a, b) => (latest(a, b) === a ? b : a));
  return Date.parse(start) < Date.parse(end) && Date.parse(end) > Date.parse(from) ? { start, end } : undefined;
}

type PlanCreative = PlanLineItem['creatives'][number];

const planTrack = (track: NonNullable<Attributes<'creatives'>['media'][number]['hls']>): AdTrack => ({
  codec: track.codec,
  digest: track.sha256,
  size_bytes: track.size_bytes,
  duration_ms: track.duration_ms,
  index_digest: track.index.sha256,
  index_size_bytes: track.index.size_bytes,
});

/** All pictures of a creative, when they are ready. */
function planPictures({ pictures }: Attributes<'creatives'>): AdPicture[] | undefined {
  if (pictures?.state !== 'ready') return undefined;
  const made = (['v360', 'v720', 'v1080', 'iframe'] as const).flatMap((name) => {
    const picture = pictures[name];
    if (!picture) return [];
    const { width, height, frame_rate } = picture;
    return [{ name, ...planTrack(picture), width, height, frame_rate }];
  });
  return made.length === 4 ? made : undefined;
}

/** The creative of an assignment in the plan's form; undefined when its window has ended. */
function planCreative(
  { attributes: assignment }: ResourceRow<'creative_assignments'>,
  { id, attributes: creative }: ResourceRow<'creatives'>,
  place: number,
  from: string,
): PlanCreative | undefined {
  const window = common([assignment.window, creative.valid_window], from);
  if (window === undefined) return undefined;
  const pictures = planPictures(creative);
  const categories = [...new Set(creative.categories)].sort();
  return {
    creative_id: id,
    weight: assignment.weight,
    sequence_no: assignment.sequence_no ?? place,
    window,
    place: assignment.position_limits ?? 'any',
    production: creative.production,
    click_url: creative.click_url ?? null,
    // Without any a plan has the same bytes, and so the same digest, as one of an earlier release.
    ...(categories.length > 0 && { categories }),
    media: creative.media.map((media) => ({
      stream_format: media.stream_format,
      loudness_lufs: media.loudness_lufs,
      segment_digest: media.sha256,
      size_bytes: media.size_bytes,
      duration_ms: media.duration_ms,
      ...(media.hls && { hls: planTrack(media.hls) }),
    })),
    ...(pictures && { pictures }),
  };
}

/** An extended flight lasts as long as its campaign. */
const flightOf = ({ lifecycle_state: state, attributes: { window } }: ResourceRow<'line_items'>, campaign: Campaign) =>
  state === 'delivery_extended' ? { start: window.start, end: campaign.window.end } : window;

/** A paused unit excludes every line item, and a floor applies to every line item. */
const concernsEveryLineItem = ({ lifecycle_state: state, attributes: unit }: ResourceRow<'inventory_units'>) =>
  state === 'paused' || (state === 'active' && (unit.min_cpm !== undefined || unit.min_cpm_by_position !== undefined));

/** The terms of a line item: everything but its targeting and its creatives. */
function planTerms(lineItem: LineItem, campaign: Campaign, advertiser: Advertiser) {
  const { type, goal, rate } = lineItem;
  const groups = [
    ...(advertiser.separation_groups ?? []),
    ...(campaign.separation_group ? [campaign.separation_group] : []),
  ];
  return {
    campaign_id: lineItem.campaign_id,
    advertiser_id: campaign.advertiser_id,
    type,
    priority: lineItem.priority,
    weight: lineItem.weight ?? 1,
    goal: { unit: goal.unit, ...(goal.quantity !== undefined && { quantity: goal.quantity }) },
    billable: type !== 'house' && rate.model !== 'none',
    cpm_micros: rate.model === 'cpm' ? Number(rate.price!.amount_micros) : null,
    break_positions: [...new Set(lineItem.break_positions)],
    frequency_caps: lineItem.frequency_caps ?? [],
    separation_groups: [...new Set(groups)].sort(),
    ad_product_categories: [...new Set(advertiser.ad_product_categories)].sort(),
    creative_rotation: lineItem.creative_rotation ?? 'weighted',
  };
}

/** The creatives of a line item that the plan has, in the order of its assignments. */
const rotationOf = (
  assignments: readonly ResourceRow<'creative_assignments'>[],
  creatives: ReadonlyMap<string, ResourceRow<'creatives'>>,
  from: string,
) =>
  assignments
    .filter(({ attributes }) => creatives.has(attributes.creative_id))
    .map((assignment, index) => {
      const creative = creatives.get(assignment.attributes.creative_id)!;
      return { assignment, creative, plan: planCreative(assignment, creative, index + 1, from) };
    })
    .filter(({ plan }) => plan !== undefined);

/**
 * Compiles a serving plan: the booked flights of active campaigns whose advertiser is not suspended, with the approved creatives of their
 * active assignments. The campaign's window bounds a flight; an extended flight lasts until its end. Pure: the order of the inputs does
 * not matter.
 */
export function compilePlan(
  { id: workspaceId, timeZone }: PlanWorkspace,
  effectiveFrom: string,
  inputs: PlanInputs,
): ServingPlanDocument {
  const advertisers = indexed(inputs.advertisers, servingStates.advertisers);
  const campaigns = indexed(inputs.campaigns, servingStates.campaigns);
  const creatives = indexed(inputs.creatives, servingStates.creatives);
  const lineItems = [...indexed(inputs.lineItems, servingStates.line_items).values()].sort(byId);
  const assignments = Map.groupBy(
    [...indexed(inputs.assignments, servingStates.creative_assignments).values()].sort(byId),
    ({ attributes }) => attributes.line_item_id,
  );
  const units = new Map([...inputs.inventoryUnits].sort(byId).map((unit) => [unit.id, unit]));
  const used = new Map<string, ResourceRow>();
  const planned: PlanLineItem[] = [];

  for (const row of lineItems) {
    const lineItem = row.attributes;
    const campaignRow = campaigns.get(lineItem.campaign_id);
    if (!campaignRow) continue;
    const campaign = campaignRow.attributes;
    const advertiserRow = advertisers.get(campaign.advertiser_id);
    if (!advertiserRow) continue;
    const window = common([flightOf(row, campaign), campaign.window], effectiveFrom);
    const targeting = resolveTargeting(lineItem.targeting, units);
    const rotation = rotationOf(assignments.get(row.id) ?? [], creatives, effectiveFrom);
    if (!window || !targeting || rotation.length === 0) continue;
    const unitIds = [
      ...(lineItem.targeting.inventory?.include ?? []),
      ...(lineItem.targeting.inventory?.exclude ?? []),
    ];
    for (const input of [
      ...[row, campaignRow, advertiserRow],
      ...rotation.flatMap(({ assignment, creative }) => [assignment, creative]),
      ...unitIds.flatMap((id) => units.get(id) ?? []),
    ])
      used.set(input.id, input);
    planned.push({
      line_item_id: row.id,
      ...planTerms(lineItem, campaign, advertiserRow.attributes),
      window,
      targeting,
      creatives: rotation.map(({ plan }) => plan!),
      pacing: planPacing(lineItem, campaign, timeZone, inputs.fixedMicros?.get(campaignRow.id) ?? 0n),
    });
  }
  for (const unit of units.values()) if (concernsEveryLineItem(unit)) used.set(unit.id, unit);

  return {
    format: 2,
    workspace_id: workspaceId,
    effective_from: effectiveFrom,
    inputs: [...used.values()].sort(byId).map(({ resource_type: type, id, version }) => ({ type, id, version })),
    separation: defaultSeparation,
    floors: floorsOf(units.values()),
    line_items: planned,
  };
}
