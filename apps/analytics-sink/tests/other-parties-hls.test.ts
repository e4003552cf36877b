import { beforeEach, describe, expect, test } from '@jest/globals';
import { completeUntilMs, factColumns, factOf, type FactRow } from '@longwave/audience-store';
import type { DeliveryFact, TrackDescribed } from '@longwave/events';
import { newId } from '@longwave/ids';
import { seen, shuffledTwice, totalBytes } from '@longwave/test-kit/delivery-facts';
import { described, inParts, mediaFact } from '@longwave/test-kit/media-facts';
import {
  arrangement,
  at,
  batch,
  byteRow,
  episode,
  ownFact,
  podcast,
  serving,
  useAudience,
  workspace,
} from './_audience.ts';
import type { Audience } from './_audience.ts';
import { recounted, stored } from './_counts.ts';

let api: Audience;
useAudience((audience) => void (api = audience));
beforeEach(() => api.clear());

const presentation = 'c'.repeat(64);
const tracks = { audio: 'd'.repeat(64), video: 'e'.repeat(64), ad_audio: 'f'.repeat(64) };
type Name = keyof typeof tracks;
const sizeOf = (name: Name) => 605 + described[name].cells.length * 1000;

const ad = {
  ...{ serving_id: serving, campaign_id: 'cmp_1', line_item_id: 'li_1', creative_id: 'crv_1', break_key: 'pre' },
  ...{ slot: 0, billable: true },
};

/** Two bytes of a track that our own delivery wrote: they make the track known, and are no download. */
const ownMedia = (name: Name, changes: Partial<Parameters<typeof mediaFact>[1]> = {}) =>
  mediaFact(name, {
    ...{ fact_id: `own ${name}`, workspace_id: workspace, podcast_id: podcast, episode_id: episode },
    ...{ presentation, track: tracks[name], requested: [[0, 2]], written: [[0, 2]] },
    ...(name === 'ad_audio' && { ad }),
    ...changes,
  });
const description = (name: Name): TrackDescribed => ({ ...described[name], track: tracks[name] });
const own: readonly DeliveryFact[] = (Object.keys(tracks) as Name[]).flatMap((name) => [
  ownMedia(name),
  description(name),
]);

/** The whole of a track, served by another party. */
const mediaRow = (name: Name, changes: object = {}) => {
  const { arrangement: _, ...row } = byteRow({ request: `req-${name}`, serving_id: undefined, status: 206 });
  return {
    ...row,
    kind: 'media_range_served',
    ...{ play: 'play-1', presentation, track: tracks[name], from: 0, to: sizeOf(name) },
    ...(name === 'ad_audio' && { serving_id: serving }),
    ...changes,
  };
};

const sessions = () =>
  api.query(
    `select arrangement_id, credited_ms::int, duplicate_arrangements::int as duplicates from session where counted`,
  );

/** The counts that follow from the stored facts alone, with what they name. */
async function recountedFacts() {
  const sql = `select ${factColumns} from fact f join layout l on l.digest = f.layout_digest`;
  const facts = (await api.pool.query<FactRow>(sql)).rows.map(factOf);
  const agents = await api.query<{ text: string }>('select text from user_agent');
  return recounted([...facts, ...agents.map(({ text }) => seen(text)), ...own]);
}

