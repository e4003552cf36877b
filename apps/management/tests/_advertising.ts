import type { ResourceView } from '@longwave/events';
import { savePlanContent } from '../src/advertising/serving-plans/plan-content-table.ts';
import type { HostingWorld } from './_hosting.ts';
import { digest, hlsTrack, hour, media, person, service, window } from './_values.ts';

/** Creates a workspace's advertising by commands. */
export function createAdvertising(hosting: HostingWorld) {
  const { send, pool } = hosting;
  const world = {
    advertiser: () =>
      send('advertiser.create', null, { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }),
    async campaign() {
      const advertiser = await world.advertiser();
      return send('campaign.create', null, {
        advertiser_id: advertiser.id,
        name: 'Autumn',
        window: world.around(1000 * hour),
      });
    },
    async approvedCampaign() {
      return send('campaign.submit', await world.campaign(), {});
    },
    async creative(advertiserId?: string) {
      return send('creative.create', null, {
        advertiser_id: advertiserId ?? (await world.advertiser()).id,
        name: 'Ad',
        format: 'audio',
        production: 'produced',
        universal_ad_id: 'unknown',
      });
    },
    async processingCreative(advertiserId?: string) {
      const creative = await send('creative.attach_media', await world.creative(advertiserId), {
        upload_ref: (await hosting.upload()).id,
      });
      return { creative, lease: await hosting.lease('encode_creative', creative.id) };
    },
    async preparedCreative(advertiserId?: string) {
      const { creative, lease } = await world.processingCreative(advertiserId);
      return send('creative.record_media', creative, { media: [media], duration_ms: 24 }, service('encoder'), lease);
    },
    /** A prepared creative that a host reads; it names no podcast yet. */
    async hostReadCreative(more: object = {}) {
      const { id: advertiser_id } = await world.advertiser();
      const draft = await send('creative.create', null, {
        ...{ advertiser_id, name: 'By the host', format: 'audio', production: 'host_read', universal_ad_id: 'unknown' },
        ...more,
      });
      const processing = await send('creative.attach_media', draft, { upload_ref: (await hosting.upload()).id });
      const lease = await hosting.lease('encode_creative', draft.id);
      return send('creative.record_media', processing, { media: [media], duration_ms: 24 }, service('encoder'), lease);
    },
    async approvedCreative(advertiserId?: string) {
      return send('creative.submit', await world.preparedCreative(advertiserId), { disclosure: 'Advertisement' });
    },
    /** An approved creative of an earlier release, for which an encoder makes tracks of HLS. */
    async adTracksEncoding() {
      const approved = await world.approvedCreative();
      const creative = await send('creative.start_tracks', approved, {}, service('management'));
      return { creative, lease: await hosting.lease('encode_creative_tracks', creative.id) };
    },
    /** An approved creative with tracks, whose pictures an encoder makes. */
    async adPicturesEncoding() {
      const { creative: waiting, lease } = await world.adTracksEncoding();
      const tracks = [{ stream: media.sha256, hls: hlsTrack }];
      const tracked = await send('creative.record_tracks', waiting, { tracks }, service('encoder'), lease);
      const creative = await send('creative.start_pictures', tracked, {}, service('management'));
      return { creative, lease: await hosting.lease('encode_creative_pictures', creative.id) };
    },
    /** An approved creative of the advertiser that a line item belongs to. */
    async creativeOf(lineItem: ResourceView) {
      const { rows } = await pool.query<{ id: string }>(
        `select attributes ->> 'advertiser_id' as id from resource where id = $1`,
        [lineItem.attributes['campaign_id']],
      );
      return world.approvedCreative(rows[0]!.id);
    },
    lineItemChanges: (campaignId: string) => ({
      campaign_id: campaignId,
      name: 'Pre-roll',
      type: 'guaranteed',
      window: world.around(24 * hour),
      goal: { unit: 'impressions', quantity: 10 },
      rate: { model: 'cpm', price: { amount_micros: '18000000', currency: 'EUR' } },
      break_positions: ['pre'],
    }),
    async lineItem(changes: Record<string, unknown> = {}) {
      const campaign = await world.approvedCampaign();
      return send('line_item.create', null, { ...world.lineItemChanges(campaign.id), ...changes });
    },
    async assignment(changes: Record<string, unknown> = {}) {
      const lineItem = await world.lineItem(changes);
      const creative = await world.creativeOf(lineItem);
      return {
        lineItem,
        assignment: await send('creative_assignment.create', null, {
          line_item_id: lineItem.id,
          creative_id: creative.id,
        }),
      };
    },
    async approvedLineItem(changes: Record<string, unknown> = {}) {
      const { lineItem, assignment } = await world.assignment(changes);
      await send('creative_assignment.activate', assignment, {});
      return send('line_item.submit', lineItem, {});
    },
    async activeAdvertiser() {
      return send('advertiser.activate', await world.advertiser(), {}, service('operator'));
    },
    async activeCampaign() {
      return send('campaign.activate', await world.approvedCampaign(), {});
    },
    /** A line item, booked, in an active campaign. */
    async booked(changes: Record<string, unknown> = {}, within?: ResourceView) {
      const campaign = within ?? (await world.activeCampaign());
      const lineItem = await send('line_item.create', null, { ...world.lineItemChanges(campaign.id), ...changes });
      return { campaign, ...(await world.sold(lineItem)) };
    },
    /** A draft in an active campaign, booked with a creative of its own. */
    async sold(draft: ResourceView) {
      const creative = await world.creativeOf(draft);
      const assignment = await world.assign(draft, creative);
      await send('creative_assignment.activate', assignment, {});
      const approved = await send('line_item.submit', draft, {});
      return { creative, lineItem: await send('line_item.book', approved, {}) };
    },
    /** Begins an hour ago and ends in an hour, by the service's clock. */
    shortFlight: () => ({ window: world.around(hour) }),
    longFlight: () => ({ window: world.around(100 * hour) }),
    around(ms: number) {
      const now = hosting.now().getTime();
      return { start: new Date(now - ms).toISOString(), end: new Date(now + ms).toISOString() };
    },
    assign: (lineItem: ResourceView, creative: ResourceView) =>
      send('creative_assignment.create', null, { line_item_id: lineItem.id, creative_id: creative.id }),
    /** Makes a published plan contain a line item. */
    async planned(lineItemId: string) {
      const plan = await send('serving_plan.publish', await world.readyPlan(), {});
      await savePlanContent(pool, plan.id, [lineItemId]);
      return plan;
    },
    async delivering(changes: Record<string, unknown> = {}) {
      const { campaign, lineItem } = await world.booked(changes);
      await world.planned(lineItem.id);
      return { campaign, lineItem: await send('line_item.start_flight', lineItem, {}, service('management')) };
    },
    async pausedLineItem() {
      return send('line_item.pause', (await world.booked()).lineItem, { cause: 'The offer ended early.' });
    },
    async reservedLineItem() {
      const until = new Date(hosting.now().getTime() + hour).toISOString();
      return send('line_item.reserve', await world.approvedLineItem(), { expires_at: until });
    },
    trackingChanges: (advertiserId: string) => ({
      vendor: 'Acme Measurement',
      url_template: 'https://tracker.test/i?cb=[CACHEBUSTING]',
      events: ['impression'],
      advertiser_id: advertiserId,
    }),
    async trackingEndpoint(changes: Record<string, unknown> = {}) {
      const fields = 'campaign_id' in changes || 'line_item_id' in changes || 'creative_id' in changes;
      const { advertiser_id, ...rest } = world.trackingChanges(fields ? '' : (await world.advertiser()).id);
      return send('tracking_endpoint.create', null, { ...rest, ...(!fields && { advertiser_id }), ...changes });
    },
    async validatingTracking(changes: Record<string, unknown> = {}) {
      const draft = await world.trackingEndpoint(changes);
      const endpoint = await send('tracking_endpoint.validate', draft, {}, service('operator'));
      return { endpoint, lease: await hosting.lease('check_tracking_endpoint', endpoint.id) };
    },
    async activeTracking(changes: Record<string, unknown> = {}) {
      const { endpoint, lease } = await world.validatingTracking(changes);
      return send('tracking_endpoint.record_validation', endpoint, {}, service('management'), lease);
    },
    async disabledTracking(changes: Record<string, unknown> = {}) {
      return send('tracking_endpoint.disable', await world.activeTracking(changes), { cause: 'The order ended.' });
    },
    async cloning() {
      const campaign = await send('campaign.clone', await world.campaign(), { name: 'Winter', window });
      return { campaign, lease: await hosting.lease('clone_campaign', campaign.id) };
    },
    async supersededPlan() {
      return send('serving_plan.supersede', await world.publishedPlan(), {}, service('management'));
    },
    async publishedPlan() {
      return send('serving_plan.publish', await world.readyPlan(), {});
    },
    /** A reviewer who requested nothing. */
    reviewer: person(hosting.workspaceId, ['viewer', 'reviewer']),
    /** A command that waits for a review, and its task. */
    async waiting() {
      const advertiser = await send('advertiser.activate', await world.advertiser(), {});
      return { advertiser, task: await world.taskOf(advertiser.id) };
    },
    async taskOf(subjectId: string): Promise<ResourceView> {
      const { rows } = await pool.query<ResourceView>(
        `select * from resource where resource_type = 'review_tasks' and attributes #>> '{subject,id}' = $1
         order by created_at desc, id desc limit 1`,
        [subjectId],
      );
      return rows[0]!;
    },
    compiling: async (effectiveFrom: string = window.start) => {
      const plan = await send('serving_plan.compile', null, { effective_from: effectiveFrom });
      return { plan, lease: await hosting.lease('compile_serving_plan', plan.id) };
    },
    planCompiled: { storage_key: `plans/${digest}.json`, digest, counts: { line_items: 0, creatives: 0 } },
    async readyPlan(effectiveFrom?: string, planDigest: string = digest) {
      const { plan, lease } = await world.compiling(effectiveFrom);
      const compiled = { ...world.planCompiled, digest: planDigest };
      return send('serving_plan.record_compiled', plan, compiled, service('management'), lease);
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
    policy: (given: Record<string, unknown> = {}) =>
      send('policy.create', null, {
        name: 'At most a minute',
        kind: 'ad_load',
        scope: { kind: 'workspace' },
        rules: { max_ms_per_play: 60_000 },
        ...given,
      }),
    /** Submitted by the operator, whose commands need no review. */
    async scheduledPolicy(given?: Record<string, unknown>, changes: Record<string, unknown> = {}) {
      return send('policy.submit', await world.policy(given), changes, service('operator'));
    },
    async activePolicy(given?: Record<string, unknown>) {
      return send('policy.activate', await world.scheduledPolicy(given), {}, service('management'));
    },
    /** Prices of pre-rolls up to 30 s: 15 EUR a thousand if produced, 25 if read by the host. */
    rateCardChanges: (given: Record<string, unknown> = {}) => ({
      name: 'Summer',
      currency: 'EUR',
      valid_window: world.around(1000 * hour),
      entries: [
        { position: 'pre', production: 'produced', max_duration_ms: 30_000, model: 'cpm', price: '15000000' },
        { position: 'pre', production: 'host_read', max_duration_ms: 30_000, model: 'cpm', price: '25000000' },
      ],
      ...given,
    }),
    rateCard: (given?: Record<string, unknown>) => send('rate_card.create', null, world.rateCardChanges(given)),
    async publishedRateCard(given?: Record<string, unknown>) {
      return send('rate_card.publish', await world.rateCard(given), {}, service('operator'));
    },
    async product(given: Record<string, unknown> = {}) {
      return send('product.create', null, {
        name: 'Pre-rolls',
        positions: ['pre'],
        delivery: 'guaranteed',
        rate_card_id: (await world.publishedRateCard()).id,
        ...given,
      });
    },
    async publishedProduct(given?: Record<string, unknown>) {
      return send('product.publish', await world.product(given), {}, service('operator'));
    },
    demandSourceChanges: (lineItemId: string, given: object = {}) => ({
      kind: 'vast_tag',
      line_item_id: lineItemId,
      name: 'Example Exchange',
      endpoint: 'https://ads.example/vast',
      allowed_hosts: ['ads.example'],
      ...given,
    }),
    /** A line item that sells what demand sources answer with, at 8 EUR a thousand. */
    async demandLineItem(given: object = {}) {
      return send('line_item.create', null, {
        ...world.lineItemChanges((await world.activeCampaign()).id),
        type: 'non_guaranteed',
        goal: { unit: 'unlimited' },
        rate: { model: 'cpm', price: { amount_micros: '8000000', currency: 'EUR' } },
        ...given,
      });
    },
    async demandSource(given: object = {}) {
      return send('demand_source.create', null, world.demandSourceChanges((await world.demandLineItem()).id, given));
    },
    /** Validated by the operator, whose commands need no review. */
    async validatingSource(given?: object) {
      const source = await send('demand_source.validate', await world.demandSource(given), {}, service('operator'));
      return { source, lease: await hosting.lease('validate_demand_source', source.id) };
    },
    demandFinding: { checked_at: window.start, ads: 1, wrappers: 0, refused: [] },
    async activeSource(given?: object) {
      const { source, lease } = await world.validatingSource(given);
      const finding = world.demandFinding;
      return send('demand_source.record_validation', source, { finding }, service('management'), lease);
    },
    async pausedSource() {
      return send('demand_source.pause', await world.activeSource(), { cause: 'Too many complaints.' });
    },
    demandAdOf: (source: ResourceView) => ({
      demand_source_id: source.id,
      demand_ad_key: digest,
      demand_key: digest,
      name: 'Northwind Tea',
      universal_ad_id: 'CNPA0484000H',
      categories: [],
      trackers: [{ event: 'impression', url_template: 'https://ads.example/impression?cb=[CACHEBUSTING]' }],
      source: { storage_key: `demand/${digest}`, etag: digest, sha256: digest, size_bytes: 384 },
    }),
    async importedCreative() {
      return send('creative.import', null, world.demandAdOf(await world.activeSource()), service('management'));
    },
    halt: () => send('serving.halt', null, { scope: { kind: 'workspace' }, cause: 'A wrong ad went out.' }),
  };
  return world;
}
