import { expect, test } from '@jest/globals';
import type { Actor } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { createAccess } from '../src/workspace/access/access.ts';
import { serveHttp } from './_http.ts';
import { api, management } from './_shared-http.ts';
import { clipOf, person, service } from './_values.ts';
import { createWorld } from './_world.ts';

type Person = Extract<Actor, { kind: 'principal' }>;

test('who sees only a podcast gets a receipt without clients, terms and what they do not see, and so without its signature; operations hide the same', async () => {
  const world = createWorld(management);
  const production = await world.encoded();
  const clip = await world.send('media_clip.record', null, clipOf(production), service('management'));
  const deleted = await api.call(`/workspaces/${world.workspaceId}/commands/production.delete`, {
    token: api.tokenFor(world.actor),
    headers: { 'idempotency-key': newId('req') },
    body: { subject: { type: 'productions', id: production.id, version: production.version }, changes: {} },
  });
  expect(deleted.status).toBe(200);
  const path = `/workspaces/${world.workspaceId}/receipts/${deleted.json.receipt_id}`;
  const { rows } = await management.pool.query<{ podcast_id: string }>(
    `select attributes ->> 'podcast_id' as podcast_id from resource where id = $1`,
    [production.attributes['episode_id']],
  );
  const guest = person(newId('ws')) as Person;
  const grant = { workspace_id: world.workspaceId, podcast_id: rows[0]!.podcast_id };
  const collaborator = {
    ...guest,
    principal: { ...guest.principal, grants: [{ ...grant, roles: ['owner' as const, 'admin' as const] }] },
  };

  const { json: whole } = await api.call(path, { token: api.tokenFor(world.actor) });
  expect(whole).toMatchObject({ jws: expect.any(String), statement: { client_id: expect.any(String) } });
  const { id, kind, operation_id, command_type, subject, accepted_at, proves, consequences } = whole.statement;
  const statement = {
    id,
    workspace_id: world.workspaceId,
    kind,
    operation_id,
    command_type,
    subject,
    accepted_at,
    proves,
  };
  expect(consequences).toMatchObject([{ type: 'media_clips', id: clip.id }]);
  const part = { id, workspace_id: world.workspaceId, operation_id, statement };
  expect((await api.call(path, { token: api.tokenFor(collaborator) })).json).toEqual({
    ...part,
    statement: { ...statement, consequences },
  });
  expect((await api.call(path, { token: api.tokenFor(person(newId('ws'))) })).status).toBe(404);

  const operationPath = `/workspaces/${world.workspaceId}/operations/${operation_id}`;
  const wholeOperation = await api.call(operationPath, { token: api.tokenFor(collaborator) });
  expect(wholeOperation.json).toMatchObject({ consequences: [{ type: 'media_clips', id: clip.id }] });

  const access = { ...createAccess(management.pool), sees: async () => false };
  await using blind = await serveHttp(management, { access });
  expect((await blind.call(path, { token: blind.tokenFor(collaborator) })).json).toEqual(part);
  const { consequences: _hidden, ...partOfOperation } = wholeOperation.json;
  expect((await blind.call(operationPath, { token: blind.tokenFor(collaborator) })).json).toEqual(partOfOperation);
});
