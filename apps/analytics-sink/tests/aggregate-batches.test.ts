import { beforeEach, describe, expect, test } from '@jest/globals';
import { classifyUserAgent } from '@longwave/audience';
import { newId } from '@longwave/ids';
import { lists, totalBytes } from '@longwave/test-kit/delivery-facts';
import { aggregateNextBatch } from '../src/batches/aggregate-batches.ts';
import { declaredUserAgents } from '../src/batches/row-facts.ts';
import {
  at,
  batch,
  byteRow,
  claimRow,
  episode,
  ownFact,
  podcast,
  serving,
  useAudience,
  workspace,
  type Audience,
} from './_audience.ts';

let api: Audience;
useAudience((audience) => void (api = audience));
beforeEach(() => api.clear());

test('bytes of a known arrangement are counted by our method: one download, its ad delivered, whoever served them', async () => {
  await api.report(ownFact());
  const half = Math.floor(totalBytes / 2);
  const rows = [
    byteRow({ to: half, status: 206 }),
    byteRow({ from: half, status: 206 }),
    byteRow({ request: 'req-2', listener: 'b'.repeat(32), user_agent_verdict: 'bot_ua' }),
    byteRow({ request: 'req-3', listener: 'c'.repeat(32), address_verdict: 'dc_ip' }),
  ];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toEqual({
    batch_id: 'batch-1',
    state: 'aggregated',
    received: 4,
    stored: 0,
    aggregated: 4,
    rejected: 0,
    waiting: 0,
    rejections: [],
    rejected_by_code: {},
    judgements: { eligible: 2, bot_ua: 1, dc_ip: 1 },
    uncounted: [
      { row: 2, rule: 'bot_ua' },
      { row: 3, rule: 'dc_ip' },
    ],
  });
  expect(await api.downloads()).toBe(1);
  expect(await api.ads()).toEqual([
    {
      serving_id: serving,
      campaign_id: 'cmp_1',
      line_item_id: 'li_1',
      creative_id: 'crv_1',
    },
  ]);
  const judgements = await api.query(`select judgement from fact where fact_id like 'batch:%' order by 1`);
  expect(judgements.map(({ judgement }) => judgement)).toEqual(['bot_ua', 'dc_ip', 'eligible', 'eligible']);
});

describe('rows of one request add up before anything is judged', () => {
  const piece = (from: number, to: number) => byteRow({ from, to, status: 206 });
  /** The whole file in three rows, two of them as small as a probe. */
  const pieces = [piece(0, 2), piece(2, totalBytes - 1), piece(totalBytes - 1, totalBytes)];

  test('in one batch: no row is a probe because it alone is small', async () => {
    await api.report(ownFact());
    await api.send(batch({ rows: pieces }));
    await api.aggregate();
    expect({ downloads: await api.downloads(), ads: await api.ads() }).toMatchObject({
      downloads: 1,
      ads: [{ serving_id: serving }],
    });
    expect(await api.statusOf('batch-1')).toMatchObject({ judgements: { eligible: 3 }, uncounted: [] });
  });

  test.each([
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
  ])('in three batches, in the order %i %i %i', async (...order) => {
    await api.report(ownFact());
    for (const [nth, of] of order.entries()) {
      await api.send(batch({ batch_id: `batch-${nth + 1}`, sequence: nth + 1, rows: [pieces[of]] }));
      await api.aggregate();
    }
    expect({ downloads: await api.downloads(), ads: await api.ads() }).toMatchObject({
      downloads: 1,
      ads: [{ serving_id: serving }],
    });
    for (const id of ['batch-1', 'batch-2', 'batch-3'])
      expect(await api.statusOf(id)).toMatchObject({ judgements: { eligible: 1 }, uncounted: [] });
  });

  test('in three batches that are aggregated at once', async () => {
    await api.report(ownFact());
    for (const [nth, row] of pieces.entries())
      await api.send(batch({ batch_id: `batch-${nth + 1}`, sequence: nth + 1, rows: [row] }));
    await Promise.all([api.aggregate(), api.aggregate(), api.aggregate()]);
    expect({ downloads: await api.downloads(), ads: await api.ads() }).toMatchObject({
      downloads: 1,
      ads: [{ serving_id: serving }],
    });
  });

  test('three rows of one byte each are a request for three', async () => {
    await api.report(ownFact());
    await api.send(batch({ rows: [0, 1, 2].map((from) => piece(from, from + 1)) }));
    await api.aggregate();
    expect(await api.statusOf('batch-1')).toMatchObject({ judgements: { eligible: 3 } });
  });

  test('what stays at two bytes is a probe, and so it is beside the request of another listener or file', async () => {
    await api.report(ownFact());
    await api.send(
      batch({
        rows: [piece(0, 1), piece(1, 2), byteRow({ listener: 'b'.repeat(32) }), byteRow({ request: 'req-2', from: 2 })],
      }),
    );
    await api.aggregate();
    expect(await api.statusOf('batch-1')).toMatchObject({
      judgements: { eligible: 2, probe: 2 },
      uncounted: [
        { row: 0, rule: 'probe' },
        { row: 1, rule: 'probe' },
      ],
    });
  });
});

