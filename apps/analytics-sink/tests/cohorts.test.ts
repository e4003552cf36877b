import { beforeEach, describe, expect, test } from '@jest/globals';
import { keyDay } from '@longwave/audience';
import type { DecisionMade, DeliveryFact } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { batches, lists, seen, shuffledTwice, withServing } from '@longwave/test-kit/delivery-facts';
import { recordDecisions } from '../src/ads/ad-ledger.ts';
import { listCohorts } from '../src/ads/cohort-table.ts';
import { reconcileAds } from '../src/ads/reconcile-ads.ts';
import { createCountingMemory, recordFacts, type CountingMemory } from '../src/counting/record-facts.ts';
import { collectListeners, eraseListeners } from '../src/erasure/erase-listeners.ts';
import { decideAnomaly, listAnomalies } from '../src/velocity/decide-anomaly.ts';
import { decisionOf, randomServings, recountedCohorts, report, storedCohorts } from './_cohorts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;
let admin: Pool;
useTables((tables) => ({ pool, admin } = tables));
let memory: CountingMemory;
beforeEach(() => {
  memory = createCountingMemory();
});

const record = (...facts: readonly DeliveryFact[]) => recordFacts(pool, facts, lists, memory);
const decide = (...decisions: readonly DecisionMade[]) => recordDecisions(pool, decisions, lists.listsVersion);
const range = { from: new Date('2025-10-30T00:00Z'), to: new Date('2025-11-06T00:00Z') };
const findings = async () =>
  (await reconcileAds(pool, 'ws_1', range)).findings.filter(({ check }) => check !== 'billed_without_decision');

describe('a serving counts once in its cohort', () => {
  test('whatever became of it in how many downloads, and in the quarter hour of its decision', async () => {
    await decide(decisionOf('srv_1'), decisionOf('srv_2', { surface_class: 'stream' }));
    await record(
      seen(),
      withServing('srv_1', { fact_id: 'fct_1' }),
      withServing('srv_1', { fact_id: 'fct_2', listener_key: 'proxy', started_at: '2025-11-04T12:00:00.000Z' }),
    );
    expect(await storedCohorts(pool)).toEqual([
      'li_1 download 02 09:45: 1 1 1 0 0 0',
      'li_1 stream 02 09:45: 1 0 0 0 0 0',
    ]);
    expect(await findings()).toEqual([]);
  });

  test('also when its decision comes after its delivery and its reports; a decision of an earlier release is one for a file', async () => {
    await record(
      seen(),
      withServing('srv_1', { fact_id: 'fct_1' }),
      report('srv_1', 'start'),
      report('srv_1', 'complete'),
    );
    expect(await storedCohorts(pool)).toEqual([]);
    const { surface_class: _, ...earlier } = decisionOf('srv_1');
    await decide(earlier);
    await decide(earlier);
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 1 1 1 0 1 1']);
  });

  test('as served when all its bytes were written below the threshold of a download, and never when one is missing', async () => {
    await decide(decisionOf('srv_1'), decisionOf('srv_2'));
    await record(
      seen(),
      withServing('srv_1', { fact_id: 'fct_1', written: [[0, 161_000]] }),
      withServing('srv_2', { fact_id: 'fct_2', listener_key: 'other', written: [[0, 160_999]] }),
    );
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 2 1 0 0 0 0']);
    const { rows } = await pool.query('select served, delivered, confirmed from ad_hour where delivered + served > 0');
    expect(rows).toEqual([{ served: '1', delivered: '0', confirmed: '0' }]);
    await record(withServing('srv_1', { fact_id: 'fct_3', started_at: '2025-11-02T11:00:00.000Z' }));
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 2 1 1 0 0 0']);
    expect((await pool.query('select from ad_written')).rowCount).toBe(0);
    expect(await findings()).toEqual([]);
  });

  test('as held until a person decides, then as delivered or not at all', async () => {
    const spree = Array.from({ length: 51 }, (_, n) =>
      withServing(`srv_${n}`, { fact_id: `fct_${n}`, episode_id: `ep_${n}` }),
    );
    await decide(...spree.map((_, n) => decisionOf(`srv_${n}`)));
    await record(seen(), ...spree);
    const judge = (decision: 'release' | 'reject') =>
      decideAnomaly(
        pool,
        { kind: 'listener', key: 'listener', day: '2025-11-02', decision, decidedBy: 'Ada', reason: 'Looked at.' },
        lists.listsVersion,
      );
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 51 51 0 51 0 0']);
    await judge('reject');
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 51 51 0 0 0 0']);
    await judge('release');
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 51 51 51 0 0 0']);
    await judge('reject');
    expect(await storedCohorts(pool)).toEqual(['li_1 download 02 09:45: 51 51 0 0 0 0']);
    expect(await findings()).toEqual([]);
  });
});

