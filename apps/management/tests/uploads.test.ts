import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { ResourceView } from '@longwave/events';
import { newId } from '@longwave/ids';
import { checksumHeaders } from '@longwave/object-store';
import { sha256 } from '@longwave/test-kit';
import { startTestManagement, type TestManagement } from './_management.ts';
import { hour, service } from './_values.ts';
import { createWorld, type World } from './_world.ts';
import { produceFrom, uploadsOf } from './_uploads.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
beforeEach(() => {
  management.aheadMs = 0;
});
afterAll(async () => management[Symbol.asyncDispose]());

const { grantAs, signer, sign, receive } = uploadsOf(() => management);

test('the same key answers the same file address; with another name or size it is 409', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const first = await grantAs(world, 'retry-1', changes);
  const again = await grantAs(world, 'retry-1', changes);
  expect(again).toMatchObject({ replayed: true, resource: { id: first.resource.id } });
  expect(again.resource.attributes['file_url']).toBe(first.resource.attributes['file_url']);
  for (const other of [{ filename: 'two.mp3' }, { filesize: 4 }, { upload_type: 'private' }])
    await expect(grantAs(world, 'retry-1', { ...changes, ...other })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      status: 409,
    });
});

test('a retry under a rotated key is the same command: one upload', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const first = await grantAs(world, 'rotated-1', changes);
  if (world.actor.kind !== 'principal') throw new Error('a person grants');
  const { principal } = world.actor;
  const rotated = (client_id: string): World => ({
    ...world,
    actor: { kind: 'principal', principal: { ...principal, credential_id: newId('crd'), client_id } },
  });
  const again = await grantAs(rotated(principal.credential_id), 'rotated-1', changes);
  expect(again).toMatchObject({ replayed: true, resource: { id: first.resource.id } });
  const other = await grantAs(rotated('another'), 'rotated-1', changes);
  expect(other).toMatchObject({ replayed: false });
});

test('a grant is signed afresh later, for the same object, and the URL works', async () => {
  const world = createWorld(management);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.mp3' });
  management.aheadMs = 2 * hour;
  const { url, expiresAtMs } = await signer().signUpload(world.workspaceId, upload.id);
  expect(Number(expiresAtMs) - management.clock().getTime()).toBeGreaterThan(hour - 10_000);
  expect((await fetch(url, { method: 'PUT', body: 'abc' })).status).toBe(200);
  expect(await management.store.find(String(upload.attributes['storage_key']))).toMatchObject({ sizeBytes: 3 });
});

test('a grant whose file arrived and is used can be repeated: the same address, and a URL that takes the file again', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3 };
  const { resource: upload } = await grantAs(world, 'retry-2', changes);
  const put = async () => (await fetch(await sign(world, upload), { method: 'PUT', body: 'abc' })).status;
  expect(await put()).toBe(200);
  await receive(world, upload);
  const again = await grantAs(world, 'retry-2', changes);
  expect(again.resource).toMatchObject({
    id: upload.id,
    lifecycle_state: 'received',
    attributes: { file_url: upload.attributes['file_url'] },
  });
  expect(await put()).toBe(200);
  management.aheadMs = 30 * 24 * hour;
  await sign(world, upload);
});

test('parts of a multipart upload are signed while it is open, in its own workspace, and never when it arrived', async () => {
  const world = createWorld(management);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.wav', filesize: 40_000_000 });
  const {
    upload_key: key,
    multipart_upload_id: id,
    part_size: partSize,
  } = upload.attributes['multipart'] as {
    upload_key: string;
    multipart_upload_id: string;
    part_size: number;
  };
  expect(partSize).toBe(31_457_280);
  const failed = { code: 'validation_failed', message: 'URL generation failed' };
  expect((await signer().signPart(world.workspaceId, key, id, 1)).url).toContain('partNumber=1');
  await expect(signer().signPart(world.workspaceId, key, id, 10_001)).rejects.toMatchObject(failed);
  await expect(signer().signPart(createWorld(management).workspaceId, key, id, 1)).rejects.toMatchObject(failed);
  await expect(signer().signCompletion(world.workspaceId, key, 'another')).rejects.toMatchObject(failed);
  await receive(world, upload);
  await expect(signer().signPart(world.workspaceId, key, id, 1)).rejects.toMatchObject(failed);
});

