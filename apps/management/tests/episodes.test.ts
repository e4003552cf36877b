import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { refusalOf, segment, startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const refusal = async (attempt: Promise<unknown>) => {
  const error = await refusalOf(attempt);
  return {
    code: error.code,
    errors: (error.context.errors ?? []).map(({ path, detail }) => `${path} ${detail}`),
  };
};

test('no two episodes of a podcast have the same GUID, whether chosen or generated', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const create = (guid?: string) =>
    world.send('episode.create', null, { podcast_id: podcast.id, title: 'One', ...(guid && { guid }) });
  const [made, chosen] = [await create(), await create('https://old.example/?p=1')];
  expect(made.attributes['guid']).toMatch(/^[0-9a-f-]{36}$/);
  expect(chosen.attributes['guid']).toBe('https://old.example/?p=1');
  const answers = await Promise.allSettled(Array.from({ length: 4 }, () => create('g-2')));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await refusal(create('https://old.example/?p=1'))).toEqual({
    code: 'value_taken',
    errors: ['/changes/guid Another episode of this podcast has this GUID.'],
  });
});

test('an imported episode keeps its GUID and its date, also when it is published', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  const imported = await world.send(
    'episode.import',
    null,
    { podcast_id: podcast.id, title: 'Old', guid: 'g-1', published_at: '2020-01-02T03:04:05Z' },
    service('management'),
  );
  expect(imported).toMatchObject({
    lifecycle_state: 'draft',
    attributes: { guid: 'g-1', published_at: '2020-01-02T03:04:05.000Z' },
  });
  const published = await world.send('episode.publish', await withAudio(world, imported), {});
  expect(published.attributes['published_at']).toBe('2020-01-02T03:04:05.000Z');
});

/** The episode with an encoded production of 60 s. */
async function withAudio(world: World, episode: ResourceView, extra: object = {}): Promise<ResourceView> {
  await world.setEncodingLimit(null);
  const created = await world.send('production.create', null, {
    episode_id: episode.id,
    file_url: (await world.upload()).attributes['file_url'],
  });
  const started = await world.send('production.start', created, {});
  const lease = await world.lease('encode_production', started.id);
  const completion = { ...world.completion, ...extra };
  const production = await world.send('production.complete', started, completion, service('encoder'), lease);
  return world.send('episode.attach_production', episode, { production_id: production.id });
}

test('chapters are those of the file until an editor writes some; a new file keeps the editor’s, except those beyond its end', async () => {
  const world = createWorld(management);
  const fromFile = [{ start_ms: 0, title: 'From the file' }];
  let episode = await withAudio(world, await world.episode(), { chapters: fromFile });
  expect(episode.attributes).toMatchObject({ chapters: fromFile, chapters_from: 'file', duration_ms: 60_000 });
  episode = await withAudio(world, episode);
  expect(episode.attributes).not.toHaveProperty('chapters');

  const chapters = [
    { start_ms: 40_000, title: 'C', end_ms: 60_000 },
    { start_ms: 0, title: 'A' },
    { start_ms: 10_000, title: 'B', end_ms: 35_000 },
  ];
  episode = await world.send('episode.set_chapters', episode, { chapters });
  expect(episode.attributes['chapters']).toEqual([chapters[1], chapters[2], chapters[0]]);
  episode = await withAudio(world, episode, { chapters: fromFile, audio_duration_ms: 30_000 });
  expect(episode.attributes).toMatchObject({
    chapters: [chapters[1], { ...chapters[2], end_ms: 30_000 }],
    chapters_from: 'editor',
  });
  episode = await world.send('episode.set_chapters', episode, { chapters: [] });
  expect(episode.attributes).not.toHaveProperty('chapters');
  episode = await withAudio(world, episode, { chapters: fromFile });
  expect(episode.attributes).toMatchObject({ chapters: fromFile, chapters_from: 'file' });
});

