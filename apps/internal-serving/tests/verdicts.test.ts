import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildIndex, decide, type DecisionContext } from '@longwave/ad-decision';
import { anyTargeting } from '@longwave/events';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import { openChannel, readTls } from '@longwave/rpc';
import { PacingServiceService } from '@longwave/rpc/serving';
import { readDecisionsBetween } from '../src/decisions/decision-table.ts';
import { readFunnel } from '../src/numbers/read-funnel.ts';
import { saveVerdicts } from '../src/numbers/verdict-table.ts';
import { createVerdictTally } from '../src/numbers/verdict-tally.ts';
import { createSampleHours } from '../src/sample/sample-hours.ts';
import { decisionOf, readerOf } from './_decision.ts';
import {
  guaranteed,
  lineItem,
  planOf,
  playOf,
  preroll,
  startEngines,
  untilDecidedBy,
  type Engines,
} from './_support.ts';

const hourMs = 3_600_000;
const start = Math.floor(Date.now() / hourMs) * hourMs - 3 * hourMs;
let engines: Engines;
let pool: Pool;

beforeAll(async () => {
  engines = await startEngines();
  pool = createPool(engines.database.url, 'serving', { name: 'test', max: 4 });
});
afterAll(async () => {
  await pool.end();
  await engines[Symbol.asyncDispose]();
});

const range = { from: new Date(start), to: new Date(start + 3 * hourMs) };

