/**
 * A program: asks what a seller asks, in a workspace of 10,000 line items and a million opportunities a day, and prints the seconds of each
 * question as JSON (`npm run bench -- forecasts`). What is known of the past is in memory, as after the first question.
 */
import type { PlanLineItem } from '@longwave/events';
import { findMatched } from '@longwave/forecasting';
import { bookedLine, bookedPlan, createDraws, generateWorld, targetingOf } from '@longwave/forecasting/generated-world';
import { checkAvailability, widenSold } from '../src/compute/check-availability.ts';
import { deliveryInputs, modelOf, type ForecastInputs } from '../src/compute/forecast-inputs.ts';
import { createKeepBaselines, type KeepBaseline } from '../src/compute/keep-baselines.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const nowMs = Date.UTC(2026, 5, 1);
const [lineItems, perDay, podcasts] = [10_000, 1_000_000, 40];
/** Questions of which nothing is kept, questions after one more line item was sold, and those after the last of them. */
const [anews, firsts, nexts] = [3, 7, 40];
/** Questions about more than is left, at the best priority: the largest quantity that takes nothing from others is looked for. */
const contending = 12;

const fromMs = nowMs - 150 * dayMs;
// A play has three to five slots.
const world = generateWorld({ seed: 104, podcasts, playsPerDay: perDay / 4, fromMs, toMs: nowMs });
const perPodcastAndDay = 25_000 / podcasts;
const plays = world.playsOf({ fromMs: nowMs - 28 * dayMs, toMs: nowMs }, { perPodcastAndDay });
const slots = plays.reduce(
  (sum, { weight, breaks }) => sum + weight * breaks.reduce((all, one) => all + one.maxSlots, 0),
  0,
);
const iso = (atMs: number) => new Date(atMs).toISOString();
const window = { start: iso(nowMs), end: iso(nowMs + 28 * dayMs) };
/** Sold in pre-rolls alone, of which it has half: who has a better priority and any position takes some of them. */
const preRolls = bookedLine({
  ...{ line_item_id: 'li_pre_rolls', window, priority: 8, break_positions: ['pre'] },
  goal: { unit: 'impressions', quantity: Math.round(0.1 * slots) },
});
const booked = bookedPlan(world, { seed: 105, guaranteed: lineItems, window, slots, bookedShare: 0.45, capped: true });
const plan = { ...booked, line_items: [...booked.line_items, preRolls] };

const hours = world.histories
  .flatMap(({ podcastId, language, contentCategories, episodes }) =>
    episodes.flatMap(({ episodeId, publishedAtMs, hours: own }) =>
      own
        .filter(([hour]) => hour * hourMs >= nowMs - 90 * dayMs)
        .map(([hour, opportunities]) => ({
          ...{ podcastId, episodeId, language, contentCategories: [...contentCategories] },
          publishedAtMs: BigInt(publishedAtMs),
          hourMs: BigInt(hour * hourMs),
          opportunities: BigInt(opportunities),
        })),
    ),
  )
  .sort((a, b) => Number(a.hourMs - b.hourMs));

const draws = createDraws(106);
const lineOf = (id: string, quantity: number): PlanLineItem =>
  bookedLine({
    ...{ line_item_id: id, window, priority: 4, goal: { unit: 'impressions', quantity } },
    targeting: targetingOf(world.podcasts, draws),
  });
const sales = Array.from({ length: firsts }, (_, at) => lineOf(`li_sold_${at}`, 20_000 * (1 + at)));

/** The inputs of a question after so many sales. */
const inputsAfter = Array.from({ length: firsts + 1 }, (_, sold): ForecastInputs => ({
  ...{ workspaceId: 'ws_1', nowMs, committed: [], backtests: [], maxPlays: 40_000 },
  past: { untilMs: nowMs, plays, hours },
  booking: {
    // Management sends the whole plan again.
    plan: structuredClone({ ...plan, line_items: [...plan.line_items, ...sales.slice(0, sold)] }),
    head: { bookingVersion: BigInt(sold), planDigest: `${sold}`, timeZone: 'UTC', modifiers: [], releases: [] },
  },
}));

/** Seconds of the clock and of the processor. */
function secondsOf(work: () => unknown): readonly [clock: number, processor: number] {
  const [started, used] = [performance.now(), process.cpuUsage()];
  work();
  const { user, system } = process.cpuUsage(used);
  return [(performance.now() - started) / 1000, (user + system) / 1e6];
}

const check = (sold: number, at: number, keep: KeepBaseline) => {
  const line = lineOf('li_new', 1_000 * (1 + at));
  return secondsOf(() => checkAvailability(inputsAfter[sold]!, line, keep));
};
const anew = Array.from({ length: anews }, (_, at) => check(0, at, createKeepBaselines().baselineOf));
/** What is made for a flight that is offered, part by part, and the first question of the workspace after that. */
const expected: (readonly [number, number])[] = [];
const veryFirst = Array.from({ length: anews }, (_, at) => {
  const { makeAhead, baselineOf } = createKeepBaselines();
  // As a forecaster that has just begun: nothing of the sample was found before.
  const inputs = { ...inputsAfter[0]!, past: { untilMs: nowMs, plays: plays.slice(), hours } };
  const flights = [{ fromMs: nowMs, toMs: nowMs + 28 * dayMs }];
  for (let isMade = true; isMade;) expected.push(secondsOf(() => (isMade = makeAhead(inputs, widenSold, flights))));
  return secondsOf(() => checkAvailability(inputs, lineOf('li_new', 1_000 * (1 + at)), baselineOf));
});
const kept = createKeepBaselines();
const { baselineOf: keep } = kept;
check(0, 0, keep);
const first = sales.map((_, at) => check(at + 1, at, keep));
const next = Array.from({ length: nexts }, (_, at) => check(firsts, at, keep));
const contended = Array.from({ length: contending }, () => {
  const line = { ...lineOf('li_new', 1), priority: 1 };
  const { available } = checkAvailability(inputsAfter[firsts]!, line, keep);
  const asked: PlanLineItem = { ...line, goal: { unit: 'impressions', quantity: Math.ceil(1.5 * available) } };
  return secondsOf(() => checkAvailability(inputsAfter[firsts]!, asked, keep));
});
/** Times each part that is made ahead when an hour has ended, and the first question after that. */
const endedHour: ForecastInputs = {
  ...{ ...inputsAfter[firsts]!, nowMs: nowMs + hourMs / 3 },
  past: { untilMs: nowMs + hourMs, plays: plays.slice(), hours },
};
const ahead: (readonly [number, number])[] = [];
for (let isMade = true; isMade;) ahead.push(secondsOf(() => (isMade = kept.makeAhead(endedHour, widenSold))));
const afterAhead = [secondsOf(() => checkAvailability(endedHour, lineOf('li_new', 1_000), keep))];
const [asked] = inputsAfter;
const { plays: projected } = deliveryInputs({ ...asked!, maxPlays: 10_000 }, modelOf(asked!), {
  fromMs: nowMs,
  toMs: nowMs + 28 * dayMs,
});
const matched = Array.from({ length: 9 }, (_, at) => {
  const line = lineOf('li_new', 1_000 * (1 + at));
  return secondsOf(() => findMatched(line, projected, { timeZone: 'UTC' }));
});
const megabytes = process.memoryUsage().rss / 2 ** 20;
process.stdout.write(
  `${JSON.stringify({ anew, expected, veryFirst, first, next, contended, ahead, afterAhead, matched, sampled: plays.length, megabytes })}\n`,
);