test('a URL takes exactly the declared number of bytes; without a declared size, any', async () => {
  const world = createWorld(management);
  const put = async (changes: Record<string, unknown>, body: string) => {
    const { resource } = await grantAs(world, newId('req'), { filename: 'one.mp3', ...changes });
    const { status } = await fetch(await sign(world, resource), { method: 'PUT', body });
    return [status, (await management.store.find(String(resource.attributes['storage_key'])))?.sizeBytes];
  };
  expect(await put({ filesize: 10 }, 'x'.repeat(60_000))).toEqual([403, undefined]);
  expect(await put({ filesize: 10 }, 'x'.repeat(9))).toEqual([403, undefined]);
  expect(await put({ filesize: 10 }, 'x'.repeat(10))).toEqual([200, 10]);
  expect(await put({}, 'x'.repeat(60_000))).toEqual([200, 60_000]);
});

test('a URL of a grant with a checksum takes these bytes and no others, however often it is used', async () => {
  const world = createWorld(management);
  const changes = { filename: 'one.mp3', filesize: 3, checksum_sha256: sha256('one') };
  const { resource } = await grantAs(world, newId('req'), changes);
  const url = await sign(world, resource);
  const put = async (body: string, headers: Readonly<Record<string, string>>) =>
    (await fetch(url, { method: 'PUT', body, headers: { 'content-type': 'audio/mpeg', ...headers } })).status;
  const headers = checksumHeaders(changes.checksum_sha256);
  expect(await put('two', headers)).toBe(400);
  expect(await put('two', checksumHeaders(sha256('two')))).toBe(403);
  expect(await put('one', {})).toBe(403);
  expect(await put('one', headers)).toBe(200);
  expect(await put('two', headers)).toBe(400);
  expect((await produce(world, resource)).text).toBe('one');
});

test('other bytes than announced are refused at the first use, and the right ones can be sent after it', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const checksum_sha256 = sha256('one');
  const { resource } = await grantAs(world, newId('req'), { filename: 'one.mp3', checksum_sha256 });
  const key = String(resource.attributes['storage_key']);
  // As from parts, or in a store that does not know the checksum.
  await management.store.put(key, Buffer.from('two'), { contentType: 'audio/mpeg' });
  await expect(produce(world, resource)).rejects.toMatchObject({
    code: 'upload_not_received',
    message: expect.stringContaining(`one.mp3 was announced with the SHA-256 ${checksum_sha256}, but other bytes`),
  });
  await management.store.put(key, Buffer.from('one'), { contentType: 'audio/mpeg' });
  const { production, text } = await produce(world, resource);
  expect(text).toBe('one');
  await world.send('production.start', production, {});
  const { rows } = await management.pool.query('select input from job where subject_id = $1', [production.id]);
  expect(rows[0].input).toMatchObject({ declared_sha256: checksum_sha256 });
});

test('each part has the size that the file gives it, and none is signed once the parts are joined', async () => {
  const world = createWorld(management);
  const filesize = 31_457_280 + 5;
  const { resource } = await grantAs(world, newId('req'), { filename: 'one.wav', filesize });
  const { upload_key: key, multipart_upload_id: id } = resource.attributes['multipart'] as Record<string, string>;
  const part = async (number: number, body: Buffer) => {
    const { url } = await signer().signPart(world.workspaceId, key!, id!, number);
    const answer = await fetch(url, { method: 'PUT', body });
    return [answer.status, answer.headers.get('etag')];
  };
  const failed = { code: 'validation_failed', message: 'URL generation failed' };
  expect(await part(2, Buffer.alloc(6))).toEqual([403, null]);
  await expect(signer().signPart(world.workspaceId, key!, id!, 3)).rejects.toMatchObject(failed);
  const [[, first], [, last]] = [await part(1, Buffer.alloc(31_457_280)), await part(2, Buffer.alloc(5))];
  const list = [first, last].map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  );
  const { url } = await signer().signCompletion(world.workspaceId, key!, id!);
  const body = `<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`;
  expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
  expect(await management.store.find(key!)).toMatchObject({ sizeBytes: filesize });
  await expect(signer().signPart(world.workspaceId, key!, id!, 1)).rejects.toMatchObject(failed);
});

/** A production of this upload, and the text of the bytes that it would be encoded from. */
async function produce(world: World, upload: ResourceView) {
  const production = await produceFrom(world, upload);
  const bytes = await buffer(await management.store.get(String(production.attributes['storage_key'])));
  return { production, text: bytes.toString() };
}