test('show notes of 100,000 bytes are kept whole, one byte more is refused, and no command accepts a script', async () => {
  const world = createWorld(management);
  const podcast = await world.send('podcast.create', null, {
    title: 'A',
    language: 'en',
    description: '<p>Hi<script>alert(1)</script></p>',
  });
  expect(podcast.attributes['description']).toBe('<p>Hi</p>');
  const revisedPodcast = await world.send('podcast.revise', podcast, { description: '<i onclick="x()">Hi</i>' });
  expect(revisedPodcast.attributes['description']).toBe('<i>Hi</i>');
  const notes = 'é'.repeat(50_000);
  const create = (description: string) =>
    world.send('episode.create', null, { podcast_id: podcast.id, title: 'One', description });
  const episode = await create(notes);
  expect(episode.attributes['description']).toBe(notes);
  expect(await refusal(create(`${notes}x`))).toMatchObject({ code: 'validation_failed' });
  expect((await create('<p>a</p><script>alert(1)</script>')).attributes['description']).toBe('<p>a</p>');
  const revised = await world.send('episode.revise', episode, { description: '<a href="javascript:x">a</a>' });
  expect(revised.attributes['description']).toBe('<a>a</a>');
});

test('chapters are refused with every fault at once', async () => {
  const world = createWorld(management);
  const episode = await world.playableEpisode();
  const chapters = [
    { start_ms: 0, title: 'A' },
    { start_ms: 0, title: 'B' },
    { start_ms: 60_000, title: 'C' },
    { start_ms: 5000, end_ms: 5000, title: 'D' },
    { start_ms: 6000, end_ms: 60_001, title: 'E' },
  ];
  expect(await refusal(world.send('episode.set_chapters', episode, { chapters }))).toEqual({
    code: 'validation_failed',
    errors: [
      '/changes/chapters/1/start_ms Two chapters begin at 0 ms.',
      '/changes/chapters/2/start_ms The chapter begins after the end of the audio (60000 ms).',
      '/changes/chapters/3/end_ms A chapter ends after its start.',
      '/changes/chapters/4/end_ms The chapter ends after the end of the audio (60000 ms).',
    ],
  });
});

const marker = (key: string, kind: string, position_ms: number) => ({ key, kind, position_ms, max_slots: 1 });

test('markers stand in the order of the audio, and are refused with every fault at once', async () => {
  const world = createWorld(management);
  const episode = await world.playableEpisode();
  const good = [marker('end', 'post', 60_000), marker('half', 'mid', 30_000), marker('start', 'pre', 0)];
  const set = await world.send('episode.set_markers', episode, { markers: good });
  expect(set.attributes['markers']).toEqual(good.toReversed());
  const markers = [
    marker('a', 'pre', 1),
    marker('a', 'mid', 10_000),
    marker('b', 'mid', 19_999),
    marker('c', 'mid', 0),
    marker('d', 'mid', 60_000),
    marker('e', 'post', 59_999),
    marker('f', 'post', 60_000),
  ];
  expect(await refusal(world.send('episode.set_markers', set, { markers }))).toEqual({
    code: 'validation_failed',
    errors: [
      '/changes/markers/0/position_ms A pre-roll marker is at 0 ms.',
      '/changes/markers/1/key Two markers have the key "a".',
      '/changes/markers/2/position_ms Between two mid-roll markers are at least 10 s.',
      '/changes/markers/3/position_ms A mid-roll marker is inside the audio; use kind "pre" at 0 ms.',
      '/changes/markers/4/position_ms A mid-roll marker is inside the audio, this one is after the end of the audio (60000 ms).',
      '/changes/markers/5/position_ms A post-roll marker is at the end of the audio (60000 ms) or later.',
      '/changes/markers/6/kind One post-roll marker is enough: max_slots says how many ads it takes.',
    ],
  });
});

test('a soundbite ends inside the audio', async () => {
  const world = createWorld(management);
  const episode = await world.playableEpisode();
  const fits = { soundbites: [{ start_ms: 50_000, duration_ms: 10_000 }] };
  const revised = await world.send('episode.revise', episode, fits);
  const late = { soundbites: [...fits.soundbites, { start_ms: 50_000, duration_ms: 10_001 }] };
  expect(await refusal(world.send('episode.revise', revised, late))).toEqual({
    code: 'validation_failed',
    errors: ['/changes/soundbites/1 The soundbite ends after the end of the audio (60000 ms).'],
  });
});

