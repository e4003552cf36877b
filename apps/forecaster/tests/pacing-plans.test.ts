import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { PlanLineItem } from '@longwave/events';
import { newId } from '@longwave/ids';
import type { PacingPlan } from '@longwave/rpc/serving';
import { until } from '@longwave/test-kit';
import { createWorld, evenPlays, guaranteed, planOf, playsOfDay, podcastId, type World } from './_support.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.isSampleAway = false;
  world.releases = [];
  world.put.length = 0;
});

/** The plans that are made of what is sold in a workspace of its own, by line item. */
async function plansOf(lines: PlanLineItem[]): Promise<ReadonlyMap<string, PacingPlan>> {
  const workspaceId = newId('ws');
  world.plan = { ...planOf(lines), workspace_id: workspaceId };
  world.bookingVersion++;
  const jobId = world.enqueuePlans(workspaceId);
  await until(() => world.ended.has(jobId));
  expect(world.reportsOf(jobId)).toEqual([]);
  const own = world.put.filter((request) => request.workspaceId === workspaceId);
  expect(own.map(({ isLast }) => isLast)).toEqual([...own.slice(1).map(() => false), true]);
  return new Map(own.flatMap(({ plans }) => plans.map((plan) => [plan.lineItemId, plan])));
}

const sumOf = (hours: readonly number[]) => hours.reduce((sum, one) => sum + one, 0);

test('every line item with a goal gets the expected opportunities of the hours of its window, as far as 35 days', async () => {
  world.plays = evenPlays(35, 480);
  const [open, later, far] = [guaranteed(700, [-2, 7]), guaranteed(700, [2, 5]), guaranteed(700, [-2, 100])];
  const [austrians, none] = [
    guaranteed(700, [-2, 7], { targeting: { ...open.targeting, countries: { include: ['AT'], exclude: [] } } }),
    guaranteed(1, [-2, 7], { goal: { unit: 'unlimited' } }),
  ];
  const plans = await plansOf([open, later, far, austrians, none, guaranteed(700, [-9, -2])]);
  expect(plans.size).toBe(4);
  const of = (line: PlanLineItem) => plans.get(line.line_item_id)!;
  const nowMs = Math.floor(Date.now() / hourMs) * hourMs;
  expect(Number(of(open).startsAtMs)).toBe(nowMs);
  expect(of(open)).toMatchObject({ learning: false });
  expect(Math.abs(of(open).hours.length - 7 * 24)).toBeLessThanOrEqual(1);
  // 480 a day, one break each.
  expect(sumOf(of(open).hours.slice(0, 168)) / (7 * 480)).toBeGreaterThan(0.85);
  expect(sumOf(of(open).hours.slice(0, 168)) / (7 * 480)).toBeLessThan(1.15);
  expect(Number(of(later).startsAtMs)).toBe(nowMs + 2 * dayMs);
  expect(Math.abs(of(later).hours.length - 3 * 24)).toBeLessThanOrEqual(1);
  expect(of(far).hours).toHaveLength(35 * 24);
  // Nobody who was sampled heard it from there.
  expect(of(austrians)).toMatchObject({ hours: [], learning: true });
});

test('with less than 14 days of facts a line item is learning, and the plan leaves the hours to the network', async () => {
  world.plays = evenPlays(9, 480);
  const line = guaranteed(700, [-2, 7]);
  expect((await plansOf([line])).get(line.line_item_id)).toMatchObject({ hours: [], learning: true });
  world.plays = [];
  expect((await plansOf([line])).get(line.line_item_id)).toMatchObject({ hours: [], learning: true });
});

test('a scheduled episode raises the hours from its release on, of the line items that its podcast fits alone', async () => {
  // An episode a week for ten weeks, whose plays fall by a half each day.
  world.plays = weeklyPlays(70);
  const line = guaranteed(700, [-2, 7]);
  const elsewhere = guaranteed(700, [-2, 7], {
    targeting: { ...line.targeting, podcasts: { include: [newId('pod')], exclude: [] } },
  });
  const releaseMs = Math.floor(Date.now() / hourMs) * hourMs + 30 * hourMs;
  const before = await plansOf([line, elsewhere]);
  world.releases = [{ episodeId: newId('ep'), podcastId, publishAtMs: BigInt(releaseMs) }];
  const after = await plansOf([line, elsewhere]);
  const hoursOf = (plans: typeof before) => plans.get(line.line_item_id)!.hours;
  expect(hoursOf(after).slice(0, 29)).toEqual(hoursOf(before).slice(0, 29));
  expect(sumOf(hoursOf(after).slice(30, 54))).toBeGreaterThan(1.5 * sumOf(hoursOf(before).slice(30, 54)));
  expect(after.get(elsewhere.line_item_id)).toMatchObject({ hours: [], learning: true });
});

