import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { subjectOf, type Actor } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { renewLease } from '../src/background/job-table.ts';
import { mp3, startOutsideHost, type OutsideHost } from './_outside-host.ts';
import { mediaUrl, startTestManagement, type TestManagement } from './_management.ts';
import { balanceOf, guestIn, hour, jobOf, productionOf, service } from './_values.ts';
import { createWorld } from './_world.ts';

let management: TestManagement;
let host: OutsideHost;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  management = stack.use(await startTestManagement());
  host = stack.use(await startOutsideHost());
});
beforeEach(() => {
  management.publicFetch = host.publicFetch;
  management.probeMs = 60_000;
});
afterAll(async () => stack.disposeAsync());

const codeOf = (error: unknown) => (error instanceof Problem ? error.code : String(error));

test('a file on another host is probed, then the encoder gets its address', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(hour);
  const url = host.serve('Harbour%20Light.mp3', { body: mp3(), type: 'audio/mpeg' });
  const episode = await world.episode();
  const production = await world.send('production.create', null, { episode_id: episode.id, file_url: url });
  expect(production.attributes).toMatchObject({ file_url: url, files: [], publication_flag: false });
  expect(production.attributes).not.toHaveProperty('storage_key');
  expect(host.requests).toEqual(
    expect.arrayContaining(['HEAD /Harbour%20Light.mp3', 'GET /Harbour%20Light.mp3 bytes=0-4095']),
  );
  await world.send('production.start', production, {});
  expect((await jobOf(management.pool, production.id))?.input).toEqual({
    production_id: production.id,
    episode_id: episode.id,
    source_url: url,
    filename: 'Harbour Light.mp3',
    declared_size_bytes: null,
    loudness_target_lufs: -16,
    title: 'One',
    podcast_title: 'Harbour Light',
  });
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
});

test.each([
  ['does not answer', () => 'http://127.0.0.1:1/a.mp3', /nothing/],
  ['answers with 404', () => host.serve('gone', { body: mp3(), status: 404 }), /404/],
  ['answers with nothing in it', () => host.serve('empty', { body: Buffer.alloc(0), type: 'audio/mpeg' }), /empty/],
  [
    'is a web page',
    () => host.serve('page', { body: Buffer.from('<html>'), type: 'text/html' }),
    /text\/html, which is neither audio nor video/,
  ],
  [
    'is a web page that calls itself audio',
    () => host.serve('liar', { body: Buffer.from('\n<!doctype html>'), type: 'audio/mpeg' }),
    /neither/,
  ],
  ['is on this machine', () => 'https://127.0.0.1/a.mp3', /nothing/],
])('an outside address that %s is refused by field before anything is stored', async (_name, address, words) => {
  const world = createWorld(management);
  const episode = await world.episode();
  await expect(
    world.send('production.create', null, { episode_id: episode.id, file_url: address() }),
  ).rejects.toMatchObject({
    code: 'media_not_fetchable',
    status: 422,
    message: expect.stringMatching(words),
    context: { errors: [{ path: '/changes/file_url' }] },
  });
  const { rowCount } = await management.pool.query(
    "select 1 from resource where workspace_id = $1 and resource_type = 'productions'",
    [world.workspaceId],
  );
  expect(rowCount).toBe(0);
});

test('a host that ignores ranges and HEAD still serves a source, when it looks like video', async () => {
  const world = createWorld(management);
  const body = Buffer.concat([Buffer.from('\0\0\0\x18ftypqt  ', 'latin1'), Buffer.alloc(100_000)]);
  const file_url = host.serve('clip.mov', { body, ranges: false, headStatus: 405 });
  const episode = await world.episode();
  await world.send('production.create', null, { episode_id: episode.id, file_url });
});

test('an address of this installation that is no upload of the account is refused without being fetched', async () => {
  const world = createWorld(management);
  const episode = await world.episode();
  const foreign = String((await createWorld(management).upload()).attributes['file_url']);
  management.publicFetch = () => Promise.reject(new Error('asked'));
  for (const file_url of [foreign, `${mediaUrl}/delivery/v1/a/${'a'.repeat(64)}/x.mp3`, `${mediaUrl}/feeds/x.xml`])
    await expect(world.send('production.create', null, { episode_id: episode.id, file_url })).rejects.toMatchObject({
      code: 'upload_not_received',
      context: { errors: [{ path: '/changes/file_url' }] },
    });
});

