import { newId } from '@longwave/ids';
import { creates, on, type Examples } from './_example.ts';
import { hlsTrack, media, pictures, service, window } from './_values.ts';

const cause = 'The customer asked for it.';

/** Valid requests for the commands of advertisers, campaigns, creatives and plans. */
export const advertisingExamples = {
  'advertiser.create': async (w) =>
    creates('advertisers', { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }, w.actor),
  'advertiser.revise': async (w) =>
    on(await w.advertiser(), { separation_groups: ['tea'], billing_ref: 'D-17' }, w.actor),
  'advertiser.activate': async (w) => on(await w.advertiser(), {}, w.actor),
  'advertiser.suspend': async (w) => on(await w.activeAdvertiser(), { cause }, w.actor),
  'advertiser.reinstate': async (w) =>
    on(await w.send('advertiser.suspend', await w.activeAdvertiser(), { cause }), { cause }, w.actor),
  'advertiser.archive': async (w) => on(await w.advertiser(), {}, w.actor),
  'campaign.create': async (w) =>
    creates('campaigns', { advertiser_id: (await w.advertiser()).id, name: 'Autumn', window }, w.actor),
  'campaign.submit': async (w) => on(await w.campaign(), {}, w.actor),
  'campaign.activate': async (w) => on(await w.approvedCampaign(), {}, w.actor),
  'campaign.revise': async (w) =>
    on(
      await w.campaign(),
      {
        budget: { amount_micros: '5000000000', currency: 'EUR' },
        io_number: 'IO-2026-11',
        objective: 'Awareness',
        separation_group: 'tea',
        contacts: [{ role: 'Trafficking', account_id: newId('acc') }],
      },
      w.actor,
    ),
  'campaign.pause': async (w) => on(await w.activeCampaign(), { cause }, w.actor),
  'campaign.resume': async (w) =>
    on(await w.send('campaign.pause', await w.activeCampaign(), { cause }), { cause }, w.actor),
  'campaign.complete': async (w) => on(await w.activeCampaign(), {}, w.actor),
  'campaign.cancel': async (w) => on(await w.activeCampaign(), { cause }, w.actor),
  'campaign.complete_cancel': async (w) =>
    on(await w.send('campaign.cancel', await w.campaign(), { cause }, service('operator')), {}, service('management')),
  'campaign.clone': async (w) => on(await w.campaign(), { name: 'Winter', window }, w.actor),
  'campaign.derive': async (w) => {
    const origin = await w.campaign();
    const { advertiser_id } = origin.attributes;
    return creates(
      'campaigns',
      { advertiser_id, name: 'Winter', window, cloned_from: origin.id },
      service('management'),
    );
  },
  'campaign.complete_clone': async (w) => {
    const { campaign, lease } = await w.cloning();
    return on(campaign, { clone_id: (await w.campaign()).id }, service('management'), lease);
  },
  'campaign.fail_clone': async (w) => {
    const { campaign, lease } = await w.cloning();
    return on(campaign, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('management'), lease);
  },
  'campaign.archive': async (w) => on(await w.send('campaign.complete', await w.activeCampaign(), {}), {}, w.actor),
  'creative.create': async (w) =>
    creates(
      'creatives',
      {
        advertiser_id: (await w.advertiser()).id,
        name: 'Ad',
        format: 'audio',
        production: 'produced',
        universal_ad_id: 'unknown',
      },
      w.actor,
    ),
  'creative.attach_media': async (w) => on(await w.creative(), { upload_ref: (await w.upload()).id }, w.actor),
  'creative.record_media': async (w) => {
    const { creative, lease } = await w.processingCreative();
    return on(creative, { media: [media], duration_ms: 24 }, service('encoder'), lease);
  },
  'creative.cancel_media': async (w) => on((await w.processingCreative()).creative, {}, w.actor),
  'creative.fail_media': async (w) => {
    const { creative, lease } = await w.processingCreative();
    return on(creative, { problem: { code: 'media_empty', detail: 'The file is empty.' } }, service('encoder'), lease);
  },
  'creative.start_tracks': async (w) => on(await w.approvedCreative(), {}, service('management')),
  'creative.record_tracks': async (w) => {
    const { creative, lease } = await w.adTracksEncoding();
    return on(creative, { tracks: [{ stream: media.sha256, hls: hlsTrack }] }, service('encoder'), lease);
  },
  'creative.fail_tracks': async (w) => {
    const { creative, lease } = await w.adTracksEncoding();
    return on(creative, { problem: { code: 'media_empty', detail: 'The file is empty.' } }, service('encoder'), lease);
  },
  'creative.start_pictures': async (w) => {
    const { creative, lease } = await w.adTracksEncoding();
    const tracks = [{ stream: media.sha256, hls: hlsTrack }];
    const tracked = await w.send('creative.record_tracks', creative, { tracks }, service('encoder'), lease);
    return on(tracked, {}, service('management'));
  },
  'creative.record_pictures': async (w) => {
    const { creative, lease } = await w.adPicturesEncoding();
    return on(creative, pictures, service('encoder'), lease);
  },
  'creative.fail_pictures': async (w) => {
    const { creative, lease } = await w.adPicturesEncoding();
    return on(creative, { problem: { code: 'media_empty', detail: 'The file is empty.' } }, service('encoder'), lease);
  },
  'creative.submit': async (w) => on(await w.preparedCreative(), { disclosure: 'Advertisement' }, w.actor),
  'creative.revise': async (w) =>
    on(await w.approvedCreative(), { categories: ['IAB8-5'], valid_window: window }, w.actor),
  'creative.suspend': async (w) => on(await w.approvedCreative(), { cause }, w.actor),
  'creative.reinstate': async (w) =>
    on(await w.send('creative.suspend', await w.approvedCreative(), { cause }), { cause }, w.actor),
  'creative.reject': async (w) => on(await w.approvedCreative(), { cause }, w.actor),
  'creative.archive': async (w) => on((await w.processingCreative()).creative, {}, w.actor),
  'creative_assignment.create': async (w) => {
    const lineItem = await w.lineItem();
    const creative = await w.creativeOf(lineItem);
    return creates('creative_assignments', { line_item_id: lineItem.id, creative_id: creative.id }, w.actor);
  },
  'creative_assignment.activate': async (w) => on((await w.assignment()).assignment, {}, w.actor),
  'creative_assignment.revise': async (w) =>
    on((await w.assignment()).assignment, { weight: 3, sequence_no: 2, window, position_limits: 'first' }, w.actor),
  'creative_assignment.pause': async (w) =>
    on(await w.send('creative_assignment.activate', (await w.assignment()).assignment, {}), {}, w.actor),
  'creative_assignment.end': async (w) => on((await w.assignment()).assignment, { cause }, w.actor),
  'serving_plan.compile': async (w) => creates('serving_plans', { effective_from: window.start }, w.actor),
  'serving_plan.record_compiled': async (w) => {
    const { plan, lease } = await w.compiling();
    return on(plan, w.planCompiled, service('management'), lease);
  },
  'serving_plan.fail': async (w) => {
    const { plan, lease } = await w.compiling();
    return on(plan, { problem: { code: 'compile_failed', detail: 'Not this time.' } }, service('management'), lease);
  },
  'serving_plan.publish': async (w) => on(await w.readyPlan(), {}, w.actor),
  'serving_plan.supersede': async (w) =>
    on(await w.send('serving_plan.publish', await w.readyPlan(), {}), {}, service('management')),
  'serving_plan.rollback': async (w) => {
    const target = await w.supersededPlan();
    return on(await w.publishedPlan(), { target_id: target.id, cause }, w.actor);
  },
  'serving_plan.republish': async (w) =>
    creates('serving_plans', { republishes: (await w.supersededPlan()).id }, service('management')),
  'serving_plan.renew_policies': async (w) => {
    const plan = await w.publishedPlan();
    await w.activePolicy();
    return creates('serving_plans', { renews: plan.id }, service('management'));
  },
} satisfies Examples;