test('bytes of known tracks are counted by our method: one download with its ad, each billed once', async () => {
  await api.report(...own);
  await api.send(batch({ rows: [mediaRow('audio'), mediaRow('video'), mediaRow('ad_audio')] }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({
    ...{ state: 'aggregated', aggregated: 3, waiting: 0, rejected: 0 },
    judgements: { eligible: 3 },
  });
  expect(await api.downloads()).toBe(1);
  // 120 s that were heard and seen, and 12 s of the ad.
  expect(await sessions()).toEqual([{ arrangement_id: presentation, credited_ms: 132_000, duplicates: 0 }]);
  expect(await api.ads()).toMatchObject([{ serving_id: serving, line_item_id: 'li_1' }]);
  expect(await api.query(`select quantity from ad_entry where stage = 'billable'`)).toEqual([{ quantity: 1 }]);
});

test.each([1, 2, 3])(
  'in any order, in batches of one row, each row twice, it is the same download (seed %i)',
  async (seed) => {
    await api.report(...own);
    const middle = 605 + 20_500;
    const rows = [
      mediaRow('audio', { to: middle }),
      mediaRow('audio', { from: middle }),
      // A probe, until more of its request comes.
      mediaRow('audio', { request: 'req-2', to: 1, started_at: '2025-11-02T10:00:00.500Z' }),
      mediaRow('audio', { request: 'req-2', from: 1, to: 605, started_at: '2025-11-02T10:00:00.500Z' }),
      mediaRow('ad_audio', { to: 3_000 }),
      mediaRow('ad_audio', { from: 3_000 }),
    ];
    for (const [nth, row] of shuffledTwice(rows, seed).entries()) {
      await api.send(batch({ batch_id: `batch-${nth + 1}`, sequence: nth + 1, rows: [row] }));
      if (nth % 3 === seed % 3) await api.aggregate();
    }
    await api.aggregate();
    expect(await sessions()).toEqual([{ arrangement_id: presentation, credited_ms: 132_000, duplicates: 0 }]);
    expect(await api.ads()).toHaveLength(1);
    expect(
      await api.query(`select judgement from fact where fact_id like 'batch:%' and judgement = 'eligible'`),
    ).toHaveLength(6);
    expect(await stored(api.pool)).toEqual(await recountedFacts());
    // However many rows a minute has, it is one request for each track.
    expect(await api.query(`select from served_request`)).toHaveLength(2);
  },
);

test('the MP3 and HLS of one bucket are one download, and a serving of both is delivered and billed once', async () => {
  await api.report(ownFact(), ...own);
  const mp3 = byteRow({ started_at: '2025-11-02T10:05:00.000Z', at: '2025-11-02T10:05:01.000Z' });
  await api.send(batch({ rows: [mp3, mediaRow('audio'), mediaRow('ad_audio')] }));
  await api.aggregate();
  expect(await sessions()).toEqual([{ arrangement_id: presentation, credited_ms: 132_000, duplicates: 1 }]);
  expect(await api.ads()).toHaveLength(1);
  expect(await api.query(`select quantity from ad_entry where stage = 'billable'`)).toEqual([{ quantity: 1 }]);
  expect(await stored(api.pool)).toEqual(await recountedFacts());
});

test('half a minute of HLS and half a minute of the MP3 are no download', async () => {
  await api.report(ownFact(), ...own);
  const rows = [mediaRow('audio', { to: 605 + 12_000 }), byteRow({ serving_id: undefined, to: 600_000, status: 206 })];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ judgements: { eligible: 2 } });
  expect(await api.downloads()).toBe(0);
});

test('equal plays of two buckets, or of two producers, join no listeners', async () => {
  await api.report(...own);
  const other = mediaRow('audio', { listener: 'b'.repeat(32) });
  await api.send(batch({ rows: [mediaRow('audio'), other] }));
  await api.send(batch({ producer: 'rival', rows: [mediaRow('audio')] }), {
    bearer: await api.token({ producer: 'rival' }),
  });
  await api.aggregate();
  expect(await api.downloads()).toBe(3);
});

test('a link to the previous bucket joins a play over a change of salt', async () => {
  await api.report(...own);
  const middle = 605 + 20_000;
  const next = { request: 'req-2', listener: 'f'.repeat(32), previous_listener: '0'.repeat(32), from: middle };
  await api.send(batch({ rows: [mediaRow('audio', { to: middle }), mediaRow('audio', next)] }));
  await api.aggregate();
  expect(await sessions()).toMatchObject([{ credited_ms: 120_000 }]);
});

describe('rows wait, and then count once', () => {
  test.each(['track', 'description', 'last part of the description'])('for the %s', async (missing) => {
    const parts = inParts(description('audio'));
    const first = { track: [], description: [ownMedia('audio')] }[missing] ?? [
      ownMedia('audio'),
      ...parts.slice(0, -1),
    ];
    await api.report(...first);
    await api.report(
      ownFact({
        fact_id: 'later',
        episode_id: newId('ep'),
        started_at: '2025-11-02T10:30:00.000Z',
        at: '2025-11-02T10:30:00.000Z',
      }),
    );
    const until = await completeUntilMs(api.pool);
    await api.send(batch({ rows: [mediaRow('audio')] }));
    await api.aggregate();
    expect(await api.statusOf('batch-1')).toMatchObject({ state: 'waiting', waiting: 1, aggregated: 0 });
    // Rows of other parties hold nothing back.
    expect(await completeUntilMs(api.pool)).toBe(until);
    await api.report(ownMedia('audio'), ...parts);
    await api.aggregate();
    expect(await api.statusOf('batch-1')).toMatchObject({ state: 'aggregated', waiting: 0, aggregated: 1 });
    expect(await api.downloads()).toBe(1);
  });
});