describe('cohorts equal a recount from decisions and facts', () => {
  test.each([1, 2, 3, 4])(
    'after any order of arrivals, with holds, releases and rejections (seed %i)',
    async (seed) => {
      const limits = { podcastEpisodes: 1, episodes: 2, addressDownloads: 1_000 };
      const { facts, decisions } = randomServings(seed);
      const released = new Set<string>();
      const rejected = new Set<string>();
      const arrivals = batches(shuffledTwice([...facts, ...decisions], seed), 25);
      for (const batch of arrivals) {
        await decide(...batch.filter((one) => 'slots' in one));
        await recordFacts(
          pool,
          batch.filter((one) => 'kind' in one),
          lists,
          memory,
          limits,
        );
        const [anomaly] = await listAnomalies(pool, true);
        if (anomaly === undefined) continue;
        const decision = anomaly.key.startsWith('b') ? 'reject' : 'release';
        await decideAnomaly(pool, { ...anomaly, decision, decidedBy: 'Ada', reason: 'Looked at.' }, lists.listsVersion);
        (decision === 'release' ? released : rejected).add(keyDay(anomaly.kind, anomaly.key, anomaly.day));
      }
      expect(await findings()).toEqual([]);
      const cohorts = await storedCohorts(pool);
      expect(cohorts).toEqual(recountedCohorts(decisions, facts, { limits, released, rejected }));
      expect(cohorts.length).toBeGreaterThan(3);
      await collectListeners(pool, { erasureId: 'lde_1', workspaceId: 'ws_1' }, ['a10', 'a11']);
      await eraseListeners(pool, { erasureId: 'lde_1', workspaceId: 'ws_1' });
      expect(await storedCohorts(pool)).toEqual(cohorts);
      expect(await findings()).toEqual([]);
    },
  );

  test('with four consumers of facts and one of decisions at once', async () => {
    const { facts, decisions } = randomServings(5);
    const work = batches(shuffledTwice(facts, 5), 15);
    await record(seen());
    const consume = async () => {
      const own = createCountingMemory();
      for (let batch = work.pop(); batch !== undefined; batch = work.pop()) await recordFacts(pool, batch, lists, own);
    };
    const decideAll = async () => {
      for (const decision of [...decisions, ...decisions]) await decide(decision);
    };
    await Promise.all([consume(), consume(), consume(), consume(), decideAll()]);
    const none = new Set<string>();
    const limits = { podcastEpisodes: 50, episodes: 500, addressDownloads: 2_000 };
    expect(await storedCohorts(pool)).toEqual(
      recountedCohorts(decisions, facts, { limits, released: none, rejected: none }),
    );
    expect(await findings()).toEqual([]);
  });
});

test('reconciling finds a cohort and stages that differ from what is stored of servings', async () => {
  await decide(decisionOf('srv_1'));
  await record(seen(), withServing('srv_1', { fact_id: 'fct_1' }));
  await admin.query(`update serving_cohort set held = 3; update ad_delivered set counted = false`);
  expect((await findings()).map(({ check }) => check)).toEqual([
    'billed_without_delivery',
    'cohort_differs_from_servings',
    'confirmed_not_once',
    'ledger_differs_from_deliveries',
  ]);
});

describe('cohorts are read as they changed', () => {
  const namesOf = ({ cohorts }: Awaited<ReturnType<typeof listCohorts>>) =>
    cohorts.map((one) => `${one.line_item_id} ${one.decided} ${one.delivered}`);
  const recent = new Date(Math.floor(Date.now() / 1000) * 1000 - 60_000).toISOString();

  test('all of the horizon at first, then those that changed, of the named line items alone', async () => {
    await decide(
      decisionOf('srv_1', { decided_at: recent }),
      decisionOf('srv_2', { decided_at: recent }, 'li_2'),
      decisionOf('srv_3', { decided_at: '2025-11-02T10:00:00.000Z' }),
    );
    const first = await listCohorts(pool, ['li_1', 'li_3'], undefined, 7);
    expect(namesOf(first)).toEqual(['li_1 1 0']);
    const both = await listCohorts(pool, ['li_1', 'li_2'], undefined, 7);
    expect(namesOf(both)).toEqual(['li_1 1 0', 'li_2 1 0']);
    // What was decided in the last second is not settled yet, and would come again.
    await admin.query(`update serving_cohort set changed_at = changed_at - interval '1 hour'`);
    const { until: since } = await listCohorts(pool, [], undefined, 7);
    expect(namesOf(await listCohorts(pool, ['li_1', 'li_2'], since, 7))).toEqual([]);
    await record(seen(), withServing('srv_3', { fact_id: 'fct_1' }));
    expect(namesOf(await listCohorts(pool, ['li_1', 'li_2'], since, 7))).toEqual(['li_1 1 1']);
  });

  test('also what a transaction changed that was still running at the answer before', async () => {
    await using client = await pool.connect().then((it) => ({ it, [Symbol.asyncDispose]: async () => it.release() }));
    await client.it.query('begin');
    await client.it.query('select now()');
    await decide(decisionOf('srv_1', { decided_at: recent }));
    await client.it.query(
      `insert into serving_cohort (line_item_id, surface_class, quarter, workspace_id, decided, served, delivered, held, client_started,
         client_completed) values ('li_2', 'stream', now(), 'ws_1', 1, 0, 0, 0, 0, 0)`,
    );
    const during = await listCohorts(pool, ['li_1', 'li_2'], undefined, 7);
    expect(namesOf(during)).toEqual(['li_1 1 0']);
    await client.it.query('commit');
    expect(namesOf(await listCohorts(pool, ['li_1', 'li_2'], during.until, 7))).toContain('li_2 1 0');
  });

  test('in pages, each change in one of them', async () => {
    for (const n of [1, 2, 3]) await decide(decisionOf(`srv_${n}`, { decided_at: recent }, `li_${n}`));
    await admin.query(
      `update serving_cohort set changed_at = now() - interval '1 hour' + (right(line_item_id, 1) || ' s')::interval`,
    );
    const ids = ['li_1', 'li_2', 'li_3'];
    const read: string[] = [];
    let page = await listCohorts(pool, ids, undefined, 7, 1);
    for (; page.isBehind; page = await listCohorts(pool, ids, page.until, 7, 1)) read.push(...namesOf(page));
    read.push(...namesOf(page));
    expect(read).toEqual(['li_1 1 0', 'li_2 1 0', 'li_3 1 0']);
  });
});
