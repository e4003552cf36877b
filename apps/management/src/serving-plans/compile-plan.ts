import type { ResourceRow } from '@longwave/command-pipeline';
import { anyTargeting, defaultSeparation, type PlanLineItem, type ServingPlanDocument } from '@longwave/events';

export interface PlanInputs {
  readonly lineItems: readonly ResourceRow[];
  readonly campaigns: readonly ResourceRow[];
  readonly assignments: readonly ResourceRow[];
  readonly creatives: readonly ResourceRow[];
}

type Attributes = Record<string, unknown>;
const of = <T>(row: ResourceRow, name: string): T => (row.attributes as Attributes)[name] as T;

interface Media {
  stream_format: string;
  sha256: string;
  size_bytes: number;
  duration_ms: number;
  loudness_lufs: number | null;
}

interface Rate {
  model: string;
  price?: { amount_micros: string };
}

const only = (include: string[]) => ({ include, exclude: [] });

/** Only booked line items of active campaigns, with the approved creatives of their active assignments. Pure and ordered. */
export function compilePlan(workspaceId: string, effectiveFrom: string, inputs: PlanInputs): ServingPlanDocument {
  const campaigns = new Map(inputs.campaigns.filter((c) => c.lifecycle_state === 'active').map((c) => [c.id, c]));
  const creatives = new Map(inputs.creatives.filter((c) => c.lifecycle_state === 'approved').map((c) => [c.id, c]));
  const used = new Map<string, ResourceRow>();
  const lineItems: PlanLineItem[] = [];

  for (const lineItem of inputs.lineItems.filter((li) => ['booked', 'delivering'].includes(li.lifecycle_state))) {
    const campaign = campaigns.get(of(lineItem, 'campaign_id'));
    if (!campaign) continue;
    const rotating = inputs.assignments
      .filter(
        (a) =>
          a.lifecycle_state === 'active' &&
          of<string>(a, 'line_item_id') === lineItem.id &&
          creatives.has(of(a, 'creative_id')),
      )
      .map((assignment) => ({ assignment, creative: creatives.get(of(assignment, 'creative_id'))! }));
    if (rotating.length === 0) continue;
    for (const row of [lineItem, campaign, ...rotating.flatMap((r) => [r.assignment, r.creative])])
      used.set(row.id, row);
    const targeting = of<{ podcasts: string[]; episodes: string[]; countries: string[] }>(lineItem, 'targeting');
    const rate = of<Rate>(lineItem, 'rate');
    lineItems.push({
      line_item_id: lineItem.id,
      campaign_id: campaign.id,
      advertiser_id: of(campaign, 'advertiser_id'),
      type: of(lineItem, 'type'),
      priority: of(lineItem, 'priority'),
      window: of(lineItem, 'window'),
      goal: of(lineItem, 'goal'),
      break_positions: of(lineItem, 'break_positions'),
      targeting: {
        ...anyTargeting,
        podcasts: only(targeting.podcasts),
        episodes: only(targeting.episodes),
        countries: only(targeting.countries),
      },
      weight: 1,
      billable: rate.model !== 'none',
      cpm_micros: rate.model === 'cpm' ? Number(rate.price!.amount_micros) : null,
      frequency_caps: [],
      separation_groups: [],
      ad_product_categories: [],
      creative_rotation: 'weighted',
      creatives: rotating.map(({ assignment, creative }) => ({
        creative_id: creative.id,
        weight: of(assignment, 'weight'),
        sequence_no: 1,
        window: null,
        place: 'any' as const,
        production: of(creative, 'production'),
        click_url: of<string | undefined>(creative, 'click_url') ?? null,
        media: of<Media[]>(creative, 'media').map((media) => ({
          stream_format: media.stream_format,
          loudness_lufs: media.loudness_lufs,
          segment_digest: media.sha256,
          size_bytes: media.size_bytes,
          duration_ms: media.duration_ms,
        })),
      })),
    });
  }
  return {
    format: 2,
    workspace_id: workspaceId,
    effective_from: effectiveFrom,
    inputs: [...used.values()]
      .map((row) => ({ type: row.resource_type, id: row.id, version: row.version }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    separation: defaultSeparation,
    floors: [],
    line_items: lineItems,
  };
}
