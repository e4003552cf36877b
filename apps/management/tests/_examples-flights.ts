import { creates, on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

const cause = 'The customer asked for it.';
const inAnHour = (w: World) => new Date(w.now().getTime() + hour).toISOString();

/** A line item with every field. */
async function wholeLineItem(w: World) {
  const [podcast, unit] = [await w.podcast(), await w.activeUnit()];
  return {
    ...w.lineItemChanges((await w.campaign()).id),
    priority: 3,
    goal: { unit: 'completes', quantity: 1000, daily_min: 10, daily_max: 200 },
    rate: { model: 'cpcv', price: { amount_micros: '40000', currency: 'EUR' } },
    pacing: { mode: 'front_loaded', velocity: 1.5, finish_early_pct: 5 },
    targeting: {
      inventory: { include: [unit.id] },
      podcasts: { exclude: [podcast.id] },
      countries: { include: ['DE', 'AT'] },
      regions: { exclude: ['DE-BY'] },
      languages: { include: ['de'] },
      operating_systems: { include: ['iOS', 'Android'] },
      explicit: 'none',
      episode_age_hours: { max: 720 },
      dayparts: { time_zone: 'Europe/Berlin', hours: [6, 7, 8] },
    },
    frequency_caps: [{ max: 2, per: 'listener_bucket', window_seconds: 86_400 }],
    creative_rotation: 'sequential',
    counting_basis: 'ad_delivered',
    weight: 2,
    auto_extend: true,
  };
}

/** Valid requests for the commands of line items. */
export const flightExamples = {
  'line_item.create': async (w) => creates('line_items', await wholeLineItem(w), w.actor),
  'line_item.revise': async (w) => on(await w.lineItem(), { name: 'Mid-roll', break_positions: ['mid'] }, w.actor),
  'line_item.submit': async (w) => on((await w.assignment()).lineItem, {}, w.actor),
  'line_item.reserve': async (w) => on(await w.approvedLineItem(), { expires_at: inAnHour(w) }, w.actor),
  'line_item.release_reservation': async (w) => on(await w.reservedLineItem(), {}, w.actor),
  'line_item.expire_reservation': async (w) => {
    const lineItem = await w.reservedLineItem();
    w.ahead(2 * hour);
    return on(lineItem, {}, service('management'));
  },
  'line_item.book': async (w) => on(await w.approvedLineItem(), {}, w.actor),
  'line_item.start_flight': async (w) => {
    const { lineItem } = await w.booked();
    await w.planned(lineItem.id);
    return on(lineItem, {}, service('management'));
  },
  'line_item.end_flight': async (w) => {
    const { lineItem } = await w.delivering(w.shortFlight());
    w.ahead(2 * hour);
    return on(lineItem, {}, service('management'));
  },
  'line_item.complete': async (w) => on((await w.delivering()).lineItem, { delivered: 10 }, service('management')),
  'line_item.amend': async (w) =>
    on(
      (await w.booked()).lineItem,
      { goal: { unit: 'impressions', quantity: 20 }, effective_at: inAnHour(w) },
      w.actor,
    ),
  'line_item.apply_amendment': async (w) => {
    const changes = { frequency_caps: [], effective_at: inAnHour(w) };
    const amended = await w.send('line_item.amend', (await w.booked(w.longFlight())).lineItem, changes);
    w.ahead(2 * hour);
    return on(amended, {}, service('management'));
  },
  'line_item.pause': async (w) => on((await w.delivering()).lineItem, { cause }, w.actor),
  'line_item.resume': async (w) => on(await w.pausedLineItem(), { cause }, w.actor),
  'line_item.extend': async (w) =>
    on((await w.booked()).lineItem, { end: new Date(w.now().getTime() + 1000 * hour).toISOString(), cause }, w.actor),
  'line_item.set_priority': async (w) => on((await w.booked()).lineItem, { priority: 1 }, w.actor),
  'line_item.set_external_ids': async (w) =>
    on((await w.booked()).lineItem, { external_ids: [{ source: 'gam', id: '6123456789' }] }, w.actor),
  'line_item.stop': async (w) => on((await w.delivering()).lineItem, { cause }, w.actor),
  'line_item.cancel': async (w) => on((await w.booked()).lineItem, { cause }, w.actor),
  'line_item.reset': async (w) => on(await w.reservedLineItem(), { cause }, w.actor),
  'line_item.archive': async (w) =>
    on(await w.send('line_item.cancel', await w.lineItem(), { cause }), { cause }, w.actor),
} satisfies Examples;
