import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { sha256 } from '@longwave/test-kit';
import { api, management } from './_shared-http.ts';
import { guestIn, person, service } from './_values.ts';
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
