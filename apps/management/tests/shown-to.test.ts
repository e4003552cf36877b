import { expect, test } from '@jest/globals';
import { productCatalog, type ProductCommand } from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { shownTo } from '../src/workspace/access/shown-to.ts';
import { examples } from './_examples.ts';
import { receiverOrigin } from './_management.ts';
import { serveManagement } from './_serve.ts';
import { api, management } from './_shared-http.ts';
import { person, service } from './_values.ts';
import { createWorld } from './_world.ts';

type Person = Extract<Actor, { kind: 'principal' }>;

/** A workspace with an endpoint whose address holds a secret, and what its host has answered. */
async function endpointWithSecrets() {
  const world = createWorld(management);
  const created = await world.send('webhook_endpoint.create', null, {
    url: `${receiverOrigin}/first?token=s3cret`,
    events: ['podcast.created'],
  });
  const endpoint = await world.send('webhook_endpoint.revise', created, { url: `${receiverOrigin}/hook?token=s3cret` });
  const deliveryId = newId('whd');
  await management.pool.query(
    `with delivery as (
       insert into webhook_delivery (id, workspace_id, endpoint_id, message_id, message_type, occurred_at, body, state, queued_at,
         next_attempt_at, created_at, ended_at)
       values ($1, $2, $3, 'evt_1', 'podcast.created', now(), '{}', 'failed', now(), now(), now(), now()) returning id)
     insert into webhook_attempt (delivery_id, number, started_at, duration_ms, status, problem, answer)
     select id, 1, now(), 1, 500, 'status', 's3cret of the host' from delivery`,
    [deliveryId, world.workspaceId, endpoint.id],
  );
  return { world, endpoint };
}

test('addresses of webhook endpoints and what their hosts answered are shown to those who may change them, to others the host alone', async () => {
  const { world, endpoint } = await endpointWithSecrets();
  const at = `/workspaces/${world.workspaceId}`;
  const one = `${at}/resources/webhook_endpoints/${endpoint.id}`;
  const viewer = api.tokenFor(person(world.workspaceId, ['viewer']));
  const admin = api.tokenFor(person(world.workspaceId, ['admin']));
  for (const path of [
    one,
    `${at}/resources/webhook_endpoints`,
    `${at}/resources/webhook_endpoints?fields=url`,
    `${one}/versions?difference=true`,
    `${one}/versions/2?difference=true`,
    `${at}/changes`,
    `${at}/webhook-endpoints/${endpoint.id}/deliveries`,
  ]) {
    const [seen, hidden] = [await api.call(path, { token: admin }), await api.call(path, { token: viewer })];
    expect([path, seen.status, hidden.status]).toEqual([path, 200, 200]);
    expect([path, seen.text.includes('s3cret'), hidden.text.includes('s3cret')]).toEqual([path, true, false]);
    if (!path.endsWith('deliveries')) expect(hidden.text).toContain(new URL(receiverOrigin).host);
  }
});

test('the same holds for gateways, which act for people, and a service sees all', async () => {
  await using served = await serveManagement(management);
  const { world, endpoint } = await endpointWithSecrets();
  const ask = async (roles: readonly ['viewer'] | readonly ['admin']) => {
    const options = await served.speaksFor((person(world.workspaceId, [...roles]) as Person).principal);
    const one = await served.resources.getResource(
      { workspaceId: world.workspaceId, resourceType: 'webhook_endpoints', resourceId: endpoint.id },
      options,
    );
    const all = await served.resources.listResources(
      {
        ...{ workspaceId: world.workspaceId, resourceType: 'webhook_endpoints' },
        ...{ links: {}, lifecycleStates: [], limit: 10, cursor: '' },
      },
      options,
    );
    return [one.resourceJson, ...all.resourcesJson].map((text) => text.includes('s3cret'));
  };
  expect(await ask(['viewer'])).toEqual([false, false]);
  expect(await ask(['admin'])).toEqual([true, true]);
  expect(shownTo(service('encoder')).resource(endpoint)).toEqual(endpoint);
});

test('a repeated command shows its sender what the sender may read now', async () => {
  await using served = await serveManagement(management);
  const world = createWorld(management);
  const admin = person(world.workspaceId, ['admin']) as Person;
  /** The resource in the answer, and whether it was a repetition, while the sender has these roles. */
  const answer = async (type: string, changes: object, roles: Person['principal']['roles']) => {
    const { resourceJson, operationJson, replayed } = await served.commands.execute(
      {
        ...{ workspaceId: world.workspaceId, commandType: type, idempotencyKey: type },
        ...{ ifMatch: '', subjectType: productCatalog.commands[type as ProductCommand].subject, subjectId: '' },
        ...{ subjectVersion: undefined, changesJson: JSON.stringify(changes), reasonJson: '' },
      },
      await served.speaksFor({ ...admin.principal, roles }),
    );
    return { shown: resourceJson, operationJson, replayed };
  };

  const endpoint = { url: `${receiverOrigin}/hook?token=s3cret`, events: ['podcast.created'] };
  const [created, repeated] = [
    await answer('webhook_endpoint.create', endpoint, ['admin']),
    await answer('webhook_endpoint.create', endpoint, ['viewer']),
  ];
  expect([created.replayed, created.shown.includes('s3cret')]).toEqual([false, true]);
  expect([repeated.replayed, repeated.shown.includes('s3cret')]).toEqual([true, false]);
  expect(repeated.shown).toContain(new URL(receiverOrigin).host);

  const { changes } = await examples['forecast.request'](world);
  const asked = await answer('forecast.request', changes, ['admin']);
  const others = await answer('forecast.request', changes, ['viewer']);
  expect(JSON.parse(asked.shown)).toMatchObject({ resource_type: 'forecasts' });
  expect(others).toEqual({ shown: '', operationJson: asked.operationJson, replayed: true });
});

test('a review of a command on an endpoint shows the host alone, too', async () => {
  const { endpoint } = await endpointWithSecrets();
  const changes = { url: `${receiverOrigin}/hook?token=s3cret`, events: ['podcast.created'] };
  const attributes = { subject: { type: 'webhook_endpoints', id: endpoint.id, version: 1 }, request: { changes } };
  const review = { ...endpoint, resource_type: 'review_tasks', attributes };
  const viewer = shownTo(person(endpoint.workspace_id, ['viewer']));
  expect(viewer.resource(review).attributes).toMatchObject({
    request: { changes: { ...changes, url: receiverOrigin } },
  });
  expect(
    viewer.difference(endpoint.workspace_id, 'webhook_endpoints', [
      { op: 'add', path: '/attributes', value: changes },
      { op: 'replace', path: '/attributes/url', value: changes.url },
    ]),
  ).toEqual([
    { op: 'add', path: '/attributes', value: { ...changes, url: receiverOrigin } },
    { op: 'replace', path: '/attributes/url', value: receiverOrigin },
  ]);
});
