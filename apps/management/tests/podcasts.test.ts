import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { createFindNamedUpload } from '../src/hosting/podcasts/named-upload.ts';
import type { ArtworkSource } from '../src/outside/prepare-artwork.ts';
import {
  mediaUrl,
  preparedArtwork,
  refusalOf,
  segment,
  startTestManagement,
  type TestManagement,
} from './_management.ts';
import { service } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
let sources: ArtworkSource[];
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());
beforeEach(() => {
  sources = [];
  management.prepareArtwork = async (source) => {
    sources.push(source);
    return preparedArtwork;
  };
});

const refusal = async (attempt: Promise<unknown>) => {
  const error = await refusalOf(attempt);
  return { code: error.code, paths: (error.context.errors ?? []).map(({ path }) => path), detail: error.message };
};

test('artwork is prepared once for each address, of an upload or of another host, and not for other changes', async () => {
  const world = createWorld(management);
  const upload = await world.upload('cover.png');
  const podcast = await world.send('podcast.create', null, {
    title: 'Harbour Light',
    language: 'en',
    artwork_url: upload.attributes['file_url'],
  });
  expect(podcast.attributes['artwork']).toEqual(preparedArtwork);
  const revised = await world.send('podcast.revise', podcast, {
    title: 'Harbour Lights',
    artwork_url: upload.attributes['file_url'],
  });
  // The first use of an upload keeps its bytes under a key of their own.
  const kept = expect.stringMatching(new RegExp(`^uploads/${upload.id}/[0-9a-f]+/cover\\.png$`));
  expect(sources).toEqual([{ storageKey: kept }]);
  const outside = { artwork_url: 'https://cdn.example/cover.png' };
  const moved = await world.send('podcast.revise', revised, outside);
  expect(sources.at(-1)).toEqual({ sourceUrl: outside.artwork_url });
  expect(moved.attributes).toMatchObject({ ...outside, artwork: preparedArtwork, title: 'Harbour Lights' });
  const episode = await world.send('episode.create', null, { podcast_id: podcast.id, title: 'One', ...outside });
  expect(episode.attributes['artwork']).toEqual(preparedArtwork);
  await world.send('episode.revise', episode, { title: 'Two' });
  expect(sources).toHaveLength(3);
});

test('artwork that directories refuse names the field and the reason, and changes nothing', async () => {
  const world = createWorld(management);
  const podcast = await world.podcast();
  management.prepareArtwork = async () => {
    throw new Problem('artwork_not_acceptable', 'The image is not square: 1400 × 1200.');
  };
  const change = { artwork_url: 'https://cdn.example/wide.png' };
  expect(await refusal(world.send('podcast.revise', podcast, change))).toEqual({
    code: 'artwork_not_acceptable',
    paths: ['/changes/artwork_url'],
    detail: 'The image is not square: 1400 × 1200.',
  });
  const foreign = (await createWorld(management).upload('cover.png')).attributes['file_url'];
  expect(await refusal(world.send('podcast.revise', podcast, { artwork_url: foreign }))).toMatchObject({
    code: 'upload_not_received',
    paths: ['/changes/artwork_url'],
  });
  await world.send('podcast.revise', podcast, { title: 'Still version 1' });
});

test('a command takes uploads of the podcast’s workspace and of the caller’s own, and no others', async () => {
  const { pool, store } = management;
  const [owner, helper, stranger] = [createWorld(management), createWorld(management), createWorld(management)];
  const find = createFindNamedUpload(pool, store, mediaUrl);
  const ask = async (world: World) => {
    const fileUrl = String((await world.upload()).attributes['file_url']);
    return find({ workspaceId: owner.workspaceId, actor: helper.actor, fileUrl, path: '/changes/file_url' });
  };
  for (const world of [owner, helper]) expect((await ask(world)).upload.filename).toBe('one.mp3');
  expect(await refusal(ask(stranger))).toMatchObject({ code: 'upload_not_received', paths: ['/changes/file_url'] });
});

const operationStates = async (podcast: ResourceView, command: string): Promise<string[]> =>
  (
    await management.pool.query<{ state: string }>(
      'select state from operation where subject_id = $1 and command_type = $2 order by created_at, id',
      [podcast.id, command],
    )
  ).rows.map(({ state }) => state);

test.each(['intro', 'outro'] as const)(
  'an %s is prepared once: the old one stays until the new one is ready, and its operation ends with it',
  async (part) => {
    const world = createWorld(management);
    const { podcast, lease } = await world.preparing(part);
    expect(podcast.attributes[part]).toMatchObject({ state: 'encoding' });
    const { rows } = await management.pool.query('select input from job where id = $1', [lease.job_id]);
    expect(rows[0].input).toMatchObject({ podcast_id: podcast.id, part, loudness_target_lufs: -16 });
    expect(rows[0].input.source_etag).toMatch(/^[0-9a-f]{32}/);
    const ready = await world.send(`podcast.record_${part}`, podcast, { segment }, service('encoder'), lease);
    expect(ready.attributes[part]).toMatchObject({ state: 'ready', segment });

    const again = await world.preparing(part, ready);
    expect(again.podcast.attributes[part]).toMatchObject({ state: 'encoding', segment });
    const problem = { code: 'media_not_audio', detail: 'The file is a text.' };
    const failed = await world.send(
      `podcast.fail_${part}`,
      again.podcast,
      { problem },
      service('encoder'),
      again.lease,
    );
    expect(failed.attributes[part]).toMatchObject({ state: 'failed', segment, problem });
    expect(await operationStates(podcast, `podcast.set_${part}`)).toEqual(['succeeded', 'failed']);
  },
);

