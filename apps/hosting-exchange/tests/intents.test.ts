import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { countOverdue } from '../src/intents/intent-table.ts';
import { now, startExchange, type Exchange, type Platform } from './_exchange.ts';
import { listIntents, planDigest, withIntent } from './_intents.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const list = (host: Platform, query?: string) => listIntents(exchange, host, query);
const applied = {
  intent_version: 2,
  plan_digest: planDigest,
  applied_at: '2026-11-25T11:59:00Z',
  status: 'applied',
};
const say = (host: Platform, intentId: string, body: object, key?: string) =>
  exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/serving-intents/${intentId}/acknowledgements`, {
    body,
    ...(key !== undefined && { key }),
  });

test('a platform reads the versions after the one that it knows, and says what it has applied; the first word counts', async () => {
  const { host, intentId } = await withIntent(exchange, [30, 20]);
  const { body } = await list(host, '?after_version=1');
  expect(body['intents']).toMatchObject([
    { intent_id: intentId, version: 2, supersedes: 1, acknowledgements: [], overdue: false },
  ]);
  expect((await say(host, intentId, applied, 'k1')).status).toBe(201);
  expect((await say(host, intentId, applied, 'k1')).status).toBe(201);
  const second = await say(host, intentId, { ...applied, status: 'rejected', detail_code: 'too_late' });
  expect([second.status, second.body['status']]).toEqual([200, 'applied']);
  const after = await list(host);
  expect(after.body['intents']).toMatchObject([
    { version: 1, acknowledgements: [] },
    { version: 2, acknowledgements: [{ by: host.clientId, status: 'applied' }] },
  ]);
});

test('a newest version without the platform’s word for five minutes is overdue, and counted for the operator', async () => {
  const before = await countOverdue(exchange.pool, new Date(now.getTime() - 300_000));
  const { host, intentId } = await withIntent(exchange, [900, 301]);
  expect((await list(host)).body['intents']).toMatchObject([
    { version: 1, overdue: false },
    { version: 2, overdue: true },
  ]);
  expect(await countOverdue(exchange.pool, new Date(now.getTime() - 300_000))).toBe(before + 1);
  await say(host, intentId, applied);
  expect((await list(host, '?after_version=1')).body['intents']).toMatchObject([{ overdue: false }]);
  expect(await countOverdue(exchange.pool, new Date(now.getTime() - 300_000))).toBe(before);
});

test('another plan, another version and the intent of somebody else are refused', async () => {
  const { host, intentId } = await withIntent(exchange, [5]);
  const other = await exchange.platform(host.workspaceId);
  const first = { ...applied, intent_version: 1 };
  expect(await say(host, intentId, { ...first, plan_digest: 'q'.repeat(64) })).toMatchObject({ status: 422 });
  expect(await say(host, intentId, applied)).toMatchObject({ status: 404 });
  expect(await say(other, intentId, first)).toMatchObject({ status: 404 });
  expect((await list(other)).body['intents']).toEqual([]);
});

test('an acknowledgement needs the write scope and an Idempotency-Key, and one that is refused says nothing', async () => {
  const { host, intentId } = await withIntent(exchange, [5]);
  const path = `/workspaces/${host.workspaceId}/serving-intents/${intentId}/acknowledgements`;
  const body = { ...applied, intent_version: 1 };
  const readOnly = await exchange.tokenOf(host, { scope: 'exchange:read' });
  const unscoped = await exchange.request(host, 'POST', path, { body, token: readOnly });
  expect([unscoped.status, unscoped.body['code']]).toEqual([403, 'insufficient_scope']);
  expect(unscoped.headers.get('www-authenticate')).toContain('exchange:write');
  const unnamed = await exchange.request(host, 'POST', path, { body, headers: { 'idempotency-key': '' } });
  expect([unnamed.status, unnamed.body['code']]).toEqual([400, 'idempotency_key_required']);
  expect((await list(host)).body['intents']).toMatchObject([{ acknowledgements: [] }]);
  expect((await say(host, intentId, body, 'named')).status).toBe(201);
  const changed = await say(host, intentId, { ...body, status: 'rejected' }, 'named');
  expect([changed.status, changed.body['code']]).toEqual([409, 'idempotency_conflict']);
});
