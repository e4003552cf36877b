import { expect, test } from '@jest/globals';
import { batches, totalBytes } from '@longwave/test-kit/delivery-facts';
import fc from 'fast-check';
import {
  arrangement,
  batch,
  byteRow,
  claimRow,
  episode,
  ownFact,
  serving,
  useAudience,
  type Audience,
} from './_audience.ts';

let api: Audience;
useAudience((audience) => void (api = audience));

type Row = Record<string, unknown>;
const unknownArrangement = 'f'.repeat(64);
const minute = (minutes: number) => new Date(Date.parse('2025-11-02T10:00:00Z') + minutes * 60_000).toISOString();

/** A response of one of a few listeners, in pieces, or a claim. */
const rows: fc.Arbitrary<Row[]> = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          listener: fc.constantFrom('a', 'b', 'c', 'd'),
          // Rows of one listener that share a request, some of them of a byte or two.
          request: fc.constantFrom('req-1', 'req-2', undefined),
          small: fc.constantFrom(undefined, undefined, 1, 2),
          arrangement: fc.constantFrom(arrangement, arrangement, arrangement, unknownArrangement),
          minutes: fc.integer({ min: 1, max: 58 }),
          from: fc.integer({ min: 0, max: 20 }),
          length: fc.integer({ min: 1, max: 20 }),
          verdict: fc.constantFrom('ok', 'ok', 'ok', 'bot_ua'),
        }),
      },
      { weight: 1, arbitrary: fc.record({ claim: fc.constantFrom('one', 'two', 'three') }) },
    ),
    { minLength: 12, maxLength: 30 },
  )
  .map((list) =>
    list.map((one, index) =>
      'claim' in one
        ? claimRow({ claim: one.claim })
        : byteRow({
            request: one.request ?? `req-${index + 3}`,
            listener: one.listener.repeat(32),
            arrangement: one.arrangement,
            serving_id: one.arrangement === arrangement ? serving : undefined,
            started_at: minute(one.minutes),
            at: minute(one.minutes + 1),
            status: 206,
            from: one.from * 100_000,
            to: Math.min(one.from * 100_000 + (one.small ?? one.length * 100_000), totalBytes),
            user_agent_verdict: one.verdict,
          }),
    ),
  );

async function everything() {
  const read = async (table: string, columns: string) =>
    (await api.query<{ row: string }>(`select json_build_array(${columns})::text as row from ${table} order by 1`)).map(
      ({ row }) => row,
    );
  const { body } = await api.call('/watermarks?producer=acme');
  return {
    sessions: await read(
      'session',
      'listener_key, episode_id, window_on, started_at, counted, credited_ms, content_ms',
    ),
    judgements: await read(`fact where fact_id like 'batch:%'`, 'fact_id, judgement'),
    ads: await read('ad_delivered', 'listener_key, started_at, serving_id, line_item_id'),
    hours: await read('download_hour where downloads <> 0', 'episode_id, hour, downloads'),
    claims: await read('platform_reported', 'kind, claim, quantity'),
    requests: await read('served_request', 'listener_key, request_id, written::text'),
    waiting: await read('waiting_row', `row->>'request'`),
    watermark: body,
  };
}

/** Rows in batches of a size, with sequences in that order. */
const batchesOf = (list: readonly Row[], size: number) =>
  batches(list, size).map((rows, index) =>
    batch({
      batch_id: `batch-${index + 1}`,
      sequence: index + 1,
      window: { from: '2025-11-02T10:00:00Z', to: '2025-11-02T11:00:00Z' },
      rows,
    }),
  );

test('however rows are shuffled, split, repeated, compressed and interleaved with aggregation, the numbers are the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.integer({ min: 1, max: 30 }),
      fc.infiniteStream(fc.nat()),
      async (list, size, choices) => {
        const next = (below: number) => choices.next().value % below;
        await api.clear();
        await api.report(ownFact());
        for (const one of batchesOf(list, list.length)) expect((await api.send(one)).status).toBe(202);
        await api.aggregate();
        const { watermark: _once, ...expected } = await everything();

        await api.clear();
        const rowsInAnyOrder = list.map((row) => ({ row, key: next(1_000_000) })).sort((a, b) => a.key - b.key);
        const sent = batchesOf(
          rowsInAnyOrder.map(({ row }) => row),
          size,
        );
        const twice = [...sent, ...sent].map((one) => ({ one, key: next(1_000_000) })).sort((a, b) => a.key - b.key);
        const reportAt = next(twice.length);
        for (const [index, { one }] of twice.entries()) {
          if (index === reportAt) await api.report(ownFact());
          expect([200, 202]).toContain((await api.send(one, { gzip: next(2) === 0 })).status);
          if (next(3) === 0) await api.aggregate();
        }
        await api.aggregate();
        const { watermark, ...found } = await everything();
        expect(found).toEqual(expected);
        expect(watermark).toMatchObject({ contiguous_sequence: sent.length, highest_sequence: sent.length, gaps: [] });
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);

test('the watermark of any set of sequences is what counting them one by one says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 15 }),
      async (sequences) => {
        await api.clear();
        for (const sequence of sequences) {
          const to = minute(sequence * 2);
          const window = { from: '2025-11-02T10:00:00Z', to };
          await api.send(batch({ batch_id: `batch-${sequence}`, sequence, window, rows: [byteRow({ episode })] }));
        }
        const have = new Set(sequences);
        const highest = Math.max(...sequences);
        let contiguous = 0;
        while (have.has(contiguous + 1)) contiguous++;
        const missing = Array.from({ length: highest }, (_, index) => index + 1).filter((one) => !have.has(one));
        const { body } = await api.call('/watermarks?producer=acme');
        const gaps = body['gaps'] as { from: number; to: number }[];
        expect(body).toMatchObject({
          contiguous_sequence: contiguous,
          highest_sequence: highest,
          event_time: contiguous === 0 ? null : minute(contiguous * 2),
        });
        expect(
          gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index)),
        ).toEqual(missing);
      },
    ),
    { numRuns: 25 },
  );
});
