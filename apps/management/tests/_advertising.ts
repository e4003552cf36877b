import type { HostingWorld } from './_support.ts';
import { digest, media, service, window } from './_values.ts';

/** Advertising of a workspace in the making, through the commands themselves. */
export function createAdvertising(hosting: HostingWorld) {
  const { send } = hosting;
  const world = {
    advertiser: () =>
      send('advertiser.create', null, { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }),
    async campaign() {
      return send('campaign.create', null, { advertiser_id: (await world.advertiser()).id, name: 'Autumn', window });
    },
    async approvedCampaign() {
      return send('campaign.submit', await world.campaign(), {});
    },
    async creative() {
      return send('creative.create', null, {
        advertiser_id: (await world.advertiser()).id,
        name: 'Ad',
        format: 'audio',
        production: 'produced',
        universal_ad_id: 'unknown',
      });
    },
    async processingCreative() {
      const creative = await send('creative.attach_media', await world.creative(), {
        upload_ref: (await hosting.upload()).id,
      });
      return { creative, lease: await hosting.lease('encode_creative', creative.id) };
    },
    async preparedCreative() {
      const { creative, lease } = await world.processingCreative();
      return send('creative.record_media', creative, { media: [media], duration_ms: 24 }, service('encoder'), lease);
    },
    async approvedCreative() {
      return send('creative.submit', await world.preparedCreative(), { disclosure: 'Advertisement' });
    },
    lineItemChanges: (campaignId: string) => ({
      campaign_id: campaignId,
      name: 'Pre-roll',
      type: 'guaranteed',
      window,
      goal: { unit: 'impressions', quantity: 10 },
      rate: { model: 'none' },
      break_positions: ['pre'],
    }),
    async lineItem() {
      return send('line_item.create', null, world.lineItemChanges((await world.approvedCampaign()).id));
    },
    async assignment() {
      const lineItem = await world.lineItem();
      const creative = await world.approvedCreative();
      return {
        lineItem,
        assignment: await send('creative_assignment.create', null, {
          line_item_id: lineItem.id,
          creative_id: creative.id,
        }),
      };
    },
    async approvedLineItem() {
      const { lineItem, assignment } = await world.assignment();
      await send('creative_assignment.activate', assignment, {});
      return send('line_item.submit', lineItem, {});
    },
    compiling: async () => {
      const plan = await send('serving_plan.compile', null, { effective_from: window.start });
      return { plan, lease: await hosting.lease('compile_serving_plan', plan.id) };
    },
    planCompiled: { storage_key: `plans/${digest}.json`, digest, counts: { line_items: 0, creatives: 0 } },
    async readyPlan() {
      const { plan, lease } = await world.compiling();
      return send('serving_plan.record_compiled', plan, world.planCompiled, service('management'), lease);
    },
    network: () => send('inventory_unit.create', null, { kind: 'network', name: 'Everything', source_ref: {} }),
    async show(podcastId?: string) {
      return send('inventory_unit.create', null, {
        kind: 'show',
        name: 'Harbour Light',
        source_ref: { podcast_id: podcastId ?? (await hosting.podcast()).id },
      });
    },
    async activeUnit() {
      return send('inventory_unit.activate', await world.show(), {});
    },
    breakPlan: (inventoryUnitIds: readonly string[] = []) =>
      send('break_plan.create', null, {
        name: 'One before, one in the middle',
        inventory_unit_ids: inventoryUnitIds,
        breaks: [
          {
            key: 'pre',
            position: 'pre',
            anchor: { kind: 'time', position_ms: 0 },
            max_slots: 2,
            max_duration_ms: 60_000,
          },
          { key: 'mid', position: 'mid', anchor: { kind: 'marker' }, max_slots: 1, max_duration_ms: 30_000 },
        ],
      }),
    async publishedBreakPlan(inventoryUnitIds: readonly string[] = [], effectiveAt?: string) {
      return send('break_plan.publish', await world.breakPlan(inventoryUnitIds), {
        ...(effectiveAt && { effective_at: effectiveAt }),
      });
    },
    halt: () => send('serving.halt', null, { scope: { kind: 'workspace' }, cause: 'A wrong ad went out.' }),
  };
  return world;
}