test('a track, a presentation or a serving that only another workspace knows is like one that does not exist', async () => {
  const elsewhere = { workspace_id: newId('ws') };
  await api.report(
    ...own.map((fact) => (fact.kind === 'media_range_served' ? { ...fact, ...elsewhere } : fact)),
    // The same presentation has another track here.
    ownMedia('video'),
  );
  await api.send(batch({ rows: [mediaRow('audio'), mediaRow('ad_audio')] }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ state: 'waiting', waiting: 2, rejected: 0 });
  expect(await api.downloads()).toBe(0);
});

test('the track of an ad without its serving is not taken for content', async () => {
  await api.report(...own);
  await api.send(batch({ rows: [mediaRow('ad_audio', { serving_id: undefined })] }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({ waiting: 1 });
});

test('rows that contradict what is known of their track are rejected, each by name', async () => {
  await api.report(ownFact(), ...own);
  const rows = [
    mediaRow('audio', { to: sizeOf('audio') + 1 }),
    mediaRow('audio', { episode: newId('ep') }),
    // A presentation is no arrangement of an MP3.
    byteRow({ arrangement: presentation, to: totalBytes }),
    mediaRow('video'),
  ];
  await api.send(batch({ rows }));
  await api.aggregate();
  expect(await api.statusOf('batch-1')).toMatchObject({
    ...{ aggregated: 1, rejected: 3 },
    rejected_by_code: { outside: 1, other_episode: 1, other_arrangement: 1 },
  });
});

test('a producer describes no track: such a row is refused, and so are fields that are not the row’s', async () => {
  const { fact_id: _, ...described } = description('audio');
  const refused = [
    { ...described, at, workspace, podcast, episode },
    mediaRow('audio', { cells: [[0, 1, 0, 1]] }),
    mediaRow('audio', { arrangement }),
    mediaRow('audio', { part: 0 }),
    mediaRow('audio', { play: undefined }),
    mediaRow('audio', { from: 5, to: 5 }),
  ];
  for (const row of refused) expect((await api.send(batch({ rows: [row] }))).status).toBe(422);
  expect(await api.query('select from track_part')).toEqual([]);
  expect(await api.query('select from batch')).toEqual([]);
});

test('events of an ad by HLS are client events of the line item of its serving, before and after an MP3 has the serving too', async () => {
  const event = (kind: string) => ({
    ...{ kind: 'delivery_event', serving_id: serving, event: kind, seq: 0, at, late: false, workspace },
    ...{ listener: '0'.repeat(32), user_agent_verdict: 'ok', address_verdict: 'ok' },
  });
  await api.send(batch({ rows: [event('start'), byteRow()] }));
  await api.aggregate();
  await api.report(...own);
  await api.aggregate();
  // Bytes of an MP3 are not those of a track, although both have the serving.
  expect(await api.statusOf('batch-1')).toMatchObject({ aggregated: 1, waiting: 1 });
  await api.send(batch({ batch_id: 'batch-2', sequence: 2, rows: [event('complete'), byteRow()] }));
  await api.aggregate();
  expect(await api.statusOf('batch-2')).toMatchObject({ aggregated: 1, waiting: 1 });
  await api.report(ownFact());
  await api.aggregate();
  await api.send(batch({ batch_id: 'batch-3', sequence: 3, rows: [event('skip')] }));
  await api.aggregate();
  expect(await api.query(`select line_item_id, event, events::int from client_event_hour order by event`)).toEqual(
    ['complete', 'skip', 'start'].map((name) => ({ line_item_id: 'li_1', event: name, events: 1 })),
  );
  expect(await api.statusOf('batch-1')).toMatchObject({ aggregated: 2, waiting: 0 });
  expect(await api.downloads()).toBe(1);
});
