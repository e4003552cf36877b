import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listLinked } from '@longwave/command-pipeline';
import { until } from '@longwave/test-kit';
import { sha256Of } from './_exchange.ts';
import { startExchangeHost, type ExchangeHost } from './_exchange-host.ts';
import { hour, jobOf, service } from './_values.ts';

let host: ExchangeHost;
beforeAll(async () => {
  host = await startExchangeHost();
});
afterAll(async () => {
  expect(host.errors).toEqual([]);
  await host[Symbol.asyncDispose]();
});

const vtt = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n';
const srt = '1\n00:00:01,000 --> 00:00:02,000\nHallo\n';

test('a version becomes a published episode with its audio, title, chapters, captions and places for ads; it uses no encoding time', async () => {
  const { world, platform } = await host.joined();
  const master = host.master('/one.mp3');
  const caption = (lang: string, path: string, text: string) => {
    const { url, digest } = host.serve(path, text);
    return { lang, url, digest };
  };
  const snapshot = await world.snapshot(platform, 'ep-1', 1, {
    audio_master: master,
    captions: [caption('en', '/en.vtt', vtt), caption('de', '/de.srt', srt)],
    chapters: [{ start_ms: 0, title: 'One', img: 'https://platform.example/1.jpg' }],
    markers: [
      { key: 'mid-1', position_ms: 30_000, kind: 'mid', max_slots: 2 },
      { key: 'late', position_ms: 59_900, kind: 'mid' },
    ],
  });
  const { attributes } = await host.stateOf(world, snapshot, 'encoding');
  expect((await jobOf(host.management.pool, attributes.production_id!))?.input).toMatchObject({
    source_url: master.url,
    declared: { sha256: master.digest.slice(7), size_bytes: master.bytes },
  });
  const before = await host.episodeOf(world, { attributes });
  expect(before).toMatchObject({ lifecycle_state: 'draft', attributes: { title: 'Tide Tables', guid: 'guid-1' } });
  // The encoded audio is a little shorter than its platform has said.
  const productionId = await host.encode(world, snapshot, 59_500);
  const ready = await host.stateOf(world, snapshot, 'ready');
  const markers = [{ key: 'mid-1', position_ms: 30_000, kind: 'mid', max_slots: 2 }];
  expect(ready.attributes).toMatchObject({
    ...{ production_id: productionId, slots: markers },
    rendition: { format: 'mp3', sha256: world.rendition.sha256, duration_ms: 59_500 },
    transcripts: [
      { language: 'en', cue_count: 1 },
      { language: 'de', cue_count: 1 },
    ],
  });
  expect(ready.attributes.notes).toBeUndefined();
  expect(await host.episodeOf(world, ready)).toMatchObject({
    lifecycle_state: 'published',
    attributes: {
      ...{ snapshot_id: snapshot.id, current_production_id: productionId, duration_ms: 59_500, markers },
      ...{ published_at: '2026-11-01T04:00:00.000Z', explicit: false },
      chapters: [{ start_ms: 0, title: 'One', image_url: 'https://platform.example/1.jpg' }],
      transcripts: ready.attributes.transcripts,
    },
  });
  expect(await host.read(world, 'podcasts', ready.attributes.podcast_id!)).toMatchObject({
    lifecycle_state: 'published',
    attributes: { hosted_by: { authority_id: platform.authorityId, stream_id: platform.streamId } },
  });
  expect((await host.productionsOf(world, before.id))[0]!.attributes).toMatchObject({ imported: true });
});

test('captions that are missing, unreadable or not the declared ones are noted; the version serves without them', async () => {
  const { world, platform } = await host.joined();
  const readable = host.serve('/readable.vtt', vtt);
  const noise = host.serve('/noise.vtt', Buffer.from([0xff, 0xfe, 0]));
  const captions = [
    { lang: 'en', url: readable.url, digest: readable.digest },
    { lang: 'de', url: readable.url, digest: `sha256:${sha256Of('other')}` },
    { lang: 'fr', url: `${host.origin}/none.vtt`, digest: readable.digest },
    { lang: 'it', url: noise.url, digest: noise.digest },
    { lang: 'es', url: 'https://10.0.0.1/es.vtt', digest: readable.digest },
  ];
  const { attributes } = await host.served(world, platform, 1, { captions });
  expect(attributes.transcripts?.map(({ language }) => language)).toEqual(['en']);
  expect(attributes.notes?.map(({ code, detail }) => [code, /“(..)”/.exec(detail)?.[1]])).toEqual([
    ['captions_not_as_declared', 'de'],
    ['captions_not_fetchable', 'fr'],
    ['captions_not_readable', 'it'],
    ['captions_not_fetchable', 'es'],
  ]);
});

test('an episode whose platform wants no ads has none, whatever its markers say, until a version allows them', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1, { no_ads: true });
  expect(first.attributes.slots).toEqual([]);
  const { attributes } = await host.episodeOf(world, first);
  expect([attributes.ads, attributes.markers]).toEqual(['none', undefined]);
  const second = await host.served(world, platform, 2);
  const allowed = (await host.episodeOf(world, second)).attributes;
  expect([allowed.ads, allowed.markers?.length]).toEqual([undefined, 1]);
});