test('the status of a batch shows how many rows each rule leaves out, and the first twenty of them', async () => {
  await api.report(ownFact({ published_at: '2025-11-02T10:00:00.000Z' }));
  const early = { started_at: '2025-11-02T09:59:59Z' };
  const rows = [
    ...Array.from({ length: 25 }, (_, nth) => byteRow({ request: `early-${nth}`, ...early })),
    byteRow({ request: 'head', from: 0, to: 2 }),
    byteRow({ request: 'bot', user_agent_verdict: 'bot_ua' }),
    byteRow({ request: 'error', status: 404 }),
    byteRow({ request: 'prefetch', prefetch: true }),
    byteRow({ request: 'good' }),
  ];
  await api.send(batch({ rows }));
  await api.aggregate();
  const status = await api.statusOf('batch-1');
  expect(status).toMatchObject({
    aggregated: 30,
    judgements: { prerelease: 25, probe: 1, bot_ua: 1, status: 1, prefetch: 1, eligible: 1 },
  });
  expect(status['uncounted']).toEqual(Array.from({ length: 20 }, (_, row) => ({ row, rule: 'prerelease' })));
});

test('a bucket may name the one before it only in the first 48 h of a month: later it would take back what was counted', async () => {
  await api.report(ownFact());
  const later = (started_at: string) => ({
    batch_id: 'batch-2',
    sequence: 2,
    window: { from: '2025-11-02T00:00:00Z', to: '2025-11-20T00:00:00Z' },
    rows: [
      byteRow({
        request: 'r-2',
        listener: 'b'.repeat(32),
        previous_listener: '0'.repeat(32),
        started_at,
        at: started_at,
      }),
    ],
  });
  await api.send(batch());
  const refused = await api.send(batch(later('2025-11-03T00:00:00.000Z')));
  expect(refused.body).toMatchObject({
    status: 422,
    errors: [{ path: '/rows/0/previous_listener', code: 'late_link' }],
  });
  expect((await api.send(batch(later('2025-11-02T23:59:59.999Z')))).status).toBe(202);
  await api.aggregate();
  expect(await api.downloads()).toBe(1);
});

test('a time may have an offset: it is the same time of UTC, and the same fact', async () => {
  await api.report(ownFact());
  const window = { from: '2025-11-02T11:00:00+01:00', to: '2025-11-02T05:00:00-06:00' };
  const local = byteRow({ started_at: '2025-11-02T11:00:00.000+01:00', at: '2025-11-02T12:00:01.000+02:00' });
  await api.send(batch({ window, rows: [local] }));
  await api.send(batch({ batch_id: 'batch-2', sequence: 2 }));
  await api.aggregate();
  expect((await api.call('/watermarks?producer=acme')).body).toMatchObject({ event_time: '2025-11-02T11:00:00.000Z' });
  expect(await api.query(`select fact_id from fact where fact_id like 'batch:%'`)).toHaveLength(1);
  expect(await api.downloads()).toBe(1);
});

