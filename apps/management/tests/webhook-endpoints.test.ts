import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { webhookMessageSchema } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { until } from '@longwave/test-kit';
import { serveHttp } from './_http.ts';
import { isSigned } from './_receiver.ts';
import { hour } from './_values.ts';
import { startWebhookWorld, type WebhookWorld } from './_webhooks.ts';
import { createWorld } from './_world.ts';

let hooks: WebhookWorld;
beforeAll(async () => {
  hooks = await startWebhookWorld();
});
afterAll(async () => hooks[Symbol.asyncDispose]());

test.each([
  ['http', 'http://example.com/hook'],
  ['another port', 'https://example.com:8443/hook'],
  ['credentials', 'https://me:secret@example.com/hook'],
])('an address is refused when the endpoint is made: %s', async (_kind, url) => {
  const world = createWorld(hooks.management);
  await expect(world.send('webhook_endpoint.create', null, { url, events: ['podcast.created'] })).rejects.toMatchObject(
    { code: 'validation_failed', context: { errors: [{ path: '/changes/url' }] } },
  );
});

test('after a rotation both secrets sign for a day, or as long as the rotation says', async () => {
  const { world, received, now, secret } = await hooks.subscribe(['podcast.created']);
  const rotate = async (changes: object) => {
    const { id, version } = await now();
    const outcome = await hooks.execute(
      {
        ...{ workspaceId: world.workspaceId, commandType: 'webhook_endpoint.rotate_secret', changes },
        ...{ idempotencyKey: `rotate-${version}`, subject: { type: 'webhook_endpoints', id, version } },
      },
      world.actor,
    );
    return outcome.disclosed!['secret']!;
  };
  const next = async () => {
    const before = received().length;
    await world.podcast();
    await until(() => received().length > before);
    return received().at(-1)!;
  };
  const second = await rotate({});
  const both = await next();
  expect([isSigned(both, secret), isSigned(both, second)]).toEqual([true, true]);
  hooks.management.aheadMs += 24 * hour;
  const later = await next();
  expect([isSigned(later, secret), isSigned(later, second)]).toEqual([false, true]);
  const third = await rotate({ previous_valid_hours: 0 });
  const last = await next();
  expect([isSigned(last, second), isSigned(last, third)]).toEqual([false, true]);
  expect(new Set([secret, second, third]).size).toBe(3);
});