const read = async (key: string): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of await management.store.get(key)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

test('transcripts are stored as one document each, from the text or from an upload, under their digest', async () => {
  const world = createWorld(management);
  const upload = await world.send('upload.grant', null, { filename: 'de.srt', filesize: 50 });
  const srt = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nMary: Grüß Gott\n');
  await management.store.put(String(upload.attributes['storage_key']), srt, { contentType: 'text/plain' });
  const vtt = 'WEBVTT\n\n00:00.000 --> 00:01.000\n<v Mary>Hello';
  const episode = await world.send('episode.set_transcripts', await world.episode(), {
    transcripts: [
      { language: 'en', format: 'vtt', content: vtt },
      { language: 'de', format: 'srt', file_url: upload.attributes['file_url'], captions: false },
    ],
  });
  const [english, german] = episode.attributes['transcripts'] as { storage_key: string; sha256: string }[];
  expect(english).toMatchObject({
    language: 'en',
    captions: true,
    cue_count: 1,
    storage_key: `transcripts/${english!.sha256}`,
  });
  expect(german).toMatchObject({ language: 'de', captions: false });
  expect(await read(german!.storage_key)).toBe(
    '{"version":1,"cues":[{"start_ms":0,"end_ms":1000,"speaker":"Mary","text":"Grüß Gott"}]}',
  );
  const none = await world.send('episode.set_transcripts', episode, { transcripts: [] });
  expect(none.attributes).not.toHaveProperty('transcripts');
});

test('a transcript that cannot be read names its line; nothing is stored', async () => {
  const world = createWorld(management);
  const episode = await world.episode();
  const content = `WEBVTT\n\n00:00.000 --> 00:01.000\n${newId('x')}`;
  const upload = await world.upload('x.vtt');
  await management.store.put(String(upload.attributes['storage_key']), Buffer.from([0xff, 0xfe]), { contentType: 'x' });
  const keys = async () => {
    let count = 0;
    for await (const _object of management.store.list('transcripts/')) count++;
    return count;
  };
  const before = await keys();
  expect(
    await refusal(
      world.send('episode.set_transcripts', episode, {
        transcripts: [
          { language: 'en', format: 'vtt', content },
          { language: 'EN', format: 'vtt', content: 'WEBVTT\n\n00:00 --> 00:01.000\nHello' },
          { language: 'fr', format: 'srt' },
        ],
      }),
    ),
  ).toEqual({
    code: 'validation_failed',
    errors: [
      '/changes/transcripts/1/language Two transcripts are in EN.',
      '/changes/transcripts/1/content Line 3: "00:00" is no time of the form hh:mm:ss.mmm or mm:ss.mmm.',
      '/changes/transcripts/2 Give either "content" or "file_url".',
    ],
  });
  const file = { language: 'en', format: 'vtt', file_url: upload.attributes['file_url'] };
  expect(await refusal(world.send('episode.set_transcripts', episode, { transcripts: [file] }))).toEqual({
    code: 'validation_failed',
    errors: ['/changes/transcripts/0/file_url The file is not UTF-8 text.'],
  });
  expect(await keys()).toBe(before);
});