/** Verdicts by line item, hour and code, as the traces of the stored decisions of a workspace have them of candidates that were looked at. */
async function recount(workspaceId: string): Promise<ReadonlyMap<string, number>> {
  const reader = readerOf(pool);
  const counts = new Map<string, number>();
  for (const row of await readDecisionsBetween(pool, range.from, range.to, undefined, 10_000)) {
    if (row.workspaceId !== workspaceId) continue;
    const { trace, atMs } = await reader.read(row);
    for (const { line_item_id, verdict } of trace.candidates as readonly Record<string, string>[]) {
      // What does not fit a play, or has no credit, is not looked at.
      if (verdict!.startsWith('targeting_') || verdict === 'no_lease') continue;
      const key = [line_item_id, Math.floor(atMs / hourMs) * hourMs, verdict].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

test('verdicts by line item and hour equal a recount of the stored decisions, also those of a retried play and of two nodes', async () => {
  const workspaceId = newId('ws');
  const lines = [
    guaranteed(20),
    lineItem({ type: 'guaranteed', priority: 1, goal: { unit: 'impressions', quantity: 10 } }),
    lineItem({ targeting: { ...anyTargeting, countries: { include: ['DE'], exclude: [] } } }),
    lineItem({ frequency_caps: [{ max: 1, per: 'listener_bucket', window_seconds: 86_400 }] }),
    lineItem(),
  ];
  const { servingPlanId } = await engines.publishPlan(workspaceId, lines);
  await using stack = new AsyncDisposableStack();
  const nodes = [await engines.startNode(), await engines.startNode()];
  for (const node of nodes) stack.use(node);
  for (const node of nodes) await untilDecidedBy(node, workspaceId, servingPlanId);
  const breaks = [preroll, { ...preroll, key: 'mid', position: 'mid', maxSlots: 2, positionMs: 60_000n }];
  const plays = Array.from({ length: 80 }, (_, nth) =>
    playOf(workspaceId, {
      ...{ breaks: nth % 3 ? breaks : [preroll], country: nth % 2 ? 'DE' : 'FR', atMs: BigInt(start + nth * 120_000) },
      listenerBucket: Buffer.alloc(16, nth % 20),
    }),
  );
  await Promise.all(plays.map((play, nth) => nodes[nth % 2]!.client.decide(play, {})));
  await nodes[0]!.client.decide(plays[1]!, {});
  const management = openChannel(
    `127.0.0.1:${nodes[1]!.port}`,
    'internal-serving',
    readTls(engines.identities.management),
  );
  stack.defer(() => management.close());
  // The node that ends writes what it has counted.
  await nodes[0]![Symbol.asyncDispose]();
  const pacing = management.client(PacingServiceService);
  const ask = { workspaceId, fromMs: BigInt(start), toMs: BigInt(start + 3 * hourMs) };
  const answer = await pacing.readFunnel({ ...ask, lineItemId: lines[4]!.line_item_id }, {});
  // The plays of the other node are not written yet, or all of them are.
  expect(answer.hours.length).toBeGreaterThan(1);
  await expect(pacing.readFunnel({ ...ask, lineItemId: 'li_1', toMs: BigInt(start + 1) }, {})).rejects.toMatchObject({
    code: 'validation_failed',
  });
  await nodes[1]![Symbol.asyncDispose]();

  const expected = await recount(workspaceId);
  const found = new Map<string, number>();
  for (const { line_item_id: lineItemId } of lines)
    for (const hour of (await readFunnel(pool, workspaceId, lineItemId, range)).hours)
      for (const { code, considered } of hour.verdicts)
        if (considered > 0 && code !== 'no_lease') found.set([lineItemId, hour.hourMs, code].join(' '), considered);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  expect([...expected.keys()].filter((key) => key.endsWith(' won')).length).toBeGreaterThan(4);
  // What the workspace offered stands beside it once the hours are counted, and another workspace has neither.
  const sampling = createSampleHours(pool, readerOf(pool), () => new Date(start + 3.5 * hourMs));
  // The nodes have found no hour to count yet.
  await pool.query(`update sample_progress set next_hour = $1, leased_until = '-infinity'`, [range.from]);
  while (await sampling.sampleNext());
  const { hours, countedUntil } = await readFunnel(pool, workspaceId, lines[0]!.line_item_id, range);
  const total = (of: 'requests' | 'breaks' | 'opportunities') => hours.reduce((sum, hour) => sum + hour[of], 0);
  const asked = plays.flatMap((play) => play.breaks);
  expect([total('requests'), total('breaks'), total('opportunities'), countedUntil]).toEqual([
    ...[plays.length, asked.length, asked.reduce((sum, { maxSlots }) => sum + maxSlots, 0)],
    range.to,
  ]);
  expect((await readFunnel(pool, newId('ws'), lines[0]!.line_item_id, range)).hours).toEqual([]);
});

test('a process that is killed loses what it has not written, one whose write failed or was answered late loses nothing', async () => {
  const workspaceId = newId('ws');
  const [first, second] = [lineItem(), lineItem()];
  const index = buildIndex(planOf(workspaceId, [first, second]));
  const { context } = decisionOf().inputs;
  const decidedBy = (tally: ReturnType<typeof createVerdictTally>, number: number, atMs = start) => {
    for (let nth = 0; nth < number; nth++) {
      const decisionId = newId('dec');
      const play: DecisionContext = { ...context, decisionId, atMs };
      tally.add({ workspaceId, decisionId, atMs, index, decision: decide(index, play) });
    }
  };
  const won = async () => {
    const hours = await Promise.all(
      [first, second].map(({ line_item_id: id }) => readFunnel(pool, workspaceId, id, range)),
    );
    const verdicts = hours.flatMap((one) => one.hours.flatMap((hour) => hour.verdicts));
    return verdicts.reduce((sum, { code, considered }) => (code === 'won' ? sum + considered : sum), 0);
  };
  let away: 'before' | 'after' | undefined;
  const save: Parameters<typeof createVerdictTally>[0] = async (sums) => {
    if (away !== 'before') await saveVerdicts(pool, sums);
    if (away) throw new Error('away');
  };
  const [living, killed] = [createVerdictTally(save), createVerdictTally(save)];
  decidedBy(living, 10);
  decidedBy(killed, 7);
  await killed.flush();
  for (away of ['before', 'after'] as const) {
    decidedBy(living, 5);
    await expect(living.flush()).rejects.toThrow('away');
  }
  away = undefined;
  decidedBy(killed, 3);
  decidedBy(living, 1, start + hourMs);
  await living.flush();
  expect(await won()).toBe(28);
  // An hour that was quiet for long is forgotten, and a play of it counts nevertheless.
  for (let nth = 0; nth < 365; nth++) await living.flush();
  decidedBy(living, 2);
  await living.flush();
  expect(await won()).toBe(30);
});
