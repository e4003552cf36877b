import type { ResourceRow } from '@longwave/command-pipeline';
import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';

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
}

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
    lineItems.push({
      line_item_id: lineItem.id,
      campaign_id: campaign.id,
      advertiser_id: of(campaign, 'advertiser_id'),
      type: of(lineItem, 'type'),
      priority: of(lineItem, 'priority'),
      window: of(lineItem, 'window'),
      goal: of(lineItem, 'goal'),
      break_positions: of(lineItem, 'break_positions'),
      targeting: of(lineItem, 'targeting'),
      creatives: rotating.map(({ assignment, creative }) => ({
        creative_id: creative.id,
        weight: of(assignment, 'weight'),
        media: of<Media[]>(creative, 'media').map((media) => ({
          stream_format: media.stream_format,
          segment_digest: media.sha256,
          size_bytes: media.size_bytes,
          duration_ms: media.duration_ms,
        })),
      })),
    });
  }
  return {
    format: 1,
    workspace_id: workspaceId,
    effective_from: effectiveFrom,
    inputs: [...used.values()]
      .map((row) => ({ type: row.resource_type, id: row.id, version: row.version }))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
    line_items: lineItems,
  };
}