test('versions of one stream that are taken over at the same time share one podcast, and each subject has its own episode', async () => {
  const { world, platform } = await host.joined();
  const snapshots = await Promise.all(
    [1, 2, 3, 4, 5].map((n) =>
      world.snapshot(platform, `ep-${n}`, 1, {
        guid: `guid-${n}`,
        title_ref: `Title ${n}`,
        audio_master: host.master(`/s${n}`),
      }),
    ),
  );
  const rows = await Promise.all(snapshots.map((each) => host.stateOf(world, each, 'encoding')));
  expect(new Set(rows.map(({ attributes }) => attributes.podcast_id)).size).toBe(1);
  expect(new Set(rows.map(({ attributes }) => attributes.episode_id)).size).toBe(5);
});

test('the podcast of a stream has the title and the language of its newest version that names a show, in whatever order versions are taken over', async () => {
  const { world, platform } = await host.joined();
  const send = (sourceId: string, title?: string, language?: string) => {
    const episode = { guid: sourceId, audio_master: host.master(`/${sourceId}.mp3`) };
    const content = world.content(episode, title === undefined ? undefined : { title, ...(language && { language }) });
    return world.send(
      'content_snapshot.accept',
      null,
      { ...world.source(platform, sourceId), content },
      world.exchange,
    );
  };
  const first = await host.stateOf(world, await send('ep-1', 'First'), 'encoding');
  const podcast = () => host.read(world, 'podcasts', first.attributes.podcast_id!);
  expect((await podcast()).attributes.title).toBe('First');
  const second = await host.stateOf(world, await send('ep-2', 'Second', 'de'), 'encoding');
  expect((await podcast()).attributes.title).toBe('Second');
  await host.stateOf(world, await send('ep-3'), 'encoding');
  for (const { attributes } of [first, second])
    await world.send('production.stop', await host.read(world, 'productions', attributes.production_id!), {});
  await world.send('content_snapshot.retry', await host.stateOf(world, first, 'failed'), {});
  await host.stateOf(world, first, 'encoding');
  const { attributes, lifecycle_state: state, version } = await podcast();
  expect([attributes.title, attributes.language, state, version]).toEqual(['Second', 'de', 'published', 2]);
});

test('a GUID that another subject of the stream has is no place for a version, and a subject keeps its episode under a new GUID', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const other = await world.snapshot(platform, 'ep-2', 1, { audio_master: host.master('/other.mp3') });
  expect((await host.stateOf(world, other, 'failed')).attributes.problem).toMatchObject({ code: 'value_taken' });
  const renamed = await host.served(world, platform, 2, { guid: 'guid-new' });
  expect(renamed.attributes.episode_id).toBe(first.attributes.episode_id);
});

test('a version with the master of the one before is ready without another encoding', async () => {
  const { world, platform } = await host.joined();
  const audio_master = host.master('/same.mp3');
  const first = await host.served(world, platform, 1, { audio_master });
  const again = await world.snapshot(platform, 'ep-1', 2, { audio_master, title_ref: 'A better title' });
  const second = await host.stateOf(world, again, 'ready');
  expect(second.attributes.production_id).toBe(first.attributes.production_id);
  expect(await host.productionsOf(world, first.attributes.episode_id!)).toHaveLength(1);
  expect((await host.episodeOf(world, second)).attributes.title).toBe('A better title');
  await host.stateOf(world, first, 'superseded');
});

test('the version that serves goes on as it is until a newer one is ready, which ends no play of it', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const second = await world.snapshot(platform, 'ep-1', 2, {
    ...{ audio_master: host.master('/second.mp3'), title_ref: 'Second', markers: [] },
  });
  await host.stateOf(world, second, 'encoding');
  const during = await host.episodeOf(world, first);
  expect([during.lifecycle_state, during.attributes.title]).toEqual(['published', 'Tide Tables']);
  expect(during.attributes.markers).toHaveLength(1);
  expect((await host.read(world, 'content_snapshots', first.id)).lifecycle_state).toBe('ready');
  await host.encode(world, second);
  await host.stateOf(world, first, 'superseded');
  const after = await host.episodeOf(world, first);
  expect(after.attributes).toMatchObject({ title: 'Second', snapshot_id: second.id });
  expect(after.attributes.plays_end_before).toBeUndefined();
});

