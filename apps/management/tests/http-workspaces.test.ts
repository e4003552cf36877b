import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256 } from '@longwave/test-kit';
import { api, management } from './_shared-http.ts';
import { guestIn, media, person, service } from './_values.ts';
import { createWorld } from './_world.ts';

test('a person finds every workspace in which they see anything, with their roles, and no other', async () => {
  const [own, other, foreign] = [createWorld(management), createWorld(management), createWorld(management)];
  for (const { workspaceId } of [own, other, foreign])
    await management.execute(
      {
        workspaceId,
        commandType: 'workspace.provision',
        idempotencyKey: 'provision',
        subject: { type: 'workspaces', id: workspaceId },
        changes: { name: 'Harbour Light', account_id: newId('acc') },
      },
      service('management'),
    );
  const visitor = guestIn(other.workspaceId, own.actor, ['viewer']);
  const { status, json } = await api.call('/workspaces', { token: api.tokenFor(visitor) });
  expect(status).toBe(200);
  expect(json.rows.map(({ id, roles }: { id: string; roles: string[] }) => [id, roles])).toEqual([
    [own.workspaceId, expect.arrayContaining(['owner'])],
    [other.workspaceId, ['viewer']],
  ]);
  expect(JSON.stringify(json)).not.toContain(foreign.workspaceId);
});

test('a file that was granted is sent to its signed address, by whoever may grant uploads alone', async () => {
  const world = createWorld(management);
  const [owner, viewer] = [world.actor, guestIn(world.workspaceId, person(newId('ws')), ['viewer'])];
  const [token, foreign] = [api.tokenFor(owner), api.tokenFor(person(newId('ws')))];
  const bytes = Buffer.from('the ad');
  const granted = await api.call(`/workspaces/${world.workspaceId}/commands/upload.grant`, {
    token,
    headers: { 'idempotency-key': newId('req') },
    body: {
      subject: { type: 'uploads', id: null },
      changes: { filename: 'ad.mp3', filesize: bytes.length, checksum_sha256: sha256(bytes) },
    },
  });
  const { id } = granted.json.subject;
  const path = `/workspaces/${world.workspaceId}/uploads/${id}/address`;
  const { json } = await api.call(path, { token });
  const put = (body: Buffer) => fetch(json.url, { method: 'PUT', headers: json.headers, body: new Uint8Array(body) });
  expect((await put(Buffer.from('another'))).ok).toBe(false);
  expect((await put(bytes)).ok).toBe(true);
  expect(granted.text).not.toContain('Signature');
  expect((await api.call(path, { token: api.tokenFor(viewer) })).json.code).toBe('permission_denied');
  expect((await api.call(path, { token: foreign })).status).toBe(404);
});

test('whoever sees a creative gets an address that plays its first stored stream and expires; without a stream, and for others, it is not there', async () => {
  const own = createWorld(management);
  const creative = await own.preparedCreative();
  const token = api.tokenFor(own.actor);
  const path = `/workspaces/${own.workspaceId}/creatives/${creative.id}/audio`;
  expect(await api.call(path, { token })).toMatchObject({ status: 404, json: { code: 'not_found' } });
  await management.store.put(media.storage_key, Buffer.from('frames'), { contentType: 'audio/mpeg' });
  const asked = Date.now();
  const { status, json, headers } = await api.call(path, { token });
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(json).toMatchObject({ duration_ms: media.duration_ms, loudness_lufs: media.loudness_lufs });
  const heard = await fetch(json.url as string);
  expect([heard.headers.get('content-type'), await heard.text()]).toEqual(['audio/mpeg', 'frames']);
  expect(Date.parse(json.expires_at as string)).toBeLessThanOrEqual(asked + 3_660_000);

  const foreign = createWorld(management);
  const stranger = { token: api.tokenFor(foreign.actor) };
  expect(await api.call(path, stranger)).toMatchObject({ status: 404 });
  const elsewhere = `/workspaces/${foreign.workspaceId}/creatives/${creative.id}/audio`;
  expect(await api.call(elsewhere, stranger)).toMatchObject({ status: 404, json: { code: 'not_found' } });
  const draft = await own.creative();
  const none = `/workspaces/${own.workspaceId}/creatives/${draft.id}/audio`;
  expect(await api.call(none, { token })).toMatchObject({ status: 404, json: { code: 'not_found' } });
});