test('a workspace in which nothing has a goal any more loses its plans; a job whose plans cannot be made ends after the third try', async () => {
  expect(await plansOf([])).toEqual(new Map());
  expect(world.put).toMatchObject([{ plans: [], isLast: true }]);
  const jobId = world.enqueuePlans(newId('ws'), 3);
  await until(() => world.ended.has(jobId));
  expect(world.put).toHaveLength(1);
});

/** Plays of one podcast that releases an episode each week: 400 on its first day, then half as many each day. */
function weeklyPlays(days: number) {
  const untilMs = Math.floor(Date.now() / hourMs) * hourMs;
  const releases = Array.from({ length: days / 7 }, (_, week) => untilMs - (days - 7 * week) * dayMs + 3 * dayMs);
  return releases
    .flatMap((publishedMs, week) =>
      Array.from({ length: 10 }, (_, day) => day).flatMap((day) => {
        const count = Math.round(400 / 2 ** day);
        const episode = { episodeId: `ep_${week}`, publishedAtMs: BigInt(publishedMs) };
        return playsOfDay(publishedMs + day * dayMs, Math.max(1, count), episode).filter(
          ({ atMs }) => Number(atMs) < untilMs,
        );
      }),
    )
    .toSorted((a, b) => Number(a.atMs - b.atMs));
}

test('line items that will end short by a forecast are told with what they miss and the main verdict; those that end well, far ahead or without enough facts are not', async () => {
  world.plays = evenPlays(35, 480);
  // 480 breaks a day for seven days, of which the other line items have some hundreds.
  const [short, well, far] = [guaranteed(20_000, [-2, 7]), guaranteed(300, [-2, 7]), guaranteed(900, [-2, 100])];
  world.committed = [{ lineItemId: short.line_item_id, units: 1_000, deliveryRate: 1 }];
  await plansOf([short, well, far]);
  const [told, days, ...others] = world.found.filter(({ workspaceId }) => workspaceId === world.plan.workspace_id);
  expect(others).toEqual([]);
  expect(days).toMatchObject({ kind: 'daily_min_unreachable', findings: [] });
  expect(told).toMatchObject({ kind: 'at_risk', findings: [{ lineItemId: short.line_item_id }] });
  const { units, detailJson } = told!.findings[0]!;
  const { forecast } = JSON.parse(detailJson) as { forecast: { p10: number; p50: number; main_verdict: string } };
  expect(units).toBe(20_000 - forecast.p50);
  expect(forecast.p50).toBeGreaterThan(1_000 + 2_000);
  expect(forecast.p50).toBeLessThan(1_000 + 4_500);
  expect(forecast.p10).toBeLessThanOrEqual(forecast.p50);
  expect(forecast.main_verdict).not.toBe('');
  world.committed = [];
  world.plays = evenPlays(5, 480);
  await plansOf([short]);
  expect(world.found.at(-1)).toMatchObject({ workspaceId: world.plan.workspace_id, findings: [] });
});

test('a line item whose days cannot have their least is told with the day that misses most; one with enough traffic, and one as soon as possible, are not', async () => {
  world.committed = [];
  world.plays = evenPlays(35, 480);
  const pacing = { velocity: 1, finish_early_pct: 0, counting_basis: 'reserved', time_zone: 'UTC' } as const;
  const daily = (least: number, mode: 'even' | 'front_loaded' | 'asap') => ({
    pacing: { ...pacing, mode, daily_min: least },
  });
  // 480 breaks a day, of which the others have some.
  const short = guaranteed(8_000, [-2, 8], daily(700, 'even'));
  const well = guaranteed(600, [-2, 8], { ...daily(40, 'front_loaded'), priority: 1 });
  const soon = guaranteed(300, [-2, 8], daily(250, 'asap'));
  await plansOf([short, well, soon]);
  const told = world.found.filter(({ workspaceId }) => workspaceId === world.plan.workspace_id);
  expect(told.map(({ kind }) => kind)).toEqual(['at_risk', 'daily_min_unreachable']);
  const [found, ...others] = told[1]!.findings;
  expect([found?.lineItemId, others]).toEqual([short.line_item_id, []]);
  const { day } = JSON.parse(found!.detailJson) as { day: { day: string; p50: number; p90: number } };
  expect(day).toMatchObject({ daily_min: 700, days: 7 });
  expect(day.p50).toBeLessThanOrEqual(day.p90);
  expect(found!.units).toBeGreaterThan(200);
  const inDays = (Date.parse(day.day) - Date.now()) / dayMs;
  expect([inDays > 0, inDays < 8]).toEqual([true, true]);
});
