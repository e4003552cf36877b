import { describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { importJWK, jwtVerify } from 'jose';
import type { ManagementScope } from '../src/http/authenticate.ts';
import { managementRoutes } from '../src/http/routes.ts';
import { apiUrl } from './_http.ts';
import { api as http, management } from './_shared-http.ts';
import { person, service } from './_values.ts';

const bootstrap: readonly ManagementScope[] = ['management:bootstrap'];
const path = '/workspace-provisioning';
const studio = { name: 'Harbour Light', currency: 'CHF', time_zone: 'Europe/Zurich' };

/** A person whose account has no workspace yet; a token of that person for provisioning has no role. */
function founder(scopes: readonly ManagementScope[] = bootstrap) {
  const workspaceId = newId('ws');
  const actor = person(workspaceId);
  if (actor.kind !== 'principal') throw new Error('a person is a principal');
  const userId = newId('usr');
  const principal = { ...actor.principal, user_id: userId, roles: [], grants: [] };
  const clientId = newId('cli');
  const token = http.tokenFor({ ...actor, principal }, scopes, clientId);
  const owner = http.tokenFor({ ...actor, principal: { ...principal, roles: ['owner'] } }, [
    'management:read',
    'management:write',
  ]);
  return {
    workspaceId,
    accountId: principal.account_id,
    userId,
    clientId,
    token,
    owner,
    actor: { ...actor, principal },
  };
}

const provision = (token: string | undefined, key: string | undefined, body: unknown = studio) =>
  http.call(path, { token, body, headers: { ...(key !== undefined && { 'idempotency-key': key }) } });

describe('provisioning', () => {
  test('makes the workspace as it was asked for, and answers its operation and a signed authority receipt', async () => {
    const { workspaceId, accountId, clientId, token, owner } = founder();
    const answer = await provision(token, 'studio-1');
    expect(answer.status).toBe(200);
    const { operation, receipt } = answer.json;
    expect(Object.keys(answer.json)).toEqual(['operation', 'receipt']);
    expect(operation).toMatchObject({
      ...{ workspace_id: workspaceId, command_type: 'workspace.provision', state: 'succeeded' },
      subject: { type: 'workspaces', id: workspaceId, version: 1 },
    });
    expect(answer.headers.get('location')).toBe(
      `${apiUrl}/management/v1/workspaces/${workspaceId}/operations/${operation.id}`,
    );
    expect(receipt).toMatchObject({ id: operation.receipt_id, workspace_id: workspaceId, operation_id: operation.id });
    expect(receipt.statement).toMatchObject({
      ...{ kind: 'authority', command_type: 'workspace.provision', client_id: clientId, proves: 'acceptance' },
      ...{ workspace_id: workspaceId, chain: { seq: 1 } },
    });
    const { payload } = await jwtVerify(receipt.jws, await importJWK(management.publicKey, 'EdDSA'));
    expect(payload).toEqual(receipt.statement);

    const read = await http.call(`/workspaces/${workspaceId}/resources/workspaces/${workspaceId}`, { token: owner });
    expect(read.json).toMatchObject({
      ...{ lifecycle_state: 'active', version: 1 },
      attributes: { ...studio, account_id: accountId },
    });
    const again = await http.call(`/workspaces/${workspaceId}/receipts/${receipt.id}`, { token: owner });
    expect(again.json).toEqual(receipt);
    const { rows } = await management.pool.query('select requested_by from operation where id = $1', [operation.id]);
    expect(rows[0]!.requested_by).toMatch(/^usr_/);
  });

  test('happens once: the same key is answered byte for byte, another key or client gets 409 with the workspace', async () => {
    const { workspaceId, token, actor } = founder();
    const first = await provision(token, 'once');
    const again = await provision(token, 'once', { ...studio });
    expect([again.status, again.text, again.headers.get('location')]).toEqual([
      ...[200, first.text, first.headers.get('location')],
    ]);
    const sameClient = await provision(token, 'twice');
    const otherClient = await provision(http.tokenFor(actor, bootstrap), 'once');
    for (const { status, json } of [sameClient, otherClient]) {
      expect([status, json.code, json.type]).toEqual([
        409,
        'workspace_exists',
        'urn:longwave:problem:workspace-exists',
      ]);
      expect(json.subject).toEqual({ type: 'workspaces', id: workspaceId, version: 1 });
      expect(json.recovery_url).toBe(
        `${apiUrl}/management/v1/workspaces/${workspaceId}/resources/workspaces/${workspaceId}`,
      );
    }
    const conflict = await provision(token, 'once', { ...studio, name: 'Another' });
    expect([conflict.status, conflict.json.code]).toEqual([409, 'idempotency_conflict']);
    expect(conflict.json.operation_id).toBe(first.json.operation.id);
    // Neither the path nor the problem names the workspace in which the operation has its address.
    expect(conflict.json).not.toHaveProperty('recovery_url');
    const after = await provision(token, 'once');
    expect(after.text).toBe(first.text);
  });

  test('of twenty requests at once makes one workspace: under one key they all have its answer', async () => {
    const { workspaceId, token } = founder();
    const answers = await Promise.all(Array.from({ length: 20 }, () => provision(token, 'race')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const { rows } = await management.pool.query('select seq from receipt_chain where workspace_id = $1', [
      workspaceId,
    ]);
    expect(rows).toEqual([{ seq: 1 }]);
  });

  test('of twenty requests at once makes one workspace: under twenty keys one has it, and nineteen have 409', async () => {
    const { workspaceId, token } = founder();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => provision(token, `race-${at}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(19);
    for (const { json } of refused) expect([json.code, json.subject?.id]).toEqual(['workspace_exists', workspaceId]);
    const { rows } = await management.pool.query('select version from revision where resource_id = $1', [workspaceId]);
    expect(rows).toHaveLength(1);
  });

  test('of an account whose workspace came with it is refused with that workspace', async () => {
    const { workspaceId, accountId, token } = founder();
    await management.execute(
      {
        ...{ workspaceId, commandType: 'workspace.provision', idempotencyKey: newId('req') },
        subject: { type: 'workspaces', id: workspaceId },
        changes: { name: 'A', account_id: accountId },
      },
      service('management'),
    );
    const { status, json } = await provision(token, 'late');
    expect([status, json.code, json.subject.id]).toEqual([409, 'workspace_exists', workspaceId]);
  });

  test.each([
    ['no name', { currency: 'EUR', time_zone: 'UTC' }, '/name'],
    ['an empty name', { ...studio, name: '' }, '/name'],
    ['a currency that is none', { ...studio, currency: 'XYZ' }, '/currency'],
    ['a currency in small letters', { ...studio, currency: 'eur' }, '/currency'],
    ['no currency', { name: 'A', time_zone: 'UTC' }, '/currency'],
    ['a zone that is none', { ...studio, time_zone: 'Europe/Atlantis' }, '/time_zone'],
    ['an offset for a zone', { ...studio, time_zone: '+02:00' }, '/time_zone'],
    ['another account', { ...studio, account_id: newId('acc') }, '/account_id'],
    ['another workspace', { ...studio, workspace_id: newId('ws') }, '/workspace_id'],
  ])('with %s is refused, and the key stays free', async (_what, body, at) => {
    const { token } = founder();
    const refused = await provision(token, 'key', body);
    expect([refused.status, refused.json.code]).toEqual([422, 'validation_failed']);
    expect(refused.json.errors.map((error: { path: string }) => error.path)).toEqual([at]);
    expect((await provision(token, 'key')).status).toBe(200);
  });

  test('needs a key, a body of JSON and nothing in the query', async () => {
    const { token } = founder();
    const codeOf = async (answer: Promise<{ status: number; json: { code: string } }>) => {
      const { status, json } = await answer;
      return [status, json.code];
    };
    expect(await codeOf(provision(token, undefined))).toEqual([400, 'idempotency_key_required']);
    expect(await codeOf(provision(token, 'a b'))).toEqual([422, 'idempotency_key_invalid']);
    expect(await codeOf(provision(token, 'key', '{'))).toEqual([400, 'malformed_json']);
    const headers = { 'idempotency-key': 'key' };
    expect(await codeOf(http.call(`${path}?name=A`, { token, body: studio, headers }))).toEqual([
      422,
      'validation_failed',
    ]);
    const text = { ...headers, 'content-type': 'text/plain' };
    expect(await codeOf(http.call(path, { token, body: 'x', headers: text }))).toEqual([415, 'unsupported_media_type']);
    expect((await http.call(path, { token })).status).toBe(405);
  });
});

describe('the permission to provision', () => {
  test('is needed alone: no other token provisions a workspace, by this path or by a command', async () => {
    const others: (readonly ManagementScope[])[] = [
      ['management:read'],
      ['management:write'],
      ['management:diagnostics'],
      ['management:read', 'management:write', 'management:diagnostics'],
      ['management:write', 'management:bootstrap'],
    ];
    for (const scopes of others) {
      const { token } = founder(scopes);
      const { status, json } = await provision(token, 'key');
      expect([status, json.code]).toEqual([403, 'insufficient_scope']);
    }
    expect((await provision(undefined, 'key')).status).toBe(401);
    const { workspaceId, accountId, owner } = founder();
    for (const id of [workspaceId, null]) {
      const { status } = await http.call(`/workspaces/${workspaceId}/commands/workspace.provision`, {
        ...{ token: owner, headers: { 'idempotency-key': newId('req') } },
        body: { subject: { type: 'workspaces', id }, changes: { name: 'A', account_id: accountId } },
      });
      expect([403, 422]).toContain(status);
    }
    const { rowCount } = await management.pool.query('select from resource where id = $1', [workspaceId]);
    expect(rowCount).toBe(0);
  });

  test('permits nothing else: every other operation of the API is refused', async () => {
    const { workspaceId, token } = founder();
    await provision(token, 'key');
    const others = managementRoutes.filter(({ scope }) => scope !== null && scope !== 'management:bootstrap');
    expect(others.length).toBeGreaterThan(8);
    for (const route of others) {
      const at = route.path.replace('{workspace_id}', workspaceId).replaceAll(/\{[a-z_]+\}/g, 'x');
      const { status, json } = await http.call(at, {
        ...{ token, method: route.method },
        ...(route.method === 'POST' && { body: {}, headers: { 'idempotency-key': 'key' } }),
      });
      expect([route.operation, status, json.code]).toEqual([route.operation, 403, 'insufficient_scope']);
    }
  });
});
