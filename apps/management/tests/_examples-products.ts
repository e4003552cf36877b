import { creates, on, type Examples } from './_example.ts';
import { service } from './_values.ts';

const cause = 'Another one follows.';

/** Valid requests for the commands of products, rate cards and tracking endpoints. */
export const productExamples = {
  'product.create': async (w) =>
    creates(
      'products',
      {
        name: 'Pre-rolls of a week',
        inventory_unit_ids: [(await w.activeUnit()).id],
        positions: ['pre'],
        delivery: 'guaranteed',
        rate_card_id: (await w.rateCard()).id,
        min_flight_days: 1,
        max_flight_days: 7,
      },
      w.actor,
    ),
  'product.revise': async (w) => on(await w.product(), { positions: ['pre', 'post'] }, w.actor),
  'product.publish': async (w) => on(await w.product(), {}, w.actor),
  'product.withdraw': async (w) => on(await w.publishedProduct(), { cause }, w.actor),
  'tracking_endpoint.create': async (w) =>
    creates('tracking_endpoints', w.trackingChanges((await w.advertiser()).id), w.actor),
  'tracking_endpoint.revise': async (w) => on(await w.trackingEndpoint(), { vendor: 'Another' }, w.actor),
  'tracking_endpoint.validate': async (w) => on(await w.trackingEndpoint(), {}, w.actor),
  'tracking_endpoint.record_validation': async (w) => {
    const { endpoint, lease } = await w.validatingTracking();
    return on(endpoint, {}, service('management'), lease);
  },
  'tracking_endpoint.fail_validation': async (w) => {
    const { endpoint, lease } = await w.validatingTracking();
    const problem = { code: 'host_not_usable', detail: 'No public host with this name was found.' };
    return on(endpoint, { problem }, service('management'), lease);
  },
  'tracking_endpoint.disable': async (w) => on(await w.activeTracking(), { cause }, w.actor),
  'tracking_endpoint.enable': async (w) => on(await w.disabledTracking(), {}, w.actor),
  'tracking_endpoint.retire': async (w) => on(await w.activeTracking(), { cause }, w.actor),
  'rate_card.create': async (w) => creates('rate_cards', w.rateCardChanges(), w.actor),
  'rate_card.revise': async (w) => on(await w.rateCard(), { name: 'Autumn' }, w.actor),
  'rate_card.publish': async (w) => on(await w.rateCard(), {}, w.actor),
  'rate_card.withdraw': async (w) => on(await w.publishedRateCard(), { cause }, w.actor),
} satisfies Examples;