test('the secret is in the answer to its own client, for an hour, and in no table', async () => {
  const world = createWorld(hooks.management);
  const create = (idempotencyKey: string, actor = world.actor) =>
    hooks.execute(
      {
        ...{ workspaceId: world.workspaceId, commandType: 'webhook_endpoint.create', idempotencyKey },
        subject: { type: 'webhook_endpoints', id: null },
        changes: { url: `${hooks.receiver.origin}/secret`, events: ['podcast.created'] },
      },
      actor,
    );
  const first = await create('create-1');
  const secret = first.disclosed!['secret']!;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(first.resource?.attributes['secret_hint']).toBe(secret.slice(-5, -1));
  expect(await create('create-1')).toEqual({ ...first, replayed: true });
  await world.podcast();
  await until(() => hooks.receiver.at('/secret').length === 1);
  const { pool } = hooks.management;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema()`,
  );
  for (const { name } of tables) {
    const { rowCount } = await pool.query(`select from "${name}" t where t::text like '%' || $1 || '%' limit 1`, [
      secret.slice(6, -1),
    ]);
    expect([name, rowCount]).toEqual([name, 0]);
  }
  hooks.management.aheadMs += hour + 1_000;
  const late = await create('create-1');
  expect(late.disclosed).toBeUndefined();
  expect(late.operationJson).toBe(first.operationJson);
});

test('a collaborator of one podcast and a member without the role make no endpoint for the workspace', async () => {
  const world = createWorld(hooks.management);
  const podcast = await world.podcast();
  const stranger = createWorld(hooks.management);
  const fields = { url: `${hooks.receiver.origin}/x`, events: ['podcast.created'] };
  if (stranger.actor.kind !== 'principal') throw new Error('a person is expected');
  const grant = { workspace_id: world.workspaceId, roles: ['owner', 'admin'] as const };
  const collaborator = {
    ...stranger.actor,
    principal: { ...stranger.actor.principal, grants: [{ ...grant, roles: [...grant.roles], podcast_id: podcast.id }] },
  };
  await expect(world.send('webhook_endpoint.create', null, fields, collaborator)).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a test message is delivered like any other', async () => {
  const { world, endpoint, received, secret } = await hooks.subscribe(['podcast.created']);
  await world.send('webhook_endpoint.send_test', endpoint, {});
  await until(() => received().length === 1);
  const body = JSON.parse(received()[0]!.body) as { type: string };
  expect(webhookMessageSchema('webhook.test').parse(body)).toMatchObject({ data: { endpoint_id: endpoint.id } });
  expect(isSigned(received()[0]!, secret)).toBe(true);
});

test('a workspace has at most twenty endpoints', async () => {
  const world = createWorld(hooks.management);
  const endpoints: ResourceView[] = [];
  const create = () =>
    world.send('webhook_endpoint.create', null, { url: `${hooks.receiver.origin}/n`, events: ['podcast.created'] });
  for (let n = 0; n < 20; n++) endpoints.push(await create());
  await expect(create()).rejects.toMatchObject({ code: 'validation_failed' });
  await world.send('webhook_endpoint.delete', endpoints[0]!, {});
  await create();
});

test('over the Management API the answer shows the secret, and deliveries come in pages with their attempts', async () => {
  await using http = await serveHttp(hooks.management, { execute: hooks.execute });
  const world = createWorld(hooks.management);
  const token = http.tokenFor(world.actor);
  const path = `/workspaces/${world.workspaceId}`;
  const created = await http.call(`${path}/commands/webhook_endpoint.create`, {
    ...{ token, headers: { 'idempotency-key': 'hook-1' } },
    body: {
      subject: { type: 'webhook_endpoints', id: null, version: 0 },
      changes: { url: `${hooks.receiver.origin}/paged`, events: ['podcast.created'] },
    },
  });
  expect(created.status).toBe(200);
  expect(created.json.disclosed.secret).toMatch(/^whsec_/);
  const operation = await http.call(`${path}/operations/${created.json.id}`, { token });
  expect(operation.text).not.toContain('whsec_');
  for (let n = 0; n < 3; n++) await world.podcast();
  const id = created.json.subject.id as string;
  await until(async () => (await hooks.deliveriesOf({ id })).filter(({ state }) => state === 'delivered').length === 3);
  const deliveries = `${path}/webhook-endpoints/${id}/deliveries`;
  const first = await http.call(`${deliveries}?limit=2`, { token });
  const second = await http.call(`${deliveries}?limit=2&cursor=${first.json.next_cursor}`, { token });
  const rows = [...first.json.rows, ...second.json.rows];
  expect(rows.map((row: { id: string }) => row.id)).toEqual(
    (await hooks.deliveriesOf({ id })).map((row) => row.id).reverse(),
  );
  expect(second.json.next_cursor).toBeUndefined();
  expect(rows[0]).toMatchObject({
    state: 'delivered',
    type: 'podcast.created',
    attempts: [{ number: 1, status: 200 }],
  });
  expect((await http.call(`${deliveries}?state=failed`, { token })).json.rows).toEqual([]);
  const stranger = http.tokenFor(createWorld(hooks.management).actor);
  expect((await http.call(deliveries, { token: stranger })).status).toBe(404);
  expect((await http.call(deliveries.replace(id, `${id.slice(0, -4)}0000`), { token })).status).toBe(404);
  expect(http.logLines.join('')).not.toContain('whsec_');
});
