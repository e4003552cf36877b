/** Plays that editors try: what they hear, and that nothing of it is counted. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { createDecidePreview } from '../src/previews/decide-preview.ts';
import { createOpenPreview } from '../src/previews/open-preview.ts';
import { removePreviews, savePreview } from '../src/previews/preview-table.ts';
import { apply, next, ofWorkspace } from './_apply.ts';
import { askAt, newListener } from './_ask.ts';
import { flipped, tokenOf } from './_hls-plays.ts';
import { applyNow, hosted } from './_hosted.ts';
import { openPreview } from './_previews.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, eventOf, noAds, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
/** Frames of 24 ms: an intro of 2.4 s, ads of 24 s and 12 s, content of two minutes with a break at 48 s. */
const [intro, german, french, content] = [100, 1_000, 500, 5_000].map(audio) as [Buffer, Buffer, Buffer, Buffer];
const markers = [{ key: 'm1', kind: 'mid', position_ms: 48_000, max_slots: 2 }];

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  for (const ad of [german, french]) await storeSegment(bench, ad);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});
beforeEach(() => {
  bench.serving.answer = async (request) => noAds(request);
  bench.setClock(undefined);
});

const show = async () => publishShow(bench, content, { intro: await storeSegment(bench, intro), markers });
const preview = (episodeId: string, further: Partial<Parameters<typeof openPreview>[2]> = {}) =>
  openPreview(bench, app.grpcPort, { workspaceId, episodeId, ...further });

/** The ad that a country is targeted with, in the break in the middle alone. */
function giveByCountry(): void {
  bench.serving.answer = async (request) => {
    giveAds(bench, (key, slot) =>
      key === 'm1' && slot === 0 ? (request.country === 'DE' ? german : french) : undefined,
    );
    const decide = bench.serving.answer;
    giveByCountry();
    return decide(request);
  };
}

