import { creates, on, type Examples } from './_example.ts';
import { media, service, window } from './_support.ts';

/** Valid requests for the commands of advertising. */
export const advertisingExamples = {
  'advertiser.create': async (w) =>
    creates('advertisers', { legal_name: 'Tidewater', brands: [], ad_product_categories: [] }, w.actor),
  'campaign.create': async (w) =>
    creates('campaigns', { advertiser_id: (await w.advertiser()).id, name: 'Autumn', window }, w.actor),
  'campaign.submit': async (w) => on(await w.campaign(), {}, w.actor),
  'campaign.activate': async (w) => on(await w.approvedCampaign(), {}, w.actor),
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
  'creative.fail_media': async (w) => {
    const { creative, lease } = await w.processingCreative();
    return on(creative, { problem: { code: 'media_empty', detail: 'The file is empty.' } }, service('encoder'), lease);
  },
  'creative.submit': async (w) => on(await w.preparedCreative(), { disclosure: 'Advertisement' }, w.actor),
  'creative_assignment.create': async (w) =>
    creates(
      'creative_assignments',
      { line_item_id: (await w.lineItem()).id, creative_id: (await w.creative()).id },
      w.actor,
    ),
  'creative_assignment.activate': async (w) => on((await w.assignment()).assignment, {}, w.actor),
  'line_item.create': async (w) => creates('line_items', w.lineItemChanges((await w.campaign()).id), w.actor),
  'line_item.submit': async (w) => on((await w.assignment()).lineItem, {}, w.actor),
  'line_item.book': async (w) => on(await w.approvedLineItem(), {}, w.actor),
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
} satisfies Examples;
