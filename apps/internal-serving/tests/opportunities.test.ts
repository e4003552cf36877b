import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { BusMessage } from '@longwave/event-bus';
import { opportunitiesCountedSchema, type OpportunitiesCounted } from '@longwave/events';
import { startTestDatabase, type TestDatabase } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createPool, type Pool } from '@longwave/postgres';
import type { NewDecision } from '../src/decisions/stored-decision.ts';
import { findCountedUntil } from '../src/numbers/opportunity-progress-table.ts';
import { sumOpportunities } from '../src/numbers/opportunity-table.ts';
import { createPublishOpportunities } from '../src/numbers/publish-opportunities.ts';
import { createSampleHours } from '../src/sample/sample-hours.ts';
import { decisionOf, filledAnswer, insertInto, readerOf } from './_decision.ts';

const first = Date.parse('2026-11-20T10:00:00Z');
const hourMs = 3_600_000;
const [workspaceId, other] = [newId('ws'), newId('ws')];

let database: TestDatabase;
let pool: Pool;
const decisions: NewDecision[] = [];

const sampling = (read = readerOf(pool)) => createSampleHours(pool, read, () => new Date(first + 4 * hourMs));
const breakOf = (key: string, maxSlots: number, position: 'pre' | 'mid' | 'post' = 'mid') => ({
  ...{ key, position, maxSlots, maxDurationMs: 60_000, positionMs: 0, slotRules: [] },
});

/** A play of one of three episodes that offers 1 to 3 slots in `pre`, often more in `mid`, and had its first slot filled or not. */
function play(nth: number): NewDecision {
  const decisionId = newId('dec');
  const made = decisionOf({
    ...{ decisionId, workspaceId: nth % 5 === 0 ? other : workspaceId, atMs: first + nth * 37_000 },
    ...(nth % 3 > 0 && { answer: filledAnswer(decisionId) }),
  });
  const { context } = made.inputs;
  const breaks = [
    breakOf('pre', 1 + (nth % 3), nth % 6 ? 'pre' : 'post'),
    ...(nth % 4 > 0 ? [breakOf('mid', nth % 4)] : []),
  ];
  const answer = { ...made.answer, no_ad_reason: ['', 'no_lease', 'capped'][nth % 3]! };
  return {
    ...made,
    answer: nth % 3 === 0 ? made.answer : answer,
    inputs: {
      ...made.inputs,
      context: { ...context, podcastId: 'pod_1', episodeId: `ep_${nth % 3}`, country: nth % 7 ? 'DE' : '', breaks },
    },
  };
}

beforeAll(async () => {
  database = await startTestDatabase({ schema: 'serving', migrations: 'apps/internal-serving/prisma' });
  pool = createPool(database.url, 'serving', { name: 'test', max: 4 });
  // Two hours and something of a third one, which is over as well.
  decisions.push(...Array.from({ length: 200 }, (_, nth) => play(nth)));
  await insertInto(pool)(decisions);
});
afterAll(async () => {
  await pool.end();
  await database[Symbol.asyncDispose]();
});

/** What the decisions of a workspace offered, counted one by one. */
function recount(ws: string) {
  const own = decisions.filter((one) => one.workspaceId === ws);
  const breaks = own.flatMap((one) => one.inputs.context.breaks);
  return {
    requests: own.length,
    breaks: breaks.length,
    opportunities: breaks.reduce((sum, one) => sum + one.maxSlots, 0),
    positions: (['pre', 'mid', 'post'] as const).map((position) =>
      breaks.reduce((sum, one) => sum + (one.position === position ? one.maxSlots : 0), 0),
    ),
    filled: own.reduce((sum, one) => sum + one.answer.picks.length, 0),
  };
}

/** Publishes until there is nothing more; answers what was published. */
async function publishAll(failAt = Infinity): Promise<readonly OpportunitiesCounted[]> {
  const messages: BusMessage[] = [];
  const publish = createPublishOpportunities(pool, async (batch) => {
    if (messages.length >= failAt) throw new Error('away');
    messages.push(...batch);
  });
  while (await publish());
  expect(new Set(messages.map(({ key }) => key)).size).toBeLessThanOrEqual(1);
  return messages.map(({ payload }) => opportunitiesCountedSchema.parse(payload));
}