/** All rows of every table but those of previews. */
async function stored() {
  const { rows } = await bench.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'delivery' and table_type = 'BASE TABLE' and table_name <> 'preview' order by 1`,
  );
  const tables = rows.map(({ name }) => `select $$${name}$$ as name, to_jsonb(one)::text as row from "${name}" one`);
  return (await bench.pool.query(`${tables.join(' union all ')} order by 1, 2`)).rows;
}

test('a preview is the file that a listener of that country would have, with its timeline, and nothing of it is stored or a fact', async () => {
  const { episodeId } = await show();
  giveByCountry();
  const before = await stored();
  const facts = bench.facts.length;
  const opened = { de: await preview(episodeId), fr: await preview(episodeId, { country: 'FR' }) };
  const lengthOf = (ad: Buffer) => (ad.length / 384) * 24;
  for (const [{ audioUrl, timelineUrl, timelineJson, decisionJson, previewId }, ad] of [
    [opened.de, german],
    [opened.fr, french],
  ] as const) {
    const timeline = JSON.parse(timelineJson) as { preview: boolean; duration_ms: number; parts: unknown[] };
    expect(timeline).toEqual({
      ...{ version: 1, preview: true, duration_ms: 2_400 + 120_000 + lengthOf(ad) },
      parts: [
        { kind: 'intro', start_ms: 0, duration_ms: 2_400 },
        { kind: 'content', start_ms: 2_400, duration_ms: 48_000, content_start_ms: 0 },
        {
          ...{ kind: 'break', key: 'm1', position: 'mid', start_ms: 50_400, duration_ms: lengthOf(ad) },
          slots: [{ slot: 0, start_ms: 50_400, duration_ms: lengthOf(ad) }],
        },
        { kind: 'content', start_ms: 50_400 + lengthOf(ad), duration_ms: 72_000, content_start_ms: 48_000 },
      ],
    });
    expect(JSON.parse((await ask(timelineUrl)).body.toString())).toEqual(timeline);
    const whole = await ask(audioUrl, newListener());
    expect([whole.status, whole.headers['cache-control'], whole.headers.etag]).toEqual([
      ...[200, 'private, no-store', `"${previewId}"`],
    ]);
    expect([ad, intro].map((part) => whole.body.includes(part))).toEqual([true, true]);
    const range = await ask(audioUrl, { ...newListener(), range: 'bytes=1000-450000' });
    expect([range.status, range.body.equals(whole.body.subarray(1_000, 450_001))]).toEqual([206, true]);
    expect(JSON.parse(decisionJson)).toMatchObject({
      as_paced: true,
      breaks: [
        { key: 'pre', max_slots: 1 },
        { key: 'm1', position: 'mid', position_ms: 48_000, max_slots: 2 },
      ],
      picks: [{ break_key: 'm1', slot: 0 }],
    });
    expect(decisionJson).not.toMatch(/dec_|srv_/);
  }
  expect(bench.serving.previews.map(({ play, asPaced }) => [play!.country, play!.app, asPaced])).toEqual([
    ['DE', 'Overcast', true],
    ['FR', 'Overcast', true],
  ]);
  expect(bench.serving.requests).toEqual([]);
  // A play that is counted comes after: had there been a fact of a preview, it would be before it.
  const { enclosure } = await show();
  expect((await ask(`${enclosure}?direct=1`, newListener())).status).toBe(200);
  await app[Symbol.asyncDispose]();
  app = await bench.start();
  const told = bench.facts.slice(facts).filter((fact) => 'episode_id' in fact && fact.episode_id === episodeId);
  expect(told).toEqual([]);
  const rows = new Set(before.map((row) => JSON.stringify(row)));
  const added = (await stored()).filter((row) => !rows.has(JSON.stringify(row)));
  expect(added.filter(({ row }) => String(row).includes(episodeId))).toEqual([]);
  expect(JSON.stringify(added)).not.toContain('prv_');
});

test('an address of a preview answers 410 once its hour is over or it was removed, and opens nothing else', async () => {
  const { episodeId } = await show();
  const { audioUrl, timelineUrl, expiresAtMs } = await preview(episodeId);
  const token = tokenOf(audioUrl);
  for (const url of [`/delivery/v1/p/${token}/timeline.json`, audioUrl.replace(token, flipped(token))])
    expect((await ask(url)).status).toBe(404);
  expect((await ask(timelineUrl)).status).toBe(200);
  bench.setClock(new Date(Number(expiresAtMs) + 1_000));
  for (const url of [audioUrl, timelineUrl]) expect((await ask(url)).status).toBe(410);
  expect(await removePreviews(bench.pool, new Date(Number(expiresAtMs)), 1_000)).toBeGreaterThan(0);
  bench.setClock(undefined);
  await app[Symbol.asyncDispose]();
  app = await bench.start();
  expect((await ask(audioUrl)).status).toBe(410);
});

test('a workspace keeps a hundred previews, and a new one takes the place of its oldest', async () => {
  const workspace = newId('ws');
  const document = { v: 2, episode_id: 'ep_1', format: {}, parts: [], total_bytes: 1, timeline: [] } as never;
  const ids: string[] = [];
  for (let at = 0; at < 103; at++) {
    ids.push(newId('prv'));
    const expiresAt = new Date(Date.UTC(2030, 0, 1, 0, 0, at));
    await savePreview(bench.pool, {
      ...{ id: ids.at(-1)!, workspaceId: workspace, podcastId: 'pod_1', episodeId: 'ep_1', document },
      ...{ headers: [], ads: {}, madeAt: expiresAt, expiresAt },
    });
  }
  const { rows } = await bench.pool.query<{ id: string }>(
    'select id from preview where workspace_id = $1 order by expires_at',
    [workspace],
  );
  expect(rows.map(({ id }) => id)).toEqual(ids.slice(3));
});

test('a draft is heard before it is published; another workspace, an episode without audio and other services hear nothing', async () => {
  const { events, episodeId } = await show();
  const draft = newId('ep');
  const { after, subject } = next(events.episode, {}, { state: 'draft' });
  await apply(bench, { ...events.episode, subject: { ...subject, id: draft }, after: { ...after, id: draft } });
  const { audioUrl } = await preview(draft);
  const { status, body } = await ask(audioUrl);
  expect([status, body.includes(content.subarray(0, 400_000))]).toEqual([200, true]);
  await expect(preview(episodeId, { workspaceId: newId('ws') })).rejects.toMatchObject({
    code: 'episode_has_no_audio',
  });
  await expect(preview(newId('ep'))).rejects.toMatchObject({ code: 'episode_has_no_audio' });
  await apply(bench, next(events.episode, {}, { state: 'archived' }));
  await expect(preview(episodeId)).rejects.toMatchObject({ code: 'episode_has_no_audio' });
  const asked = { workspaceId, episodeId: draft };
  await expect(openPreview(bench, app.grpcPort, asked, 'management')).rejects.toMatchObject({
    code: 'permission_denied',
  });
  bench.serving.answer = async () => Promise.reject(new Error('away'));
  await expect(preview(draft)).rejects.toMatchObject({
    code: expect.stringMatching(/temporarily_unavailable|internal/),
  });
});

test('a preview of another time is decided for that time, with goals that have room', async () => {
  const { episodeId } = await show();
  const at = BigInt(Date.parse('2030-05-04T20:00:00Z'));
  const { decisionJson } = await preview(episodeId, { atMs: at });
  expect(JSON.parse(decisionJson)).toMatchObject({ at: '2030-05-04T20:00:00.000Z', as_paced: false });
  expect(bench.serving.previews.at(-1)).toMatchObject({
    asPaced: false,
    play: { atMs: at, listenerBucket: Buffer.alloc(0) },
  });
});

test('once the rights of its platform are over, no time that an editor names opens an episode', async () => {
  const until = new Date(bench.now().getTime() - 1_000);
  const { episodeId } = await hosted(bench, {}, { rights: { until: until.toISOString() } });
  for (const atMs of [undefined, BigInt(until.getTime() - 1), BigInt(until.getTime())])
    await expect(preview(episodeId, { atMs })).rejects.toMatchObject({ code: 'episode_has_no_audio' });
  bench.setClock(new Date(until.getTime() - 1));
  expect((await preview(episodeId)).previewId).toMatch(/^prv_/);
  const later = preview(episodeId, { atMs: BigInt(until.getTime()) });
  await expect(later).rejects.toMatchObject({ code: 'episode_has_no_audio' });
});

test('no preview is made of a version that its platform has revoked', async () => {
  const { episodeId, snapshot } = await hosted(bench);
  expect((await preview(episodeId)).previewId).toMatch(/^prv_/);
  await apply(bench, next(snapshot, {}, { state: 'revoked' }));
  await expect(preview(episodeId)).rejects.toMatchObject({ code: 'episode_has_no_audio' });
});

const haltOf = (scope: Record<string, unknown>) =>
  eventOf('serving_halts', newId('hlt'), 1, 'active', { scope, cause: 'A complaint' });

test.each([
  ['its episode is archived', ({ episode }) => next(episode, {}, { state: 'archived' })],
  ['its podcast is archived', ({ podcast }) => next(podcast, {}, { state: 'archived' })],
  [
    'plays of its episode are ended',
    ({ episode }) => next(episode, { plays_end_before: new Date().toISOString() }, { state: 'unpublished' }),
  ],
  ['one of its ads is halted', (_, { creative_id }) => haltOf({ kind: 'creative', creative_id })],
  ['ads of its podcast are halted', (_, { podcast_id }) => haltOf({ kind: 'show', podcast_id })],
  ['ads of its workspace are halted', () => haltOf({ kind: 'workspace' })],
] satisfies [
  string,
  (
    events: Awaited<ReturnType<typeof show>>['events'],
    ids: { readonly creative_id: string; readonly podcast_id: string },
  ) => DomainEvent,
][])('an address of a preview that was read before answers 410 once %s', async (_, takeDown) => {
  const workspace = newId('ws');
  const { events, episodeId, podcastId } = await publishShow(bench, content, {}, {}, workspace);
  bench.setClock(new Date(Date.now() - 60_000));
  const without = await preview(episodeId, { workspaceId: workspace });
  giveAds(bench, (key) => (key === 'pre' ? french : undefined));
  const { audioUrl, timelineUrl, decisionJson } = await preview(episodeId, { workspaceId: workspace });
  for (const url of [audioUrl, timelineUrl]) expect((await ask(url)).status).toBe(200);
  const { picks } = JSON.parse(decisionJson) as { picks: [{ creative_id: string }] };
  const event = takeDown(events, { creative_id: picks[0].creative_id, podcast_id: podcastId });
  await applyNow(bench, ofWorkspace(event, workspace));
  for (const url of [audioUrl, timelineUrl]) expect((await ask(url)).status).toBe(410);
  // A halt ends nothing that has no ad.
  expect((await ask(without.timelineUrl)).status).toBe(event.subject.type === 'serving_halts' ? 200 : 410);
});

test('a workspace has two previews made at a time, so that others have theirs, and a caller who left frees its place', async () => {
  const [crowd, other] = [newId('ws'), newId('ws')];
  const shows = new Map<string, string>();
  for (const workspace of [crowd, other])
    shows.set(workspace, (await publishShow(bench, content, {}, {}, workspace)).episodeId);
  const asked: string[] = [];
  const open = createOpenPreview({
    decide: createDecidePreview({
      pool: bench.pool,
      segments: { fetch: async () => undefined },
      previewDecision: ({ play }, { signal }) => {
        asked.push(play!.workspaceId);
        const { promise, reject } = Promise.withResolvers<never>();
        signal?.addEventListener('abort', () => reject(new Problem('temporarily_unavailable')), { once: true });
        return promise;
      },
    }),
    compose: () => Promise.reject(new Error('nothing is decided')),
    ...{ pool: bench.pool, tokens: { mint: () => '' }, mediaUrl: '', now: bench.now },
  });
  function begin(workspace: string) {
    const left = new AbortController();
    const whom = { country: 'DE', app: '', device: '', operatingSystem: '', atMs: undefined };
    const answer = open({ workspaceId: workspace, episodeId: shows.get(workspace)!, ...whom }, left.signal);
    return { leave: () => left.abort(), code: answer.catch((error: unknown) => (error as Problem).code) };
  }
  const crowding = Array.from({ length: 8 }, () => begin(crowd));
  const others = begin(other);
  await until(() => asked.length >= 3);
  expect(asked.toSorted()).toEqual([crowd, crowd, other].toSorted());
  for (const { leave } of crowding) leave();
  for (const { code } of crowding) expect(await code).toBe('temporarily_unavailable');
  const later = begin(crowd);
  await until(() => asked.length >= 4);
  expect(asked.at(-1)).toBe(crowd);
  for (const { leave, code } of [others, later]) {
    leave();
    expect(await code).toBe('temporarily_unavailable');
  }
});