test('a newer intro replaces one that is still prepared: its worker may not report and its operation is cancelled', async () => {
  const world = createWorld(management);
  const first = await world.preparing('intro');
  const outro = await world.preparing('outro', first.podcast);
  const second = await world.preparing('intro', outro.podcast);
  expect(
    await refusal(world.send('podcast.record_intro', second.podcast, { segment }, service('encoder'), first.lease)),
  ).toMatchObject({ code: 'lease_lost' });
  const done = await world.send('podcast.record_outro', second.podcast, { segment }, service('encoder'), outro.lease);
  expect(await operationStates(done, 'podcast.set_intro')).toEqual(['cancelled', 'running']);
  expect(await operationStates(done, 'podcast.set_outro')).toEqual(['succeeded']);

  const cleared = await world.send('podcast.clear_intro', done, {});
  expect(cleared.attributes).not.toHaveProperty('intro');
  expect(await operationStates(done, 'podcast.set_intro')).toEqual(['cancelled', 'cancelled']);
  expect(
    await refusal(world.send('podcast.record_intro', cleared, { segment }, service('encoder'), second.lease)),
  ).toMatchObject({ code: 'lease_lost' });
});

test('collaborators are kept by e-mail without case; a second invitation adds a role, a removal takes one or all', async () => {
  const world = createWorld(management);
  const invite = (podcast: ResourceView, email: string, role: string) =>
    world.send('podcast.invite_collaborator', podcast, { email, role });
  let podcast = await invite(await world.podcast(), 'Mary@Harbour.example', 'editor');
  podcast = await invite(podcast, 'ben@harbour.example', 'analyst');
  podcast = await invite(podcast, 'mary@harbour.EXAMPLE', 'analyst');
  const all = [
    { email: 'mary@harbour.example', role: 'editor' },
    { email: 'ben@harbour.example', role: 'analyst' },
    { email: 'mary@harbour.example', role: 'analyst' },
  ];
  expect(podcast.attributes['collaborators']).toEqual(all);
  podcast = await invite(podcast, 'mary@harbour.example', 'editor');
  expect(podcast.attributes['collaborators']).toEqual(all);
  const remove = (changes: object) => world.send('podcast.remove_collaborator', podcast, changes);
  podcast = await remove({ email: 'ben@harbour.example', role: 'editor' });
  expect(podcast.attributes['collaborators']).toEqual(all);
  podcast = await remove({ email: 'MARY@harbour.example', role: 'analyst' });
  expect(podcast.attributes['collaborators']).toEqual(all.slice(0, 2));
  podcast = await invite(podcast, 'mary@harbour.example', 'analyst');
  for (const email of ['MARY@harbour.example', 'ben@harbour.example', 'nobody@harbour.example'])
    podcast = await remove({ email });
  expect(podcast.attributes).not.toHaveProperty('collaborators');
});

test('a feed redirects anywhere but to itself', async () => {
  const world = createWorld(management);
  const podcast = await world.publishedPodcast();
  const own = `http://media.test/feeds/${String(podcast.attributes['subdomain'])}.xml`;
  for (const new_feed_url of [own, own.replace('http:', 'https:'), `${own}?page=2`, `${own}/`, own.toUpperCase()])
    expect(await refusal(world.send('podcast.redirect_feed', podcast, { new_feed_url }))).toMatchObject({
      code: 'validation_failed',
      paths: ['/changes/new_feed_url'],
    });
  const new_feed_url = 'http://elsewhere.example/feed';
  const moved = await world.send('podcast.redirect_feed', podcast, { new_feed_url });
  expect(moved.attributes['new_feed_url']).toBe(new_feed_url);
});

test('a feed redirects only to another feed; an address without one, or that leads back, is refused in words', async () => {
  const world = createWorld(management);
  const podcast = await world.publishedPodcast();
  const { fetch } = management;
  const redirect = () => world.send('podcast.redirect_feed', podcast, { new_feed_url: 'https://new.example/feed.xml' });
  try {
    management.fetch = async (url, request) => ({ ...(await fetch(url, request)), status: 404 });
    await expect(redirect()).rejects.toMatchObject({
      code: 'validation_failed',
      message:
        'Publish the feed at its new address first, then redirect to it. The address answers with status 404 instead of a feed. Check the address.',
    });
    const finalUrl = `${mediaUrl}/feeds/${String(podcast.attributes['subdomain'])}.xml`;
    management.fetch = async (url, request) => ({ ...(await fetch(url, request)), finalUrl });
    await expect(redirect()).rejects.toMatchObject({ message: 'A feed cannot redirect to itself.' });
  } finally {
    management.fetch = fetch;
  }
  expect((await redirect()).attributes['new_feed_url']).toBe('https://new.example/feed.xml');
});

test('an archived podcast frees its subdomain and takes no more episodes', async () => {
  const world: World = createWorld(management);
  const create = (title: string) =>
    world.send('podcast.create', null, { title, language: 'en', subdomain: `s${newId('x').slice(-12)}` });
  const podcast = await create('One');
  await world.send('podcast.archive', podcast, {});
  await world.send('podcast.create', null, {
    title: 'Two',
    language: 'en',
    subdomain: podcast.attributes['subdomain'],
  });
  expect(await refusal(world.send('episode.create', null, { podcast_id: podcast.id, title: 'Late' }))).toMatchObject({
    code: 'state_not_allowed',
  });
});