const rowsOf = (messages: readonly OpportunitiesCounted[], ws: string) =>
  messages.flatMap(({ rows }) => rows.filter((row) => row.workspace_id === ws));
const sum = <T>(rows: readonly T[], of: (row: T) => number) => rows.reduce((all, row) => all + of(row), 0);

test('a process that dies while it counts or publishes loses nothing, and what it did twice counts once', async () => {
  const reader = readerOf(pool);
  let reads = 0;
  const tryRead: typeof reader.tryRead = async (row) => {
    if (++reads > 50) throw new Error('killed');
    return reader.tryRead(row);
  };
  await expect(sampling({ ...reader, tryRead }).sampleNext()).rejects.toThrow('killed');
  // Its lease has run out.
  await pool.query(`update sample_progress set leased_until = '-infinity'`);
  while (await sampling().sampleNext());
  await expect(publishAll(1)).rejects.toThrow('away');
  await pool.query(`update opportunity_progress set leased_until = '-infinity'`);
  const messages = await publishAll();
  for (const ws of [workspaceId, other]) {
    const [rows, expected] = [rowsOf(messages, ws), recount(ws)];
    expect(sum(rows, (row) => row.requests)).toBe(expected.requests);
    expect(sum(rows, (row) => row.opportunities)).toBe(expected.opportunities);
    const byPosition = (['pre', 'mid', 'post'] as const).map((at) => sum(rows, (row) => row.positions?.[at] ?? 0));
    expect(byPosition).toEqual(expected.positions);
    expect(sum(byPosition, (slots) => slots)).toBe(expected.opportunities);
    expect(sum(rows, (row) => (row.no_ad_reason === '' ? row.opportunities : 0))).toBe(expected.filled);
  }
  expect(messages.at(-1)).toEqual({ rows: [], counted_until: new Date(first + 3 * hourMs).toISOString() });
  expect(await publishAll()).toEqual([]);
  // An hour that is counted again gives the same.
  const before = await pool.query('select * from opportunity_hour order by 1, 2, 3, 4, 5, 6, 7');
  await pool.query(`update sample_progress set next_hour = $1`, [new Date(first)]);
  while (await sampling().sampleNext());
  expect((await pool.query('select * from opportunity_hour order by 1, 2, 3, 4, 5, 6, 7')).rows).toEqual(before.rows);
});

test('opportunities are those of all breaks, empty slots have the reason of their decision, and breaks sum to plays', async () => {
  const { rows } = await pool.query<{ country: string; break_key: string; no_ad_reason: string; slots: number }>(
    `select country, break_key, no_ad_reason, sum(opportunities)::int as slots from opportunity_hour where workspace_id = $1
     group by 1, 2, 3`,
    [workspaceId],
  );
  const slots = new Map<string, number>();
  for (const { answer, inputs, workspaceId: ws } of decisions) {
    if (ws !== workspaceId) continue;
    const { breaks, country } = inputs.context;
    for (const { key, maxSlots } of breaks) {
      const filled = answer.picks.filter((pick) => pick.break_key === key).length;
      for (const [reason, number] of [
        ['', filled],
        [answer.no_ad_reason || 'break_full', maxSlots - filled],
      ] as const) {
        const name = [country || 'unknown', key, reason].join(' ');
        if (number > 0) slots.set(name, (slots.get(name) ?? 0) + number);
      }
    }
  }
  const found = rows
    .filter((row) => row.slots > 0)
    .map((row) => [[row.country, row.break_key, row.no_ad_reason].join(' '), row.slots]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(slots));
});

test('what a workspace offered by the hour is its own, up to where hours are counted', async () => {
  const range = { from: new Date(first), to: new Date(first + 24 * hourMs) };
  for (const ws of [workspaceId, other]) {
    const hours = await sumOpportunities(pool, ws, range);
    const { requests, breaks, opportunities } = recount(ws);
    expect(hours.map(({ hourMs: at }) => at)).toEqual([0, 1, 2].map((nth) => first + nth * hourMs));
    expect([sum(hours, (hour) => hour.requests), sum(hours, (hour) => hour.breaks)]).toEqual([requests, breaks]);
    expect(sum(hours, (hour) => hour.opportunities)).toBe(opportunities);
  }
  expect(await sumOpportunities(pool, newId('ws'), range)).toEqual([]);
  expect(await findCountedUntil(pool)).toEqual(new Date(first + 3 * hourMs));
});