test('a newer version ends the encoding of one that does not serve, and nothing brings the older one back', async () => {
  const { world, platform } = await host.joined();
  const older = await world.snapshot(platform, 'ep-1', 1, { audio_master: host.master('/older.mp3') });
  const { attributes } = await host.stateOf(world, older, 'encoding');
  const newer = await host.served(world, platform, 2);
  await host.stateOf(world, older, 'superseded');
  await until(() => host.read(world, 'productions', attributes.production_id!), {
    holds: (row) => row.lifecycle_state === 'initial',
  });
  expect((await host.episodeOf(world, newer)).attributes.snapshot_id).toBe(newer.id);
  // The episode may get a newer version between the look at it and the command; then the command is tried again.
  const refusal = await until(
    async () => {
      const episode = await host.episodeOf(world, newer);
      return world
        .send('episode.host_version', episode, { snapshot_id: older.id }, service('management'))
        .catch((error: unknown) => error);
    },
    { holds: (answer) => !(answer instanceof Error && 'code' in answer && answer.code === 'version_conflict') },
  );
  expect(refusal).toMatchObject({ code: 'state_not_allowed' });
});

test('a master that is not the declared one fails the version with its reason, the version before serves, and a retry encodes anew', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const second = await world.snapshot(platform, 'ep-1', 2, { audio_master: host.master('/wrong.mp3') });
  const { attributes } = await host.stateOf(world, second, 'encoding');
  const problem = { code: 'media_not_as_declared', detail: 'The address answers with other bytes.' };
  const lease = await world.lease('encode_production', attributes.production_id!);
  const production = { resource_type: 'productions', id: attributes.production_id!, version: 2 };
  await world.send('production.fail', production, { problem }, service('encoder'), lease);
  const failed = await host.stateOf(world, second, 'failed');
  expect(failed.attributes.problem).toEqual(problem);
  expect((await host.episodeOf(world, first)).attributes.snapshot_id).toBe(first.id);
  await world.send('content_snapshot.retry', failed, {});
  expect(await host.encode(world, second)).not.toBe(attributes.production_id);
  expect((await host.stateOf(world, second, 'ready')).attributes.problem).toBeUndefined();
});

test('the encoding that somebody ends fails its version', async () => {
  const { world, platform } = await host.joined();
  const snapshot = await world.snapshot(platform, 'ep-1', 1, { audio_master: host.master('/ended.mp3') });
  const { attributes } = await host.stateOf(world, snapshot, 'encoding');
  await world.send('production.stop', await host.read(world, 'productions', attributes.production_id!), {});
  expect((await host.stateOf(world, snapshot, 'failed')).attributes.problem?.code).toBe('encoding_ended');
});

test('a version whose rights are over serves no new play, and one with later rights serves again', async () => {
  const { world, platform } = await host.joined();
  const audio_master = host.master('/rights.mp3');
  const until_ = (ms: number) => ({ rights: { until: world.inTime(ms) } });
  const first = await host.served(world, platform, 1, { audio_master, ...until_(hour) });
  await using _clock = host.followed.runClock();
  world.ahead(hour + 1000);
  await host.stateOf(world, first, 'lapsed');
  await until(() => host.episodeOf(world, first), { holds: (row) => row.lifecycle_state === 'unpublished' });
  expect((await host.episodeOf(world, first)).attributes.plays_end_before).toBeUndefined();
  const late = await world.snapshot(platform, 'ep-1', 2, { audio_master, ...until_(-1000) });
  expect((await host.stateOf(world, late, 'failed')).attributes.problem?.code).toBe('rights_over');
  const second = await world.snapshot(platform, 'ep-1', 3, { audio_master, ...until_(hour) });
  await host.stateOf(world, second, 'ready');
  await host.stateOf(world, first, 'superseded');
  expect((await host.episodeOf(world, first)).lifecycle_state).toBe('published');
});

test('nothing is taken over into a podcast that the workspace has archived', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  await world.send('podcast.archive', await host.read(world, 'podcasts', first.attributes.podcast_id!), {});
  const next = await world.snapshot(platform, 'ep-1', 2, { audio_master: host.master('/archived.mp3') });
  const other = await world.snapshot(platform, 'ep-2', 1, {
    guid: 'guid-2',
    audio_master: host.master('/archived.mp3'),
  });
  for (const each of [next, other])
    expect((await host.stateOf(world, each, 'failed')).attributes.problem?.code).toBe('podcast_not_ready');
});

test('nobody of the workspace publishes, schedules or gives audio to what another platform hosts', async () => {
  const { world, platform } = await host.joined();
  const first = await host.served(world, platform, 1);
  const unpublished = await world.send('episode.unpublish', await host.episodeOf(world, first), {});
  const refused = { code: 'state_not_allowed' };
  await expect(world.send('episode.publish', unpublished, {})).rejects.toMatchObject(refused);
  const publish_at = world.inTime(hour);
  await expect(world.send('episode.schedule', unpublished, { publish_at })).rejects.toMatchObject(refused);
  const production_id = first.attributes.production_id!;
  await expect(world.send('episode.attach_production', unpublished, { production_id })).rejects.toMatchObject(refused);
  const podcast_id = first.attributes.podcast_id!;
  await expect(world.send('episode.create', null, { podcast_id, title: 'Own' })).rejects.toMatchObject(refused);
  expect(await listLinked(host.management.pool, world.workspaceId, 'episodes', 'podcast', podcast_id)).toHaveLength(1);
});
