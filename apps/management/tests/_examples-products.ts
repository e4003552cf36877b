import { creates, on, type Examples } from './_example.ts';

const cause = 'Another one follows.';

/** Valid requests for the commands of products and rate cards. */
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
  'rate_card.create': async (w) => creates('rate_cards', w.rateCardChanges(), w.actor),
  'rate_card.revise': async (w) => on(await w.rateCard(), { name: 'Autumn' }, w.actor),
  'rate_card.publish': async (w) => on(await w.rateCard(), {}, w.actor),
  'rate_card.withdraw': async (w) => on(await w.publishedRateCard(), { cause }, w.actor),
} satisfies Examples;
