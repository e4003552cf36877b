import { beforeEach, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { arrangement, batch, byteRow, useAudience, type Audience } from './_audience.ts';

let api: Audience;
useAudience((audience) => void (api = audience));
beforeEach(() => api.clear());

test('a batch is accepted with 202 and its watermark, and a repetition has the same bytes with 200', async () => {
  const first = await api.send(batch());
  expect(first.status).toBe(202);
  expect(first.body).toEqual({
    batch_id: 'batch-1',
    accepted: 1,
    watermark: { contiguous_sequence: 1, highest_sequence: 1, event_time: '2025-11-02T11:00:00.000Z' },
  });
  await api.send(batch({ batch_id: 'batch-2', sequence: 2 }));
  const again = await api.send(batch());
  expect({ status: again.status, text: again.text }).toEqual({ status: 200, text: first.text });
});

test('the same body is the same whatever its spaces, the order of its fields and its compression, and under another key', async () => {
  const first = await api.send(batch());
  const { rows, ...rest } = batch();
  const turned = await api.send({ rows, ...rest }, { gzip: true, key: 'another-key' });
  expect({ status: turned.status, text: turned.text }).toEqual({ status: 200, text: first.text });
});

test('another body under a used id or a used key is a conflict and changes nothing', async () => {
  await api.send(batch());
  const other = batch({ rows: [byteRow({ request: 'req-2' })] });
  expect((await api.send(other)).body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  const moved = await api.send(batch({ batch_id: 'batch-2', sequence: 2 }), { key: 'batch-1' });
  expect(moved.body).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  expect(await api.query('select batch_id from batch')).toEqual([{ batch_id: 'batch-1' }]);
});

test('a sequence names one batch', async () => {
  await api.send(batch());
  const second = await api.send(batch({ batch_id: 'batch-2' }));
  expect(second.body).toMatchObject({ status: 422, code: 'value_taken', errors: [{ path: '/sequence' }] });
});

test('twenty identical requests at once make one batch: one 202 and nineteen repetitions', async () => {
  const sent = await Promise.all(Array.from({ length: 20 }, () => api.send(batch())));
  expect(sent.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(sent.filter(({ status }) => status === 200)).toHaveLength(19);
  expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
  expect(await api.query('select batch_id from batch')).toHaveLength(1);
});

test('an answered batch is committed: another connection reads it whole', async () => {
  await api.send(batch());
  const [stored] = await api.query<{ rows: unknown[] }>('select rows from batch');
  expect(stored!.rows).toEqual([{ ...byteRow(), prefetch: false, region: 'unknown' }]);
});

test('one wrong row of a thousand refuses the whole batch', async () => {
  const rows = Array.from({ length: 1000 }, (_, index) => byteRow({ request: `req-${index}` }));
  rows[777] = byteRow({ listener: 'not hex' });
  const refused = await api.send(batch({ rows }));
  expect(refused.body).toMatchObject({ status: 422, errors: [{ path: '/rows/777/listener' }] });
  expect(await api.query('select batch_id from batch')).toEqual([]);
});

test('an answer names the first twenty wrong fields', async () => {
  const rows = Array.from({ length: 50 }, () => byteRow({ ip: '192.0.2.1' }));
  const { body } = await api.send(batch({ rows }));
  expect((body['errors'] as unknown[]).length).toBe(20);
  expect((body['errors'] as { path: string }[])[19]!.path).toBe('/rows/19/ip');
});

test('the watermark shows every gap, and its time moves only over what has none', async () => {
  const hour = (sequence: number) => ({
    batch_id: `batch-${sequence}`,
    sequence,
    window: { from: '2025-11-02T10:00:00Z', to: `2025-11-02T1${sequence}:00:00Z` },
  });
  for (const sequence of [1, 2, 4, 7]) await api.send(batch(hour(sequence)));
  const path = '/watermarks?producer=acme';
  expect((await api.call(path)).body).toEqual({
    producer: 'acme',
    contiguous_sequence: 2,
    highest_sequence: 7,
    event_time: '2025-11-02T12:00:00.000Z',
    gaps: [
      { from: 3, to: 3 },
      { from: 5, to: 6 },
    ],
  });
  await api.send(batch(hour(3)));
  expect((await api.call(path)).body).toMatchObject({
    contiguous_sequence: 4,
    event_time: '2025-11-02T14:00:00.000Z',
    gaps: [{ from: 5, to: 6 }],
  });
});

test('the watermark of a producer that has sent nothing is zero', async () => {
  expect((await api.call('/watermarks?producer=acme')).body).toEqual({
    producer: 'acme',
    contiguous_sequence: 0,
    highest_sequence: 0,
    event_time: null,
    gaps: [],
  });
});

test("another producer's batch, another workspace's and a missing one are the same 404", async () => {
  await api.send(batch());
  const answers = await Promise.all([
    api.call('/batches/no-such-batch'),
    api.call('/batches/batch-1', {}, await api.token({ producer: 'rival' })),
    api.call('/batches/batch-1', {}, await api.token({ workspaces: [newId('ws')] })),
    api.call('/batches/%20%20'),
  ]);
  const bytes = answers.map(({ text, body }) => text.replaceAll(String(body['trace_id']), ''));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(new Set(bytes).size).toBe(1);
  const rival = await api.token({ producer: 'rival' });
  const marks = await Promise.all([
    api.call('/watermarks?producer=acme', {}, rival),
    api.call('/watermarks?producer=nobody', {}, rival),
  ]);
  expect(new Set(marks.map(({ text, body }) => text.replaceAll(String(body['trace_id']), ''))).size).toBe(1);
  expect(marks[0].status).toBe(404);
});

test('the same batch id and key of two producers are two batches', async () => {
  await api.send(batch());
  const rival = await api.send(batch({ producer: 'rival' }), { bearer: await api.token({ producer: 'rival' }) });
  expect(rival.status).toBe(202);
});

test('no log line holds a token, a listener or a row', async () => {
  await api.send(batch());
  await api.aggregate();
  const log = api.logLines.join('');
  expect(log).toContain('batch.send');
  for (const secret of ['eyJ', '0'.repeat(32), arrangement]) expect(log).not.toContain(secret);
});
