import { expect, test } from '@jest/globals';
import { completeUntilMs } from '@longwave/audience-store';
import type { FactsPublished } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { fact, lists, seen } from '@longwave/test-kit/delivery-facts';
import { saveProducerMarks } from '../src/counting/producer-mark-table.ts';
import { createCountingMemory, recordFacts } from '../src/counting/record-facts.ts';
import { useTables } from './_tables.ts';

let pool: Pool;

useTables((tables) => ({ pool } = tables));

const record = (facts: Parameters<typeof recordFacts>[1]) => recordFacts(pool, facts, lists, createCountingMemory());
const completeUntil = async () => new Date(await completeUntilMs(pool)).toISOString().slice(5, 19);
/** Marks of a producer in both parts of a topic, at times of November 2025. */
const mark = (producer: string, first: string, second = first, ended = false) =>
  saveProducerMarks(
    pool,
    [first, second].map((until, part): FactsPublished => ({
      ...{ kind: 'facts_published', producer, until: `2025-11-${until}Z`, ended, part, parts: 2 },
    })),
  );

test('counts are complete up to the marks of producers, without any new fact', async () => {
  await record([seen(), fact({ fact_id: 'fct_1', at: '2025-11-02T10:00:00.000Z' })]);
  expect(await completeUntil()).toBe('11-02T09:59:30');
  await mark('one', '02T10:15:00');
  expect(await completeUntil()).toBe('11-02T10:14:30');
  await mark('one', '02T10:16:00');
  expect(await completeUntil()).toBe('11-02T10:15:30');
});

test('the earliest mark among parts and producers decides', async () => {
  await record([seen(), fact({ fact_id: 'fct_1', at: '2025-11-02T12:00:00.000Z' })]);
  await mark('one', '02T12:00:00', '02T10:00:30');
  expect(await completeUntil()).toBe('11-02T10:00:00');
  await mark('one', '02T12:00:30');
  expect(await completeUntil()).toBe('11-02T12:00:00');
  await mark('two', '02T11:30:30');
  expect(await completeUntil()).toBe('11-02T11:30:00');
});

test('a crashed producer is waited for, for 24 h; one that ended in good order is not', async () => {
  await mark('crashed', '02T10:00:30');
  await mark('running', '03T09:00:30');
  expect(await completeUntil()).toBe('11-02T10:00:00');
  await mark('running', '03T10:00:31');
  expect(await completeUntil()).toBe('11-03T10:00:01');
  await mark('crashed', '03T10:00:20');
  expect(await completeUntil()).toBe('11-03T09:59:50');
  await mark('crashed', '03T10:00:25', '03T10:00:25', true);
  expect(await completeUntil()).toBe('11-03T10:00:01');
});

test('when all producers have ended, counts are complete up to the last end', async () => {
  await mark('one', '02T10:00:30', '02T10:00:30', true);
  await mark('two', '02T11:00:30', '02T11:00:30', true);
  expect(await completeUntil()).toBe('11-02T11:00:00');
});

test('a mark that comes again after a crash changes nothing', async () => {
  await mark('one', '02T10:00:30');
  await mark('one', '02T09:00:30', '02T09:30:00', true);
  expect(await completeUntil()).toBe('11-02T10:00:00');
});

test('a mark of a clock that is ahead counts as one of now', async () => {
  await saveProducerMarks(pool, [
    { kind: 'facts_published', producer: 'one', until: '2199-01-01T00:00:00Z', ended: false, part: 0, parts: 1 },
  ]);
  expect(await completeUntilMs(pool)).toBeLessThan(Date.now());
});

test('a clock that is ahead does not end the waiting for other producers, and its later marks count once it is right', async () => {
  const said = (producer: string, until: Date): FactsPublished => ({
    ...{ kind: 'facts_published', producer, until: until.toISOString(), ended: false, part: 0, parts: 1 },
  });
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const behind = ago(10);
  await saveProducerMarks(pool, [said('ahead', new Date('2199-01-01T00:00:00Z')), said('right', behind)]);
  expect(await completeUntilMs(pool)).toBe(behind.getTime() - 30_000);

  // A mark as an earlier release stored it.
  await pool.query(`update producer_mark set until = '2199-01-01' where producer = 'ahead'`);
  const corrected = ago(20);
  await saveProducerMarks(pool, [said('ahead', corrected)]);
  expect(await completeUntilMs(pool)).toBe(corrected.getTime() - 30_000);
});

test('a fact that waits for its user agent holds it back, whatever producers say', async () => {
  await record([fact({ fact_id: 'fct_1', started_at: '2025-11-02T09:00:00.000Z', user_agent_digest: 'f'.repeat(64) })]);
  await mark('one', '02T10:00:30');
  expect(await completeUntil()).toBe('11-02T09:00:00');
});

test('marks close no hour: a fact that comes behind them restates nothing', async () => {
  await record([seen(), fact({ fact_id: 'fct_1', started_at: '2025-11-02T10:00:00.000Z' })]);
  await mark('one', '05T10:00:00');
  await record([fact({ fact_id: 'fct_2', listener_key: 'bert', started_at: '2025-11-02T10:30:00.000Z' })]);
  const { rows } = await pool.query(`select restates from download_change where restates`);
  expect(rows).toEqual([]);
});
