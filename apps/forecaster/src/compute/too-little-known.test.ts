import { expect, test } from '@jest/globals';
import { defaultSeparation } from '@longwave/events';
import type { SamplePlay } from '@longwave/forecasting';
import { bookedLine } from '@longwave/forecasting/generated-world';
import { checkAvailability } from './check-availability.ts';
import type { ForecastInputs } from './forecast-inputs.ts';
import { createKeepBaselines } from './keep-baselines.ts';
import { makeForecast } from './make-forecast.ts';

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const nowMs = Date.UTC(2026, 5, 1);
const window = { start: new Date(nowMs + dayMs).toISOString(), end: new Date(nowMs + 15 * dayMs).toISOString() };
const perHour = 4;
const line = bookedLine({
  ...{ line_item_id: 'li_new', window, break_positions: ['pre'] },
  goal: { unit: 'impressions', quantity: 1_000_000 },
});
const own = { podcastId: 'pod_1', language: 'de', contentCategories: ['True Crime'] };

/** A podcast whose episodes are of these ages in days, each heard evenly since it came out, as far as facts go back. */
function workspaceOf(ages: readonly number[], factDays: number): ForecastInputs {
  const [plays, hours]: [SamplePlay[], ForecastInputs['past']['hours'][number][]] = [[], []];
  for (let atMs = nowMs - factDays * dayMs; atMs < nowMs; atMs += hourMs)
    for (const [at, age] of ages.entries()) {
      const publishedAtMs = nowMs - age * dayMs;
      if (atMs < publishedAtMs) continue;
      const ids = { ...own, episodeId: `ep_${at}` };
      hours.push({
        ...ids,
        ...{ publishedAtMs: BigInt(publishedAtMs), hourMs: BigInt(atMs), opportunities: BigInt(perHour) },
      });
      for (let nth = 0; nth < perHour && atMs >= nowMs - 28 * dayMs; nth++)
        plays.push({
          ...{ ...ids, country: 'DE', region: '', surface: 'progressive', device: 'mobile', operatingSystem: '' },
          ...{
            app: '',
            explicit: false,
            publishedAtMs,
            adLoadLimitMs: undefined,
            streamFormat: 'mp3/128000/48000/2',
            atMs,
          },
          breaks: [{ key: 'pre', position: 'pre', maxSlots: 1, maxDurationMs: 60_000, positionMs: 0, slotRules: [] }],
          ...{ listener: `l${plays.length % 3000}`, weight: 1, lineItemIds: [], noAdReason: '' },
        });
    }
  const plan = {
    ...{ format: 2 as const, workspace_id: 'ws', effective_from: new Date(nowMs).toISOString(), inputs: [] },
    ...{ floors: [], separation: defaultSeparation, line_items: [] },
  };
  const head = { bookingVersion: 1n, planDigest: '1', timeZone: 'UTC', modifiers: [], releases: [] };
  return {
    ...{ workspaceId: 'ws', nowMs, committed: [], backtests: [], maxPlays: 4_000 },
    ...{ past: { untilMs: nowMs, plays, hours }, booking: { plan, head } },
  };
}
const checked = (inputs: ForecastInputs) => checkAvailability(inputs, line, createKeepBaselines().baselineOf);
/** Slots of 14 days at the pace of now. */
const atThisPace = 14 * 24 * perHour;

test.each([
  ['one episode, heard for as long as there are facts', [40], 40, 1],
  ['two episodes', [44, 30], 44, 2],
  ['one episode that came out long before the first facts, as of a show that was moved', [30], 20, 1],
])('a podcast with facts of 14 days is sold no more than it may have: %s', (_, ages, factDays, count) => {
  const found = checked(workspaceOf(ages, factDays));
  expect(found.learning).toBe(false);
  expect(found.capacity).toBeGreaterThan(0.25 * count * atThisPace);
  expect(found.capacity).toBeLessThan(1.5 * count * atThisPace);
});

test('with facts of fewer days nothing is refused, and a forecast says that too little is known', () => {
  const inputs = workspaceOf([10], 10);
  expect(checked(inputs)).toMatchObject({ learning: true });
  const { assumptions, capacity } = makeForecast(inputs, { kind: 'traffic', window });
  expect([assumptions.includes('too_little_known'), capacity!.p50 > 0]).toEqual([true, true]);
});

test.each(['traffic', 'availability'] as const)('a %s of zero for want of facts is not sure to be zero', (kind) => {
  const asked = { kind, window, ...(kind === 'availability' && { line_item: line }) };
  // All that was heard was heard in the hour that is not over.
  const { past, ...inputs } = workspaceOf([1 / 24], 1);
  const hours = past.hours.map((one) => ({ ...one, hourMs: BigInt(nowMs) }));
  const firstHour = { ...inputs, past: { ...past, hours } };
  for (const [given, isPlayed] of [
    [firstHour, true],
    [workspaceOf([], 1), false],
  ] as const) {
    const { capacity, confidence, assumptions } = makeForecast(given, asked);
    expect([capacity!.p50, confidence.low, confidence.high]).toEqual([0, 0, undefined]);
    expect(assumptions).toContain('too_little_known');
    expect(assumptions.includes('no_plays_yet')).toBe(!isPlayed);
  }
});

test('a zero with facts enough is one', () => {
  const nowhere = { ...line, break_positions: ['post' as const] };
  const found = makeForecast(workspaceOf([40], 40), { kind: 'availability', window, line_item: nowhere });
  expect(found.confidence).toMatchObject({ low: 0, high: 0 });
  expect(found.assumptions).not.toContain('too_little_known');
});