test('offsets within a part are those of the arrangement', async () => {
  await api.report(ownFact());
  const rows = [byteRow({ part: 2, to: 960_000 }), byteRow({ part: 2, from: 960_000, to: 1_920_000 })];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.downloads()).toBe(1);
  expect(await api.ads()).toEqual([]);
  const [written] = await api.query(`select range_merge(written)::text as written from served_request`);
  expect(written).toEqual({ written: '[161000,2081000)' });
});

test('bytes without a serving count as a download and deliver no ad', async () => {
  await api.report(ownFact());
  await api.send(batch({ rows: [byteRow({ serving_id: undefined })] }));
  await api.aggregate();
  expect({ downloads: await api.downloads(), ads: await api.ads() }).toEqual({ downloads: 1, ads: [] });
});

test('the same row in two batches is one fact', async () => {
  await api.report(ownFact());
  await api.send(batch());
  await api.send(batch({ batch_id: 'batch-2', sequence: 2 }));
  await api.aggregate();
  expect(await api.downloads()).toBe(1);
  expect(await api.query(`select fact_id from fact where fact_id like 'batch:%'`)).toHaveLength(1);
});

test('rows of an unknown arrangement wait, and count once it is known', async () => {
  await api.send(batch({ rows: [byteRow(), byteRow({ request: 'req-2', listener: 'b'.repeat(32) })] }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'waiting', stored: 0, aggregated: 0, waiting: 2 });
  expect(await api.downloads()).toBe(0);
  await api.report(ownFact());
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'aggregated', aggregated: 2, waiting: 0 });
  expect(await api.downloads()).toBe(2);
});

test('an arrangement of another workspace is like one that does not exist', async () => {
  await api.report(ownFact({ workspace_id: newId('ws') }));
  await api.send(batch());
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'waiting', waiting: 1, rejected: 0 });
  expect(await api.downloads()).toBe(0);
});

test('rows that contradict what is known of their arrangement are rejected, each by name', async () => {
  await api.report(ownFact());
  const rows = [
    byteRow(),
    byteRow({ request: 'req-1', to: totalBytes + 1 }),
    byteRow({ request: 'req-2', part: 3, to: 1 }),
    byteRow({ request: 'req-3', part: 0, to: 1_001 }),
    byteRow({ request: 'req-4', episode: newId('ep') }),
    byteRow({ request: 'req-5', arrangement: 'b'.repeat(64) }),
  ];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({
    state: 'aggregated',
    aggregated: 1,
    rejected: 5,
    rejections: [
      { row: 1, code: 'outside' },
      { row: 2, code: 'unknown_part' },
      { row: 3, code: 'outside' },
      { row: 4, code: 'other_episode' },
      { row: 5, code: 'other_arrangement' },
    ],
    rejected_by_code: { outside: 2, unknown_part: 1, other_episode: 1, other_arrangement: 1 },
  });
  expect(await api.downloads()).toBe(1);
});

test('a claim of another party is stored once and changes no number of ours', async () => {
  await api.report(ownFact());
  const campaign = newId('cmp');
  const delivered = {
    ...claimRow({ kind: 'ad_delivered', quantity: 12, country: 'AT' }),
    ...{ campaign, line_item: newId('li') },
  };
  await api.send(batch({ rows: [claimRow({ quantity: 40 }), delivered] }));
  await api.send(
    batch({ batch_id: 'batch-2', sequence: 2, rows: [claimRow({ quantity: 40 }), claimRow({ claim: 'claim-2' })] }),
  );
  await api.send(batch({ batch_id: 'batch-3', sequence: 3, rows: [claimRow({ quantity: 41 })] }));
  await api.aggregate();
  expect(await api.statusOf('batch-2')).toMatchObject({ state: 'aggregated', aggregated: 2, rejected: 0 });
  expect(await api.statusOf('batch-3')).toMatchObject({ rejected: 1, rejections: [{ row: 0, code: 'claim_changed' }] });
  expect(
    await api.query(
      `select kind, claim, campaign_id, country, quantity::int from platform_reported order by kind, claim`,
    ),
  ).toEqual([
    { kind: 'ad_delivered', claim: 'claim-1', campaign_id: campaign, country: 'AT', quantity: 12 },
    { kind: 'download_qualified', claim: 'claim-1', campaign_id: null, country: 'unknown', quantity: 40 },
    { kind: 'download_qualified', claim: 'claim-2', campaign_id: null, country: 'unknown', quantity: 1 },
  ]);
  expect({ downloads: await api.downloads(), ads: await api.ads() }).toEqual({ downloads: 0, ads: [] });
});

