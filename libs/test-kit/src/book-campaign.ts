import { commandsIn, type Operator } from './operator.ts';
import { until } from './until.ts';

/** A prepared segment, as a creative and a production record it. */
export interface PreparedAudio {
  readonly sha256: string;
  readonly size_bytes: number;
  readonly duration_ms: number;
}

/** One stream of an ad. */
export interface PreparedAd extends PreparedAudio {
  readonly loudness_lufs: number | null;
}

export interface Booking {
  readonly lineItemId: string;
  readonly creativeId: string;
  /** The ad at its several loudnesses. */
  readonly streams: readonly PreparedAd[];
}

/** One campaign, one line item, one creative: created, prepared, approved and booked by commands. Every play has its ad until the goal is met. */
export async function bookCampaign(
  operator: Operator,
  workspaceId: string,
  options: { readonly adUploadId: string; readonly podcastId: string; readonly goal: number },
): Promise<Booking> {
  const send = commandsIn(operator, workspaceId);
  const window = {
    start: new Date(Date.now() - 3600_000).toISOString(),
    end: new Date(Date.now() + 30 * 24 * 3600_000).toISOString(),
  };

  const advertiser = await send('advertiser.create', 'advertisers', {
    legal_name: 'Tidewater Tea Ltd',
    brands: [{ id: 'tidewater', name: 'Tidewater Tea', domain: 'tidewater.example' }],
    ad_product_categories: [],
  });
  let campaign = await send('campaign.create', 'campaigns', {
    advertiser_id: advertiser.id,
    name: 'Autumn blend',
    window,
  });
  campaign = await send('campaign.submit', campaign);
  campaign = await send('campaign.activate', campaign);

  const creative = await send('creative.create', 'creatives', {
    advertiser_id: advertiser.id,
    name: 'Autumn blend, 10 s',
    format: 'audio',
    production: 'produced',
    universal_ad_id: 'unknown',
  });
  const creativeId = creative.id;
  await send('creative.attach_media', creative, { upload_ref: options.adUploadId });
  const prepared = await until(
    'preparing the ad',
    async () => {
      const now = await operator.read(workspaceId, 'creatives', creativeId);
      if (now.lifecycle_state === 'processing_failed')
        throw new Error(`the ad was refused: ${JSON.stringify(now.attributes.problem)}`);
      return now.attributes.media.length > 0 ? now : undefined;
    },
    { timeoutMs: 120_000 },
  );
  await send('creative.submit', prepared, { disclosure: 'Advertisement' });

  let lineItem = await send('line_item.create', 'line_items', {
    campaign_id: campaign.id,
    name: 'Pre-roll, all listeners',
    type: 'guaranteed',
    window,
    goal: { unit: 'impressions', quantity: options.goal },
    pacing: { mode: 'asap' },
    rate: { model: 'cpm', price: { amount_micros: '18000000', currency: 'EUR' } },
    break_positions: ['pre'],
    targeting: { podcasts: { include: [options.podcastId] } },
  });
  const assignment = await send('creative_assignment.create', 'creative_assignments', {
    line_item_id: lineItem.id,
    creative_id: creativeId,
  });
  await send('creative_assignment.activate', assignment);
  lineItem = await send('line_item.submit', lineItem);
  lineItem = await send('line_item.book', lineItem);
  return { lineItemId: lineItem.id, creativeId, streams: prepared.attributes.media };
}

/** Compiles everything booked, publishes the plan, and waits until decisions use it. */
export async function publishPlan(operator: Operator, workspaceId: string): Promise<string> {
  const requested = await operator.command(
    workspaceId,
    'serving_plan.compile',
    { type: 'serving_plans' },
    { effective_from: new Date().toISOString() },
  );
  const ready = await until(
    'compiling the serving plan',
    async () => {
      const now = await operator.read(workspaceId, 'serving_plans', requested.id);
      return now.lifecycle_state === 'ready' ? now : undefined;
    },
    { timeoutMs: 30_000 },
  );
  await operator.command(
    workspaceId,
    'serving_plan.publish',
    { type: 'serving_plans', id: ready.id, version: ready.version },
    {},
  );
  await until(
    'the new plan in force',
    async () => (await operator.activePlan(workspaceId).catch(() => '')) === ready.id,
    { timeoutMs: 30_000 },
  );
  return ready.id;
}
