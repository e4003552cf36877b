import { beforeEach, expect, test } from '@jest/globals';
import { completeUntilMs } from '@longwave/audience-store';
import { seen, totalBytes } from '@longwave/test-kit/delivery-facts';
import { batch, byteRow, ownFact, useAudience, type Audience } from './_audience.ts';

let api: Audience;
useAudience((audience) => void (api = audience));
beforeEach(() => api.clear());

test('equal buckets of two producers are different listeners, and none is one of ours', async () => {
  const whole = { requested: [[0, totalBytes]], written: [[0, totalBytes]] } satisfies Partial<
    Parameters<typeof ownFact>[0]
  >;
  await api.report(seen(), ownFact(), ownFact({ fact_id: 'whole', listener_key: '0'.repeat(32), ...whole }));
  await api.send(batch());
  await api.send(batch({ producer: 'rival' }), { bearer: await api.token({ producer: 'rival' }) });
  await api.aggregate();
  expect(await api.downloads()).toBe(3);
  const days = await api.query(`select downloads::int from velocity_day where kind = 'listener'`);
  expect(days.map((day) => day['downloads'])).toEqual([1, 1, 1]);
});

test('a link to the previous bucket joins a listener over a change of salt', async () => {
  await api.report(ownFact());
  const next = 'f'.repeat(32);
  const half = 40 * 16_000;
  await api.send(
    batch({
      rows: [
        byteRow({ to: half, status: 206 }),
        byteRow({ request: 'req-2', listener: next, previous_listener: '0'.repeat(32), from: half, status: 206 }),
      ],
    }),
  );
  await api.aggregate();
  expect(await api.query(`select credited_ms::int from session`)).toEqual([{ credited_ms: 130_000 }]);
});

test('bytes of two arrangements are never added, whatever response they name and whichever comes first', async () => {
  const other = 'b'.repeat(64);
  // Half a minute of each.
  const rows = [
    byteRow({ serving_id: undefined, to: 600_000, status: 206 }),
    byteRow({ serving_id: undefined, arrangement: other, from: 600_000, to: 1_100_000, status: 206 }),
  ];
  for (const own of [rows, rows.toReversed()]) {
    await api.clear();
    await api.report(ownFact(), ownFact({ fact_id: 'own other', arrangement_id: other }));
    for (const [index, row] of own.entries())
      await api.send(batch({ batch_id: `batch-${index}`, sequence: index + 1, rows: [row] }));
    await api.aggregate();
    expect(
      await api.query(`select judgement from fact where fact_id like 'batch:%' and judgement = 'eligible'`),
    ).toHaveLength(2);
    expect(await api.downloads()).toBe(0);
  }
});

test('reports of other parties do not move complete_until', async () => {
  await api.report(ownFact());
  const until = await completeUntilMs(api.pool);
  expect(new Date(until).toISOString()).toBe('2025-11-02T09:59:31.000Z');
  await api.send(batch({ rows: [byteRow({ at: '2025-11-02T10:59:00.000Z' })] }));
  await api.aggregate();
  expect(await api.downloads()).toBe(1);
  expect(await completeUntilMs(api.pool)).toBe(until);
});

test('a region that a producer names is the same key as one of our own', async () => {
  await api.report(
    seen(),
    ownFact({
      fact_id: 'whole',
      country: 'DE',
      region: 'BY',
      requested: [[0, totalBytes]],
      written: [[0, totalBytes]],
    }),
  );
  await api.send(batch({ rows: [byteRow({ country: 'DE', region: 'DE-BY' })] }));
  await api.aggregate();
  expect(
    await api.query(
      `select country, region, sum(downloads)::int as downloads from download_audience_hour group by 1, 2`,
    ),
  ).toEqual([{ country: 'DE', region: 'BY', downloads: 2 }]);
});

test('a bucket has one previous bucket: contradicting rows are rejected, in any batch, and change no number', async () => {
  await api.report(ownFact());
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(32));
  const link = (request: string, listener: string | undefined, previous: string | undefined, changes: object = {}) =>
    byteRow({ request, listener, previous_listener: previous, ...changes });
  await api.send(
    batch({
      rows: [
        link('req-1', a, b),
        link('req-2', a, c),
        // A row that does not count links no buckets.
        link('req-3', a, c, { address_verdict: 'dc_ip' }),
      ],
    }),
  );
  await api.aggregate();
  await api.send(
    batch({ batch_id: 'batch-2', sequence: 2, rows: [link('req-4', a, c), link('req-5', b, a), link('req-6', a, b)] }),
  );
  await api.aggregate();
  const status = async (id: string) => (await api.call(`/batches/${id}`)).body;
  expect(await status('batch-1')).toMatchObject({ aggregated: 2, rejections: [{ row: 1, code: 'other_listener' }] });
  expect(await status('batch-2')).toMatchObject({
    aggregated: 1,
    rejections: [
      { row: 0, code: 'other_listener' },
      { row: 1, code: 'other_listener' },
    ],
  });
  const links = await api.query(
    `select distinct listener_key, previous_listener_key from fact where previous_listener_key is not null`,
  );
  expect(links).toHaveLength(1);
  expect(await api.downloads()).toBe(1);
});
