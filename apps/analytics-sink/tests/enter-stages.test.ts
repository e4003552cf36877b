import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Pool } from '@longwave/postgres';
import { lists, seen, withServing } from '@longwave/test-kit/delivery-facts';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { enterStages } from '../src/ads/enter-stages.ts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { readUnits } from '../src/ledger/units.ts';
import { decisionOf, storedCohorts } from './_cohorts.ts';
import { deliveryOf, releaseBefore } from './_release-before.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;
let databaseUrl: string;
useTables(({ pool: own, admin: maker, database }) => {
  [pool, admin] = [own, maker];
  databaseUrl = database.url;
});
let memory = createCountingMemory();
beforeEach(() => {
  memory = createCountingMemory();
});

const setAside: string[] = [];
const enter = (maxRows = 1000) => enterStages(pool, lists.listsVersion, maxRows, (id) => setAside.push(id));
const confirmed = async () => {
  const { units } = await readUnits(pool, {
    ...{ workspaceId: 'ws_1', lineItemId: 'li_1', countingBasis: 'ad_delivered', decidedBounds: [] },
    ...{ until: new Date('2026-01-01'), knownAt: new Date(Date.now() + 60_000) },
  });
  return units[0];
};
/** Contradictions between the ledger, its hours and the cohorts; deliveries of these tests have no bytes. */
const findings = async () => {
  const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
  const found = (await reconcileAds(pool, 'ws_1', range)).findings;
  return found.filter(({ check }) => !/^delivered_|_without_decision$/.test(check));
};
const queued = async () =>
  (await pool.query<{ count: number }>('select count(*)::int as count from unentered_serving')).rows[0]!.count;

describe('what a release without stages counts of a serving', () => {
  test('is confirmed once, in its cohort and charged, however it was delivered, moved, held and taken back', async () => {
    await using old = releaseBefore(databaseUrl);
    await old.decide(...['srv_1', 'srv_2', 'srv_3', 'srv_4'].map((id) => decisionOf(id)));
    await old.deliver([deliveryOf('srv_1', 'anna'), deliveryOf('srv_1', 'bert'), deliveryOf('srv_2', 'carl')]);
    await old.deliver([deliveryOf('srv_3', 'dora', { counted: false, billable: false })]);
    await old.report('srv_1', 'start');
    expect([await confirmed(), await storedCohorts(pool)]).toEqual([0, []]);
    await enter();
    expect([await confirmed(), await storedCohorts(pool)]).toEqual([2, ['li_1 download 02 09:45: 4 3 2 1 1 0']]);
    expect(await findings()).toEqual([]);

    await old.deliver([deliveryOf('srv_1', 'anna', { started_at: '2025-11-02T12:00:00.000Z' })]);
    await old.deliver([], [deliveryOf('srv_2', 'carl')]);
    await old.deliver([deliveryOf('srv_3', 'dora', { billable: false })]);
    expect(await findings()).not.toEqual([]);
    await enter();
    expect([await confirmed(), await storedCohorts(pool)]).toEqual([2, ['li_1 download 02 09:45: 4 2 2 0 1 0']]);
    expect(await findings()).toEqual([]);
    expect(await queued()).toBe(0);
  });

  test('is no longer held once somebody rejects its day there', async () => {
    await using old = releaseBefore(databaseUrl);
    await recordDecisions(pool, [decisionOf('srv_1')], lists.listsVersion);
    const spree = Array.from({ length: 51 }, (_, n) =>
      withServing(`srv_${n}`, { fact_id: `fct_${n}`, episode_id: `ep_${n}` }),
    );
    await recordFacts(pool, [seen(), ...spree], lists, memory);
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 1 1 0 1 0 0']);
    await old.reject('listener', '2025-11-02');
    await enter();
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 1 1 0 0 0 0']);
    expect(await findings()).toEqual([]);
  });

  test('is entered in bounded batches that go on where the last one ended; this release queues nothing', async () => {
    await using old = releaseBefore(databaseUrl);
    await recordDecisions(pool, [decisionOf('srv_1')], lists.listsVersion);
    await recordFacts(pool, [seen(), withServing('srv_1', { fact_id: 'fct_1' })], lists, memory);
    expect(await queued()).toBe(0);
    for (const id of ['srv_2', 'srv_3', 'srv_4']) await old.deliver([deliveryOf(id, id)]);
    const whole = await queued();
    expect(await enter(2)).toBe(2);
    expect(await queued()).toBe(whole - 2);
    while ((await enter(2)) > 0);
    expect([await confirmed(), await findings()]).toEqual([4, []]);
  });
});

