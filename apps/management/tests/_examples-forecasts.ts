import { creates, on, type Examples } from './_example.ts';
import { hour, service } from './_values.ts';
import type { World } from './_world.ts';

const cause = 'The fair is cancelled.';
const nextWeek = (w: World) => {
  const at = (hours: number) => new Date(w.now().getTime() + hours * hour).toISOString();
  return { start: at(24), end: at(8 * 24) };
};

/** A question about a line item that is only thought of. */
export const availabilityOf = (w: World, targeting: object = {}) => ({
  kind: 'availability',
  window: nextWeek(w),
  prospective: { quantity: 200_000, break_positions: ['mid'], targeting },
});

const requested = (w: World) => w.send('forecast.request', null, availabilityOf(w));

async function started(w: World) {
  const forecast = await requested(w);
  const lease = await w.lease('run_forecast', forecast.id);
  return { forecast: await w.send('forecast.start', forecast, {}, service('forecaster'), lease), lease };
}

const range = { p10: 80, p50: 100, p90: 120 };
const lineItemId = `li_${'0'.repeat(26)}`;

/** A result with every part. */
export const forecastResult = (w: World) => ({
  as_of: w.now().toISOString(),
  plan_digest: '0'.repeat(64),
  booking_version: 3,
  ...{ capacity: range, available: range, possible: range },
  by_day: [{ day: '2026-12-01', ...range }],
  by_podcast: [{ podcast_id: `pod_${'0'.repeat(26)}`, ...range }],
  by_position: [{ position: 'mid', ...range }],
  contending: [{ line_item_id: lineItemId, loses: 12, of_goal: 1000, tier: 'guaranteed' }],
  line_items: [{ line_item_id: lineItemId, goal: 1000, ...range, verdict: 'outranked' }],
  confidence: { level: 0.8, low: 80, high: 120, method: 'prior' },
  sample: { days: 28, rows: 40_000, effective: 40_000 },
  learning_podcasts: [],
  assumptions: ['releases_by_cadence'],
  modifiers: [],
});

const modifier = (w: World, podcastId: string) => ({
  ...{ name: 'Christmas', window: nextWeek(w), factor: 1.2 },
  scope: { kind: 'podcasts', podcast_ids: [podcastId] },
});
const active = async (w: World) => w.send('traffic_modifier.create', null, modifier(w, (await w.podcast()).id));

/** Valid requests for the commands of forecasts and traffic modifiers. */
export const forecastExamples = {
  'forecast.request': async (w) =>
    creates('forecasts', availabilityOf(w, { podcasts: { include: [(await w.podcast()).id] } }), w.actor),
  'forecast.start': async (w) => {
    const forecast = await requested(w);
    return on(forecast, {}, service('forecaster'), await w.lease('run_forecast', forecast.id));
  },
  'forecast.complete': async (w) => {
    const { forecast, lease } = await started(w);
    return on(forecast, forecastResult(w), service('forecaster'), lease);
  },
  'forecast.fail': async (w) => {
    const { forecast, lease } = await started(w);
    return on(forecast, { problem: { code: 'gave_up', detail: 'Not this time.' } }, service('forecaster'), lease);
  },
  'forecast.cancel': async (w) => on((await started(w)).forecast, {}, w.actor),
  'forecast.expire': async (w) => {
    const { forecast, lease } = await started(w);
    const ready = await w.send('forecast.complete', forecast, forecastResult(w), service('forecaster'), lease);
    return on(ready, {}, service('management'));
  },
  'traffic_modifier.create': async (w) => creates('traffic_modifiers', modifier(w, (await w.podcast()).id), w.actor),
  'traffic_modifier.revise': async (w) => on(await active(w), { factor: 0.8, scope: { kind: 'workspace' } }, w.actor),
  'traffic_modifier.retire': async (w) => on(await active(w), { cause }, w.actor),
} satisfies Examples;