test("a collaborator's upload in the own workspace becomes a production of the other's podcast, not a stranger's", async () => {
  const owner = createWorld(management);
  const collaborator = createWorld(management);
  await owner.setEncodingLimit(hour);
  const upload = await collaborator.upload();
  const episode = await owner.episode();
  const changes = { episode_id: episode.id, file_url: upload.attributes['file_url'] };
  const acting = (actor: Actor): Actor => guestIn(owner.workspaceId, actor, ['editor', 'producer']);
  const production = await owner.send('production.create', null, changes, acting(collaborator.actor));
  const kept = String(production.attributes['storage_key']);
  expect(kept).toMatch(new RegExp(`^uploads/${upload.id}/[0-9a-f]{32}/one.mp3$`));
  expect(production.attributes).not.toHaveProperty('upload_id');
  await owner.send('production.start', production, {});
  expect((await jobOf(management.pool, production.id))?.input).toMatchObject({ storage_key: kept });
  const stranger = acting(createWorld(management).actor);
  await expect(owner.send('production.create', null, changes, stranger)).rejects.toMatchObject({
    code: 'upload_not_received',
  });
});

test('imported audio reserves and uses no encoding time and is not probed', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(0);
  const production = await world.send(
    'production.derive',
    null,
    {
      episode_id: (await world.episode()).id,
      file_url: host.serve('old.mp3', { body: mp3(), type: 'audio/mpeg' }),
      imported: true,
      publication_flag: true,
    },
    service('management'),
  );
  const { probes } = management;
  const started = await world.send('production.start', production, {}, service('management'));
  expect(management.probes).toBe(probes);
  const lease = await world.lease('encode_production', production.id);
  const done = await world.send('production.complete', started, world.completion, service('encoder'), lease);
  expect(done.attributes).toMatchObject({ imported: true, publication_flag: true });
  expect(await balanceOf(management.pool, world.workspaceId)).toBeUndefined();
});

test('imported audio that gets another file is an ordinary production: it uses encoding time and no batch asked for it', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(1000);
  const derived = await world.send(
    'production.derive',
    null,
    {
      episode_id: (await world.episode()).id,
      file_url: host.serve('moved.mp3', { body: mp3(), type: 'audio/mpeg' }),
      imported: true,
      batch_encoding_id: newId('bat'),
    },
    service('management'),
  );
  const reset = await world.send('production.revise', derived, { state: 'initial' });
  expect(reset.attributes).toMatchObject({ imported: true });
  const revised = await world.send('production.revise', reset, {
    file_url: (await world.upload()).attributes['file_url'],
  });
  for (const gone of ['imported', 'batch_encoding_id']) expect(revised.attributes).not.toHaveProperty(gone);
  await expect(world.send('production.start', revised, {})).rejects.toMatchObject({
    code: 'encoding_time_exhausted',
    status: 402,
  });
});

test('a file that cannot be probed reserves a minute; what its encoding took is counted', async () => {
  const world = createWorld(management);
  management.probeMs = 0;
  const { production, lease } = await world.encoding();
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 60_000, used: 0 });
  await world.send('production.complete', production, world.completion, service('encoder'), lease);
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 60_000 });
});

test('a stop returns the encoding time, ends the job and its operation, and stops the encoder', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const stopped = await world.send('production.stop', production, {});
  expect(stopped).toMatchObject({ lifecycle_state: 'initial', version: 3 });
  expect(stopped.attributes).not.toHaveProperty('reserved_encoding_ms');
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 0 });
  expect(await jobOf(management.pool, production.id)).toMatchObject({ state: 'stopped', stop_requested: true });
  expect(await renewLease(management.pool, lease.job_id, lease.lease_id, 30_000)).toEqual({ held: false, stop: true });
  const { rows } = await management.pool.query(
    "select state from operation where subject_id = $1 and command_type = 'production.start'",
    [production.id],
  );
  expect(rows).toEqual([{ state: 'cancelled' }]);
  await expect(
    world.send('production.complete', stopped, world.completion, service('encoder'), lease),
  ).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('a report of a stopped encoding is refused while the next one runs, and changes nothing', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const again = await world.send('production.start', await world.send('production.stop', production, {}), {});
  await expect(
    world.send('production.complete', again, world.completion, service('encoder'), lease),
  ).rejects.toMatchObject({ code: 'lease_lost' });
  const next = await world.lease('encode_production', production.id);
  expect(next.job_id).not.toBe(lease.job_id);
  await world.send('production.complete', again, world.completion, service('encoder'), next);
  expect(await balanceOf(management.pool, world.workspaceId)).toEqual({ reserved: 0, used: 60_000 });
});