test('an episode gets the intro and outro of its podcast with its audio; a batch encoding changes and removes them', async () => {
  const world = createWorld(management);
  const { podcast, lease } = await world.preparing('intro');
  const episode = await world.send('episode.create', null, { podcast_id: podcast.id, title: 'One' });
  const silent = await withAudio(world, episode);
  expect(silent.attributes).not.toHaveProperty('intro');
  const ready = await world.send('podcast.record_intro', podcast, { segment }, service('encoder'), lease);
  await world.preparing('intro', ready);
  const joined = await withAudio(world, silent);
  // While a new intro is prepared, the one before it is used.
  expect(joined.attributes).toMatchObject({ intro: segment });
  const batchId = newId('bat');
  const applied = await world.send(
    'episode.apply_template',
    joined,
    { batch_encoding_id: batchId, intro: null, outro: segment },
    service('management'),
  );
  expect(applied.attributes).toMatchObject({ outro: segment, batch_encoding_id: batchId });
  expect(applied.attributes).not.toHaveProperty('intro');
  const outroOnly = await world.send(
    'episode.apply_template',
    applied,
    { batch_encoding_id: batchId, intro: segment },
    service('management'),
  );
  expect(outroOnly.attributes).toMatchObject({ intro: segment, outro: segment });
  const again = await withAudio(world, outroOnly);
  expect(again.attributes).toMatchObject({ intro: segment });
  expect(again.attributes).not.toHaveProperty('outro');
  expect(again.attributes).not.toHaveProperty('batch_encoding_id');
});

test('without audio an episode is neither published nor scheduled; the first date of publication stays', async () => {
  const world = createWorld(management);
  const silent = await world.episode();
  const soon = { publish_at: new Date(Date.now() + hour).toISOString() };
  expect(await refusal(world.send('episode.publish', silent, {}))).toMatchObject({ code: 'episode_has_no_audio' });
  expect(await refusal(world.send('episode.schedule', silent, soon))).toMatchObject({ code: 'episode_has_no_audio' });
  const first = await world.send('episode.publish', await withAudio(world, silent), {});
  const taken = await world.send('episode.unpublish', first, {});
  const again = await world.send('episode.publish', taken, {});
  expect(again.attributes['published_at']).toBe(first.attributes['published_at']);
});

test('a schedule is in the future, can be moved and cancelled, and never publishes early', async () => {
  const world = createWorld(management);
  const episode = await world.playableEpisode();
  const past = { publish_at: new Date(Date.now() - 1).toISOString() };
  expect(await refusal(world.send('episode.schedule', episode, past))).toMatchObject({
    code: 'validation_failed',
    errors: ['/changes/publish_at Choose a time to come, or publish at once.'],
  });
  let scheduled = await world.send('episode.schedule', episode, { publish_at: '2099-01-01T00:00:00Z' });
  expect(scheduled.attributes['publish_at']).toBe('2099-01-01T00:00:00.000Z');
  scheduled = await world.send('episode.schedule', scheduled, { publish_at: '2098-01-01T02:00:00+02:00' });
  expect(scheduled.attributes['publish_at']).toBe('2098-01-01T00:00:00.000Z');
  expect(await refusal(world.send('episode.publish_due', scheduled, {}, service('management')))).toMatchObject({
    code: 'state_not_allowed',
  });
  const off = await world.send('episode.unpublish', scheduled, {});
  expect(off.attributes).not.toHaveProperty('publish_at');
  const due = await world.dueEpisode();
  const published = await world.send('episode.publish_due', due, {}, service('management'));
  expect(published).toMatchObject({
    lifecycle_state: 'published',
    attributes: { published_at: due.attributes['publish_at'] },
  });
});

test('an episode that is unpublished with mode "stop_all" ends the plays that began before; without a mode or with "stop_new" it ends none', async () => {
  const world = createWorld(management);
  let episode = await world.playableEpisode();
  const published = () => world.send('episode.publish', episode, {});
  for (const changes of [{}, { mode: 'stop_new' }]) {
    episode = await world.send('episode.unpublish', await published(), changes);
    expect(episode.attributes).not.toHaveProperty('plays_end_before');
  }
  const ended = await world.send('episode.unpublish', await published(), { mode: 'stop_all' });
  const { plays_end_before: before } = ended.attributes;
  expect(before).toEqual(expect.any(String));
  episode = ended;
  // Later commands do not change the time of the end.
  episode = await world.send('episode.unpublish', await published(), {});
  expect(episode.attributes).toMatchObject({ plays_end_before: before });
  expect(await refusal(world.send('episode.publish', episode, { mode: 'stop_all' }))).toMatchObject({
    code: 'validation_failed',
  });
});