test("events of an ad are client events of the line item that our own facts name, each once, a bot's not at all", async () => {
  const event = (changes: object = {}) => ({
    kind: 'delivery_event',
    serving_id: serving,
    event: 'start',
    seq: 0,
    at,
    late: false,
    workspace,
    listener: '0'.repeat(32),
    user_agent_verdict: 'ok',
    address_verdict: 'ok',
    ...changes,
  });
  const rows = [event(), event(), event({ event: 'complete' }), event({ event: 'skip', user_agent_verdict: 'bot_ua' })];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'waiting', waiting: 4 });
  await api.report(ownFact());
  await api.send(batch({ batch_id: 'batch-2', sequence: 2, rows: [event({ late: true })] }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'aggregated', aggregated: 4 });
  expect(
    await api.query(`select line_item_id, event, events::int from client_event_hour where events <> 0 order by event`),
  ).toEqual([
    { line_item_id: 'li_1', event: 'complete', events: 1 },
    { line_item_id: 'li_1', event: 'start', events: 1 },
  ]);
  expect({ downloads: await api.downloads(), ads: await api.ads() }).toEqual({ downloads: 0, ads: [] });
});

test('playlists and assets are kept and shown as stored', async () => {
  const served = { request: 'req-1', at, status: 200, listener: '0'.repeat(32), workspace, podcast, episode };
  const rows = [
    { kind: 'playlist_served', playlist: 'main', ...served },
    { kind: 'asset_served', asset: 'segment-1', ...served },
  ];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'aggregated', received: 2, stored: 2, aggregated: 0 });
});

test('a batch that fails is put off and aggregated later; other batches go on', async () => {
  await api.report(ownFact());
  await api.send(batch({ rows: [byteRow()] }));
  await api.query(`update batch set rows = '[{"kind": "download_qualified"}]'`);
  await api.send(batch({ batch_id: 'batch-2', sequence: 2, rows: [claimRow()] }));
  await expect(aggregateNextBatch(api.tools())).rejects.toThrow();
  await api.aggregate();
  expect(await api.statusOf('batch-2')).toMatchObject({ state: 'aggregated' });
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'stored', stored: 1 });
  await api.query(`update batch set rows = $1 where batch_id = 'batch-1'`, [
    JSON.stringify([{ ...byteRow(), prefetch: false, region: 'unknown' }]),
  ]);
  api.clock.now = new Date(api.clock.now.getTime() + 2_000);
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'aggregated', aggregated: 1 });
});

test('concurrent processes never take the same batch, and each batch counts once', async () => {
  await api.report(ownFact());
  for (let sequence = 1; sequence <= 6; sequence++)
    await api.send(
      batch({
        batch_id: `batch-${sequence}`,
        sequence,
        rows: [byteRow({ listener: String(sequence).repeat(32) }), claimRow({ claim: `claim-${sequence}` })],
      }),
    );
  await Promise.all([api.aggregate(), api.aggregate(), api.aggregate()]);
  expect(await api.downloads()).toBe(6);
  expect(await api.query('select claim from platform_reported')).toHaveLength(6);
});

test('the lists give the user agents that stand for verdicts the same verdicts', () => {
  for (const [verdict, text] of Object.entries(declaredUserAgents))
    expect([verdict, classifyUserAgent(lists.userAgents, text)]).toEqual([verdict, verdict]);
});