test('a job that is not claimed yet is never claimed after a stop', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const production = await world.send('production.start', await world.production(), {});
  await world.send('production.stop', production, {});
  await expect(world.lease('encode_production', production.id)).rejects.toThrow('no encode_production job');
});

test('of a stop and a completion at the same moment one wins, and the time is settled once, twenty times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 20; round++) {
    const { production, lease } = await world.encoding();
    const before = (await balanceOf(management.pool, world.workspaceId))!.used;
    const stop = () => world.send('production.stop', production, {});
    const complete = () => world.send('production.complete', production, world.completion, service('encoder'), lease);
    const pair = round % 2 === 0 ? [stop, complete] : [complete, stop];
    const answers = await Promise.allSettled(pair.map((send) => send()));
    const won = answers.filter((answer) => answer.status === 'fulfilled');
    expect(won).toHaveLength(1);
    const lost = answers.find((answer) => answer.status === 'rejected')!;
    expect(['state_not_allowed', 'version_conflict', 'lease_lost']).toContain(codeOf(lost.reason));
    const isStopped = won[0]!.value.lifecycle_state === 'initial';
    expect(await balanceOf(management.pool, world.workspaceId)).toEqual({
      reserved: 0,
      used: before + (isStopped ? 0 : 60_000),
    });
    expect((await jobOf(management.pool, production.id))?.state).toBe(isStopped ? 'stopped' : 'done');
  }
});

test('publication_flag may change at any time; while it is encoded nothing else may', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  const flagged = await world.send('production.revise', production, { publication_flag: true });
  expect(flagged).toMatchObject({
    lifecycle_state: 'encoding',
    attributes: { publication_flag: true, reserved_encoding_ms: 60_000 },
  });
  const file_url = (await world.upload()).attributes['file_url'];
  for (const changes of [{ file_url }, { state: 'initial' }])
    await expect(world.send('production.revise', flagged, changes)).rejects.toMatchObject({
      code: 'state_not_allowed',
      message: expect.stringContaining('Stop it first'),
    });
  const encoded = await world.send('production.complete', flagged, world.completion, service('encoder'), lease);
  const quiet = await world.send('production.revise', encoded, { publication_flag: false });
  expect(quiet).toMatchObject({ lifecycle_state: 'encoded', attributes: { files: encoded.attributes['files'] } });
});

test('a failed production is ready again by state "initial" or by another file, and forgets the failure', async () => {
  const world = createWorld(management);
  const fail = async () => {
    const { production, lease } = await world.encoding();
    const problem = { code: 'media_empty', detail: 'The file is empty.' };
    return world.send('production.fail', production, { problem }, service('encoder'), lease);
  };
  const failed = await fail();
  await expect(world.send('production.start', failed, {})).rejects.toMatchObject({ code: 'state_not_allowed' });
  const reset = await world.send('production.revise', failed, { state: 'initial' });
  expect(reset.lifecycle_state).toBe('initial');
  expect(reset.attributes).not.toHaveProperty('problem');
  expect(reset.attributes).toMatchObject({ file_url: failed.attributes['file_url'], files: [] });
  await world.send('production.start', reset, {});

  const upload = await world.upload('two.mp3');
  const other = await world.send('production.revise', await fail(), { file_url: upload.attributes['file_url'] });
  expect(other).toMatchObject({
    lifecycle_state: 'initial',
    attributes: {
      upload_id: upload.id,
      storage_key: expect.stringMatching(`^uploads/${upload.id}/[0-9a-f]{32}/two.mp3$`),
    },
  });
  expect(other.attributes).not.toHaveProperty('problem');
});