test('a PUT may be repeated until the file is used; bytes that are sent later change nothing', async () => {
  const world = createWorld(management);
  await world.setEncodingLimit(null);
  const { resource: upload } = await grantAs(world, newId('req'), { filename: 'one.mp3', filesize: 3 });
  const url = await sign(world, upload);
  const put = async (body: string, type = 'audio/mpeg') =>
    (await fetch(url, { method: 'PUT', body, headers: { 'content-type': type } })).status;
  expect(await put('one')).toBe(200);
  // Refused, so not a use.
  await expect(
    world.send('media_clip.register', null, {
      episode_id: (await world.episode()).id,
      file_format: 'mp3',
      url: upload.attributes['file_url'],
      duration_ms: 1000,
    }),
  ).rejects.toMatchObject({ code: 'validation_failed' });
  expect(await put('two', 'text/html')).toBe(200);
  await expect(produce(world, upload)).rejects.toMatchObject({ code: 'upload_not_received' });
  expect(await put('two')).toBe(200);
  const { production, text } = await produce(world, upload);
  expect(text).toBe('two');

  expect(await put('bad')).toBe(200);
  const started = await world.send('production.start', production, {});
  const { rows } = await management.pool.query('select input from job where subject_id = $1', [started.id]);
  const { storage_key: key, source_etag: etag } = rows[0].input;
  expect((await buffer(await management.store.get(key))).toString()).toBe('two');
  expect((await management.store.find(key))?.etag).toBe(etag);
  expect((await produce(world, upload)).text).toBe('two');
  const { url: download } = await signer().signDownload(world.workspaceId, upload.id);
  expect(await (await fetch(download)).text()).toBe('two');

  const received = await receive(world, upload);
  expect(received.attributes['storage_key']).toBe(key);
  expect(await put('bad')).toBe(200);
  expect((await produce(world, upload)).text).toBe('two');
});

test('uses of one upload at the same moment as a PUT are all of the same bytes, ten times', async () => {
  const world = createWorld(management);
  for (let round = 0; round < 10; round++) {
    const upload = await world.upload('one.mp3', Buffer.from('abc'));
    const episodes = [await world.episode(), await world.episode(), await world.episode()];
    const url = await sign(world, upload);
    const uses = await Promise.allSettled([
      ...episodes.map(({ id: episode_id }) =>
        world.send('production.create', null, { episode_id, file_url: upload.attributes['file_url'] }),
      ),
      fetch(url, { method: 'PUT', body: 'xyz', headers: { 'content-type': 'audio/mpeg' } }),
    ]);
    const keys = uses.flatMap((use) =>
      use.status === 'fulfilled' && 'attributes' in use.value ? [use.value.attributes['storage_key']] : [],
    );
    keys.push((await produce(world, upload)).production.attributes['storage_key']);
    expect(new Set(keys).size).toBe(1);
    for (const use of uses)
      if (use.status === 'rejected') expect(use.reason).toMatchObject({ code: 'temporarily_unavailable' });
  }
});

test('the peaks and the audio of a production have signed addresses once the encoder has stored them, for whoever sees the production', async () => {
  const world = createWorld(management);
  const { production, lease } = await world.encoding();
  await expect(signer().signWaveform(world.workspaceId, production.id)).rejects.toMatchObject({ code: 'not_found' });
  const peaks = Buffer.from('{"version":2}');
  const key = `media/${sha256(peaks)}`;
  await management.store.put(key, peaks, { contentType: 'application/json' });
  const waveform = {
    role: 'waveform',
    format: 'json',
    storage_key: key,
    size_bytes: peaks.length,
    sha256: sha256(peaks),
  };
  const files = [...world.completion.files, waveform];
  await world.send('production.complete', production, { ...world.completion, files }, service('encoder'), lease);
  const { url, audioUrl: missing } = await signer().signWaveform(world.workspaceId, production.id);
  expect([await (await fetch(url)).text(), missing]).toEqual(['{"version":2}', undefined]);
  const rendition = world.completion.files.find(({ role }) => role === 'rendition')!;
  await management.store.put(rendition.storage_key, Buffer.from('frames'), { contentType: 'audio/mpeg' });
  const { audioUrl } = await signer().signWaveform(world.workspaceId, production.id);
  expect(await (await fetch(audioUrl!)).text()).toBe('frames');
  await expect(signer().signWaveform(newId('ws'), production.id)).rejects.toMatchObject({ code: 'not_found' });
  // An address that fails says nothing to whoever draws it.
  await management.store.remove(key);
  const none = { code: 'not_found', message: expect.stringContaining('no waveform') };
  await expect(signer().signWaveform(world.workspaceId, production.id)).rejects.toMatchObject(none);
});