test('a serving that cannot be entered goes behind the others, which are entered in the same sweep, and is entered once it can be', async () => {
  await using old = releaseBefore(databaseUrl);
  const ids = Array.from({ length: 9 }, (_, n) => `srv_${n}`);
  for (const id of ids) await old.decide(decisionOf(id));
  for (const id of ids) await old.deliver([deliveryOf(id, id)]);
  await admin.query(
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
     create trigger refused before insert on ad_entry for each row when (new.serving_id in ('srv_2', 'srv_7')) execute function refuse()`,
  );
  setAside.length = 0;
  try {
    await enter();
  } finally {
    await admin.query('drop trigger refused on ad_entry; drop function refuse()');
  }
  expect([await confirmed(), new Set(setAside)]).toEqual([7, new Set(['srv_2', 'srv_7'])]);
  const waiting = await queued();
  expect(setAside).toHaveLength(waiting);
  expect(waiting).toBeGreaterThan(0);
  expect(await enter()).toBe(waiting);
  expect([await confirmed(), await queued(), await findings()]).toEqual([9, 0, []]);
});

test('while both releases count the same servings at once, each is confirmed once and in its cohort, and the ledger sums up', async () => {
  await using old = releaseBefore(databaseUrl);
  const servings = Array.from({ length: 12 }, (_, n) => `srv_${n}`);
  await recordFacts(pool, [seen()], lists, memory);
  let running = 2;
  const rounds = Array.from({ length: 6 }, (_, round) => round);
  const hourOf = (n: number) => String(8 + (n % 9)).padStart(2, '0');
  const oldDelivery = (n: number, round: number) =>
    deliveryOf(servings[n]!, `old ${n}`, {
      started_at: `2025-11-02T${hourOf(n + round)}:00:00.000Z`,
      counted: (n + round) % 4 > 0,
    });
  await Promise.all([
    (async () => {
      for (const round of rounds) {
        await old.decide(...servings.filter((_, n) => n % 6 === round).map((id) => decisionOf(id)));
        await old.deliver(servings.map((_, n) => oldDelivery(n, round)));
        await old.report(servings[round]!, 'start');
        await old.deliver([], [oldDelivery(round, round)]);
      }
      running--;
    })(),
    (async () => {
      for (const round of rounds) {
        const some = servings.filter((_, n) => n % 3 !== round % 3);
        await recordDecisions(
          pool,
          some.map((id) => decisionOf(id)),
          lists.listsVersion,
        );
        const facts = some.map((id, n) =>
          withServing(id, {
            ...{ fact_id: `fct_${round}_${n}`, listener_key: `new ${n}`, episode_id: `ep_${n}` },
            started_at: `2025-11-02T${hourOf(n + 3)}:30:00.000Z`,
          }),
        );
        await recordFacts(pool, facts, lists, memory);
      }
      running--;
    })(),
    (async () => {
      while (running > 0) await enter(5);
    })(),
  ]);
  while ((await enter(50)) > 0);
  expect(await findings()).toEqual([]);
  const { rows } = await pool.query(
    `select (select count(distinct serving_id)::int from ad_delivered where counted) as delivered,
       (select sum(decided)::int from serving_cohort) as decided`,
  );
  expect(rows).toEqual([{ delivered: await confirmed(), decided: servings.length }]);
  expect(await confirmed()).toBeGreaterThan(5);
});