test('an encoded production takes another file only as long as its episode does not use it', async () => {
  const world = createWorld(management);
  const encoded = await world.encoded();
  expect(encoded.attributes).toMatchObject({ silences: world.completion.silences });
  await expect(world.send('production.revise', encoded, { state: 'initial' })).rejects.toMatchObject({
    code: 'state_not_allowed',
  });
  const url = host.serve('new.mp3', { body: mp3(), type: 'audio/mpeg' });
  const replaced = await world.send('production.revise', encoded, { file_url: url });
  expect(replaced).toMatchObject({ lifecycle_state: 'initial', attributes: { file_url: url, files: [] } });
  for (const gone of ['upload_id', 'storage_key', 'audio_duration_ms', 'loudness', 'silences'])
    expect(replaced.attributes).not.toHaveProperty(gone);

  const episode = await world.playableEpisode();
  const current = await productionOf(management.pool, episode);
  const refusal = { code: 'state_not_allowed', message: expect.stringContaining('It is the audio of “One”') };
  await expect(world.send('production.revise', current, { file_url: url })).rejects.toMatchObject(refusal);
});

test('one command creates and starts a production; when it cannot be started, nothing is created and the key stays free', async () => {
  const world = createWorld(management);
  const { id } = await world.episode();
  const file_url = (await world.upload()).attributes['file_url'];
  const request = {
    workspaceId: world.workspaceId,
    commandType: 'production.create',
    idempotencyKey: newId('req'),
    subject: { type: 'productions', id: null },
    changes: { episode_id: id, file_url, state: 'encoding' },
  };
  const productions = async () =>
    (
      await management.pool.query("select 1 from resource where workspace_id = $1 and resource_type = 'productions'", [
        world.workspaceId,
      ])
    ).rowCount;
  await world.setEncodingLimit(1000);
  for (const _try of [1, 2])
    await expect(management.execute(request, world.actor)).rejects.toMatchObject({ code: 'encoding_time_exhausted' });
  expect([await productions(), await balanceOf(management.pool, world.workspaceId)]).toEqual([0, undefined]);
  await world.setEncodingLimit(hour);
  const first = await management.execute(request, world.actor);
  expect(first.resource).toMatchObject({ version: 1, lifecycle_state: 'encoding' });
  expect(subjectOf(await management.execute(request, world.actor)).id).toBe(subjectOf(first).id);
  expect([await productions(), await balanceOf(management.pool, world.workspaceId)]).toEqual([
    1,
    { reserved: 60_000, used: 0 },
  ]);
  const lease = await world.lease('encode_production', subjectOf(first).id);
  expect(
    await world.send('production.complete', subjectOf(first), world.completion, service('encoder'), lease),
  ).toMatchObject({ lifecycle_state: 'encoded' });
  const nowhere = {
    ...request,
    idempotencyKey: newId('req'),
    changes: { ...request.changes, episode_id: newId('ep') },
  };
  await expect(management.execute(nowhere, world.actor)).rejects.toMatchObject({ code: 'link_not_found' });
});

test('a production without audio is started once a file is attached, and refused in a sentence before', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(hour);
  const { id } = await world.episode();
  const refusal = {
    code: 'production_has_no_audio',
    status: 422,
    message: 'The production has no audio yet. Attach a file before you start it.',
  };
  const create = (changes: object) => world.send('production.create', null, { episode_id: id, ...changes });
  await expect(create({ state: 'encoding' })).rejects.toMatchObject(refusal);
  const empty = await create({});
  expect(empty).toMatchObject({ lifecycle_state: 'initial', attributes: { files: [], publication_flag: false } });
  await expect(world.send('production.start', empty, {})).rejects.toMatchObject(refusal);
  const upload = await world.upload();
  const attached = await world.send('production.revise', empty, { file_url: upload.attributes['file_url'] });
  expect(attached.attributes).toMatchObject({ upload_id: upload.id });
  expect(await world.send('production.start', attached, {})).toMatchObject({ lifecycle_state: 'encoding' });
});

test('sending the present file of an encoded production changes nothing', async () => {
  const world = createWorld(management);
  const encoded = await world.encoded();
  const { file_url } = encoded.attributes;
  const same = await world.send('production.revise', encoded, { file_url, publication_flag: true });
  expect(same).toMatchObject({
    lifecycle_state: 'encoded',
    attributes: { files: encoded.attributes['files'], publication_flag: true },
  });
});
