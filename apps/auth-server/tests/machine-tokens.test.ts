import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { audienceTokenClaims, tryVerifyAccessToken } from '@longwave/principal';
import { decodeProtectedHeader } from 'jose';
import { baseUrl, startAuthServer, type AuthServerUnderTest } from './_support.ts';

let server: AuthServerUnderTest;
const workspaces = [newId('ws'), newId('ws')].sort();

beforeAll(async () => {
  server = await startAuthServer();
  for (const workspaceId of workspaces)
    await server.send(workspaceId, 'account.create', { name: 'Harbour Light', plan: 'network' });
});
afterAll(() => server[Symbol.asyncDispose]());

const changes = { producer: 'acme-cdn', workspaces, expires_at: '2027-01-01T00:00:00.000Z' };

const issue = (more: object = {}, key: string = newId('req')) =>
  server.clients.operator.machineTokens.issue(
    { workspaceId: workspaces[0]!, idempotencyKey: key, changesJson: JSON.stringify({ ...changes, ...more }) },
    {},
  );

const verified = (token: string) =>
  tryVerifyAccessToken(token, audienceTokenClaims, {
    findKey: (kid) => server.tokenKeys.publicKeys.find((key) => key.kid === kid),
    issuer: baseUrl,
    audience: 'http://api.test/audience/v1',
    now: server.clock.now,
  });

test('a machine token is an access token of RFC 9068, bound to one API, one producer and its workspaces', async () => {
  const { token, resourceJson } = await issue();
  const { id } = JSON.parse(resourceJson) as { id: string };
  expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: 'token-1' });
  expect(await verified(token)).toEqual({
    iss: baseUrl,
    aud: 'http://api.test/audience/v1',
    sub: 'acme-cdn',
    client_id: 'acme-cdn',
    scope: 'audience:read audience:write',
    producer: 'acme-cdn',
    workspaces,
    iat: Date.parse('2026-11-21T12:00:00.000Z') / 1000,
    exp: Date.parse(changes.expires_at) / 1000,
    jti: id,
  });
});

test('issuing is a recorded command with a receipt, and the text of the token is in no table and no log', async () => {
  const { token, operationJson } = await issue();
  expect(JSON.parse(operationJson)).toMatchObject({
    command_type: 'machine_token.issue',
    receipt_id: expect.any(String),
  });
  const signature = token.split('.')[2]!;
  expect(server.logLines.join('')).not.toContain(signature);
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: server.database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(
      `select coalesce(string_agg(t::text, ''), '') as text from (
         select r::text as t from identity.resource r union all select o::text from identity.operation o
         union all select i::text from identity.idempotency_record i union all select b::text from identity.outbox b
         union all select p::text from identity.receipt p) as everything`,
    );
    expect(rows[0]!.text).toContain('acme-cdn');
    expect(rows[0]!.text).not.toContain(signature);
  } finally {
    await client.end();
  }
});

test('a retry with the same key has the same claims again, and no second record; once revoked it has none', async () => {
  const key = newId('req');
  const first = await issue({}, key);
  const again = await issue({}, key);
  expect(again.operationJson).toBe(first.operationJson);
  expect(await verified(again.token)).toEqual(await verified(first.token));
  const { id } = JSON.parse(first.resourceJson) as { id: string };
  const { checkMachineToken } = server.clients.sink.clients;
  const isActive = async (tokenId: string) => (await checkMachineToken({ clientId: 'acme-cdn', tokenId }, {})).active;
  expect([await isActive(id), await isActive(newId('mtk'))]).toEqual([true, false]);
  await server.send(workspaces[0]!, 'machine_token.revoke', {}, { subjectId: id });
  expect(await isActive(id)).toBe(false);
  await expect(issue({}, key)).rejects.toMatchObject({ code: 'state_not_allowed' });
});

test('the newest key of the file signs without a restart, and tokens of the older one stay good', async () => {
  const { token: older } = await issue();
  await server.tokenKeys.add();
  const { token: newer } = await issue();
  expect(decodeProtectedHeader(newer).kid).toBe('token-2');
  expect(await verified(newer)).toBeDefined();
  expect(await verified(older)).toBeDefined();
});

test.each([
  ['an expiry in the past', { expires_at: '2026-11-21T12:00:00.000Z' }, '/changes/expires_at'],
  ['a life of more than 400 days', { expires_at: '2028-01-01T00:00:00.000Z' }, '/changes/expires_at'],
  ['a workspace that does not exist', { workspaces: [...workspaces, newId('ws')] }, '/changes/workspaces/2'],
  ['workspaces without the one that records it', { workspaces: workspaces.slice(1) }, '/changes/workspaces'],
  ['a producer with a space', { producer: 'acme cdn' }, '/changes/producer'],
  ['a scope of another API', { scopes: ['management:write'] }, '/changes/scopes/0'],
  ['no workspace', { workspaces: [] }, '/changes/workspaces'],
])('%s is refused by name', async (_what, more, errorPath) => {
  await expect(issue(more)).rejects.toMatchObject({
    code: 'validation_failed',
    context: { errors: expect.arrayContaining([expect.objectContaining({ path: errorPath })]) },
  });
});

test('only the operator can issue tokens', async () => {
  for (const caller of ['gateway', 'management'] as const)
    await expect(
      server.clients[caller].machineTokens.issue(
        { workspaceId: workspaces[0]!, idempotencyKey: newId('req'), changesJson: JSON.stringify(changes) },
        {},
      ),
    ).rejects.toMatchObject({ code: 'permission_denied' });
});
