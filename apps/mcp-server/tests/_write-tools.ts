import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { tools } from '../src/tools/tools.ts';
import { world } from './_shared-world.ts';
import type { Output } from './_world.ts';

const key = () => newId('req');
const object = (output: Output, name: string) => output[name] as Output;
const draft = async (title = 'New') => {
  const made = await world.output('create_episode', {
    podcast_id: world.content.podcast,
    title,
    idempotency_key: key(),
  });
  return object(made, 'episode') as { id: string; version: number };
};
const episodeOf = async (id: string) =>
  object(await world.output('get_episode', { episode_id: id }), 'episode') as {
    id: string;
    version: number;
    state: string;
  };
const failure = async (name: string, args: Record<string, unknown>, as?: string) =>
  (await world.call(name, args, as)).structuredContent as { code: string; message: string };

describe('create_episode', () => {
  test('makes a draft, once for one key', async () => {
    const args = { podcast_id: world.content.podcast, title: 'Third', season: 2, idempotency_key: key() };
    const [first, second] = [await world.output('create_episode', args), await world.output('create_episode', args)];
    expect(object(first, 'episode')).toMatchObject({ title: 'Third', season: 2, state: 'draft', version: 1 });
    expect(object(second, 'episode')['id']).toBe(object(first, 'episode')['id']);
  });

  test('is refused for another payload under the same key', async () => {
    const args = { podcast_id: world.content.podcast, title: 'Third', idempotency_key: key() };
    await world.output('create_episode', args);
    expect(await failure('create_episode', { ...args, title: 'Fourth' })).toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('is refused to a person who may only look', async () => {
    const args = { podcast_id: world.content.podcast, title: 'Third' };
    expect(await failure('create_episode', args, 'viewer')).toMatchObject({ code: 'permission_denied' });
  });
});

describe('a text with NUL, which no database can hold, is a field that is not valid:', () => {
  const nul = 'a\u0000b';
  test.each<[string, () => Record<string, unknown>]>([
    ['create_episode', () => ({ podcast_id: world.content.podcast, title: nul, idempotency_key: key() })],
    ['create_episode', () => ({ podcast_id: world.content.podcast, title: 'One', idempotency_key: nul })],
    ['create_episode', () => ({ podcast_id: nul, title: 'One', idempotency_key: key() })],
    ['get_episode', () => ({ episode_id: nul })],
    ['search_content', () => ({ query: nul })],
    ['get_operation', () => ({ operation_id: nul })],
  ])('%s', async (name, argumentsOf) => {
    const result = await world.call(name, argumentsOf());
    expect(result.isError).toBe(true);
    const text = JSON.stringify(result);
    expect(text).not.toContain('internal_error');
    expect(text).toMatch(/validation_failed|not_found|idempotency_key_invalid|Input validation error/);
  });
});

describe('update_episode', () => {
  test('changes fields, chapters and transcripts one after the other, and a retry has no further effect', async () => {
    const { id, version } = await draft();
    const args = {
      ...{ episode_id: id, expected_version: version, idempotency_key: key() },
      changes: {
        title: 'Renamed',
        chapters: [{ start_ms: 0, title: 'Start' }],
        transcripts: [{ language: 'en', format: 'vtt', content: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n' }],
      },
    };
    const first = object(await world.output('update_episode', args), 'episode');
    expect(first).toMatchObject({ title: 'Renamed', chapter_count: 1, transcript_count: 1, version: version + 3 });
    expect(object(await world.output('update_episode', args), 'episode')).toMatchObject({ version: version + 3 });
    const shown = await world.output('get_episode', { episode_id: id, include: ['chapters', 'transcript'] });
    expect(shown).toMatchObject({ chapters: [{ title: 'Start' }], transcripts: [{ language: 'en', cue_count: 1 }] });
  });

  test.each([
    ['an old version', { expected_version: 7, changes: { title: 'x' } }, 'version_conflict'],
    ['nothing to change', { expected_version: 1, changes: {} }, 'validation_failed'],
    ['an unknown field', { expected_version: 1, changes: { colour: 'red' } }, 'validation_failed'],
  ])('is refused for %s', async (_what, args, code) => {
    expect(await failure('update_episode', { episode_id: (await draft()).id, ...args })).toMatchObject({ code });
  });
});

describe('update_podcast', () => {
  test('changes fields of the version that was read', async () => {
    const created = { type: 'podcast.create', changes: { title: 'Draft', language: 'en' } } as const;
    const { resource } = await world.management.execute(await world.askerOf('owner'), created);
    const { id: podcast_id, version } = resource;
    const args = { podcast_id, expected_version: version, changes: { subtitle: 'Of the sea' } };
    const changed = await world.output('update_podcast', args);
    expect(object(changed, 'podcast')).toMatchObject({ subtitle: 'Of the sea', version: version + 1 });
    expect(await failure('update_podcast', args)).toMatchObject({ code: 'version_conflict' });
  });
});

describe('uploads', () => {
  test('a file in one piece is sent and completed', async () => {
    const bytes = Buffer.from('WEBVTT\n');
    const args = { filename: 'one.vtt', filesize: bytes.length, idempotency_key: key() };
    const granted = await world.output('create_upload', args);
    expect(granted).toMatchObject({ content_type: 'text/vtt', parts: null });
    expect(await world.output('create_upload', args)).toEqual(granted);
    expect(await failure('complete_upload', { upload_id: granted['upload_id'] })).toMatchObject({
      code: 'upload_not_received',
    });
    const headers = { 'content-type': String(granted['content_type']) };
    const sent = await fetch(String(granted['upload_url']), { method: 'PUT', body: bytes, headers });
    expect(sent.status).toBe(200);
    const done = { upload_id: granted['upload_id'], state: 'received', file_url: granted['file_url'] };
    expect(await world.output('complete_upload', { upload_id: granted['upload_id'] })).toEqual(done);
    expect(await world.output('complete_upload', { upload_id: granted['upload_id'] })).toEqual(done);
  });

  test('a file in parts is joined', async () => {
    const partSize = 31_457_280;
    const bytes = Buffer.concat([Buffer.alloc(partSize, 1), randomBytes(10)]);
    const granted = await world.output('create_upload', { filename: 'long.mp3', filesize: bytes.length });
    const parts = granted['parts'] as {
      part_size: number;
      part_count: number;
      addresses: { part_number: number; url: string }[];
    };
    expect(parts).toMatchObject({
      part_size: partSize,
      part_count: 2,
      addresses: [{ part_number: 1 }, { part_number: 2 }],
    });
    const sent = await Promise.all(
      parts.addresses.map(async ({ part_number, url }) => {
        const body = bytes.subarray((part_number - 1) * partSize, part_number * partSize);
        const { headers } = await fetch(url, { method: 'PUT', body });
        return { part_number, etag: headers.get('etag')! };
      }),
    );
    const wrong = sent.map((part) => ({ ...part, etag: '"0"' }));
    expect(await failure('complete_upload', { upload_id: granted['upload_id'], parts: wrong })).toMatchObject({
      code: 'upload_not_received',
    });
    const completed = await world.output('complete_upload', { upload_id: granted['upload_id'], parts: sent });
    expect(completed).toMatchObject({ state: 'received' });
  });

  test('an upload of somebody else does not exist', async () => {
    const granted = await world.output('create_upload', { filename: 'one.vtt' });
    expect(await failure('complete_upload', { upload_id: granted['upload_id'] }, 'stranger')).toMatchObject({
      code: 'not_found',
    });
  });

  test.each([
    [{ filename: 'one.exe' }, 'validation_failed'],
    [{ filename: 'one.mp3', filesize: 40_000_000, first_part: 3 }, 'validation_failed'],
  ])('%j is refused', async (args, code) => {
    expect(await failure('create_upload', args)).toMatchObject({ code });
  });
});

describe('productions', () => {
  test('are made of an upload, started and stopped', async () => {
    const { id } = await draft();
    const granted = await world.output('create_upload', { filename: 'one.mp3', filesize: 3 });
    const headers = { 'content-type': String(granted['content_type']) };
    await fetch(String(granted['upload_url']), { method: 'PUT', body: 'abc', headers });
    const made = await world.output('create_production', { episode_id: id, upload_id: granted['upload_id'] });
    const production = object(made, 'production');
    expect(production).toMatchObject({ state: 'initial', file_url: granted['file_url'] });
    // The encoder is away: a start says so, and changes nothing.
    const start = { production_id: production['id'], action: 'start' };
    expect(await failure('control_production', start)).toMatchObject({ code: 'temporarily_unavailable' });
    expect(await failure('control_production', { ...start, action: 'stop' })).toMatchObject({
      code: 'state_not_allowed',
    });
  });

  test('take one name of a file', async () => {
    const args = { episode_id: world.content.draft, upload_id: 'upl_1', file_url: 'https://a.example/a.mp3' };
    expect(await failure('create_production', args)).toMatchObject({ code: 'validation_failed' });
  });
});

describe('publish_episode', () => {
  const preview = async (args: Record<string, unknown>, as?: string) =>
    (await world.output('publish_episode', args, as)) as Output & { confirm_token: string };

  test('shows what it would do, does it once it is confirmed, and a retry has no further effect', async () => {
    const { id } = await world.content.playable('Fifth');
    const args = { episode_id: id, expected_version: (await episodeOf(id)).version, mode: 'now' };
    const shown = await preview(args);
    expect(shown).toMatchObject({
      status: 'preview',
      object: { kind: 'episode', id, title: 'Fifth', state: 'draft' },
      effect: 'The episode appears in the feed.',
      feed_url: expect.stringContaining('http://media.test/feeds/'),
      downloads_so_far: null,
    });
    expect(await episodeOf(id)).toMatchObject({ state: 'draft' });
    const confirmed = { ...args, confirm_token: shown.confirm_token };
    const done = await world.output('publish_episode', confirmed);
    expect(done).toMatchObject({ status: 'done', episode: { state: 'published' } });
    const again = await world.output('publish_episode', confirmed);
    expect(again['operation_id']).toBe(done['operation_id']);
    expect(await world.output('get_operation', { operation_id: done['operation_id'] })).toMatchObject({
      state: 'succeeded',
      command: 'episode.publish',
    });
    const unpublish = { ...args, expected_version: (await episodeOf(id)).version, mode: 'unpublish' };
    expect(await preview(unpublish)).toMatchObject({ downloads_so_far: 0 });
  });

  test('a confirmation belongs to one grant, one tool, its arguments and one key', async () => {
    const { id } = await world.content.playable('Sixth');
    const args = { episode_id: id, expected_version: (await episodeOf(id)).version, mode: 'now' };
    const { confirm_token } = await preview(args);
    const rejected = { code: 'policy_rejected' };
    expect(await failure('publish_episode', { ...args, confirm_token }, 'second')).toMatchObject(rejected);
    expect(await failure('publish_episode', { ...args, mode: 'unpublish', confirm_token })).toMatchObject(rejected);
    expect(
      await failure('delete_content', { kind: 'episode', id, expected_version: args.expected_version, confirm_token }),
    ).toMatchObject(rejected);
    expect(await failure('publish_episode', { ...args, confirm_token: 'cfm_invented' })).toMatchObject(rejected);
    await world.output('publish_episode', { ...args, confirm_token, idempotency_key: 'publish-sixth' });
    expect(await failure('publish_episode', { ...args, confirm_token, idempotency_key: 'other' })).toMatchObject(
      rejected,
    );
  });

  test('schedules without a preview', async () => {
    const { id } = await world.content.playable('Seventh');
    const publish_at = new Date(Date.now() + 86_400_000).toISOString();
    const args = { episode_id: id, expected_version: (await episodeOf(id)).version, mode: 'schedule', publish_at };
    expect(await world.output('publish_episode', args)).toMatchObject({
      status: 'done',
      episode: { state: 'scheduled' },
    });
  });

  test('gives no preview for an episode without audio: nothing could be confirmed', async () => {
    const { id, version } = await draft('Silent');
    expect(await failure('publish_episode', { episode_id: id, expected_version: version, mode: 'now' })).toMatchObject({
      code: 'episode_has_no_audio',
      message: 'Before publishing, “Silent” still needs audio.',
    });
  });

  test.each([
    ['an old version', { expected_version: 99, mode: 'now' }, 'version_conflict', 'owner'],
    [
      'a time without a plan for it',
      { expected_version: 1, mode: 'now', publish_at: '2030-01-01T00:00:00Z' },
      'validation_failed',
      'owner',
    ],
    ['a person who may only look', { expected_version: 1, mode: 'now' }, 'permission_denied', 'viewer'],
  ])('gives no preview for %s', async (_what, args, code, as) => {
    expect(await failure('publish_episode', { episode_id: (await draft()).id, ...args }, as)).toMatchObject({ code });
  });
});

describe('delete_content', () => {
  const confirm = async (args: Record<string, unknown>) => {
    const shown = await world.output('delete_content', args);
    expect(shown).toMatchObject({ status: 'preview' });
    return world.output('delete_content', { ...args, confirm_token: shown['confirm_token'] });
  };

  test('archives an episode', async () => {
    const { id, version } = await draft();
    const done = await confirm({ kind: 'episode', id, expected_version: version });
    expect(done).toMatchObject({ status: 'done', kind: 'episode', id, consequences: [] });
    expect(await failure('get_episode', { episode_id: id })).toMatchObject({ code: 'not_found' });
  });

  test('deletes a media clip, and names the episode that it takes out of the feed', async () => {
    const { id, clipId } = await world.content.playable('Eighth');
    await world.management.execute(await world.askerOf('owner'), {
      ...{ type: 'episode.publish', subjectId: id, changes: {} },
    } as const);
    const done = await confirm({ kind: 'media_clip', id: clipId, expected_version: 1 });
    expect(done['consequences']).toMatchObject([{ kind: 'episode', id, event: 'episode.unpublished' }]);
  });

  test('deletes a production', async () => {
    const { id } = await draft();
    const made = await world.output('create_production', { episode_id: id });
    const production = object(made, 'production');
    const args = { kind: 'production', id: production['id'], expected_version: production['version'] };
    expect(await confirm(args)).toMatchObject({ status: 'done', kind: 'production' });
  });

  test.each(['episode', 'media_clip', 'production'])('gives no preview of a %s that does not exist', async (kind) => {
    const args = { kind, id: 'nothing', expected_version: 1 };
    expect(await failure('delete_content', args)).toMatchObject({ code: 'not_found' });
  });
});

test('every tool that changes something has a case here', () => {
  const writers = tools.filter(({ hints }) => !hints.readOnlyHint).map(({ name }) => name);
  expect(writers.sort()).toEqual(
    [
      ...['complete_upload', 'control_production', 'create_episode', 'create_production', 'create_upload'],
      ...['delete_content', 'publish_episode', 'request_history_export', 'update_episode', 'update_podcast'],
    ].sort(),
  );
});
