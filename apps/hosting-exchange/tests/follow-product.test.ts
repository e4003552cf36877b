import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DomainEvent } from '@longwave/events';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { applyProductEvent } from '../src/projection/follow-product.ts';
import { episodeBody, newKey, startExchange, writer, type Exchange, type Platform } from './_exchange.ts';
import { eventOf } from './_product-events.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const apply = (...events: readonly DomainEvent[]) =>
  transaction(exchange.pool, async (tx) => {
    for (const event of events) await applyProductEvent(tx, event);
  });

const keyEvent = (host: Platform, keyId: string, version: number, state: string, x = newKey().jwk.x) =>
  eventOf(
    host.workspaceId,
    { type: 'machine_keys', id: keyId, version, state },
    {
      authority_id: host.authorityId,
      jwk: { kty: 'OKP', crv: 'Ed25519', x },
      thumbprint: keyId,
      purposes: ['content'],
      not_before: '2026-01-01T00:00:00.000Z',
      not_after: '2027-01-01T00:00:00.000Z',
      proof: '',
    },
  );

test('a revoked key holds the streams whose newest message it signed, and no other', async () => {
  const host = await exchange.platform();
  const other = newKey();
  await exchange.saveTestKey(host, other);
  const [one, two] = [writer(host, 'show:1'), writer(host, 'show:2')];
  await exchange.submit(host, [one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() })]);
  await exchange.submit(host, [two.write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() })]);
  await exchange.submit(host, [two.write('content-snapshot/1', 'ep-2', 2, { episode: episodeBody() }, {}, other)]);
  await apply(keyEvent(host, host.key.id, 2, 'revoked', host.key.jwk.x));
  const stateOf = async (id: string) =>
    (await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/${id}`)).body['state'];
  expect([await stateOf('show:1'), await stateOf('show:2')]).toEqual(['quarantined', 'open']);
});

test('an older version of a key never brings a revoked one back, in whatever order the events come', async () => {
  const host = await exchange.platform();
  await apply(
    keyEvent(host, host.key.id, 3, 'revoked', host.key.jwk.x),
    keyEvent(host, host.key.id, 2, 'active', host.key.jwk.x),
  );
  const sent = await exchange.submit(host, [
    writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
  ]);
  expect(sent).toMatchObject({ status: 422, body: { code: 'key_revoked' } });
});

test('grants of people are no authorities', async () => {
  const [workspaceId, id] = [newId('ws'), newId('agr')];
  const attributes = { grantee: { email: 'a@example.com' }, role: 'admin', expires_at: '2027-01-01T00:00:00.000Z' };
  await apply(eventOf(workspaceId, { type: 'authority_grants', id, version: 1, state: 'active' }, attributes));
  expect((await exchange.pool.query('select from authority where id = $1', [id])).rowCount).toBe(0);
});

test('a podcast of a platform that is hidden here, and published again, is known so; podcasts of our own are not kept', async () => {
  const [workspaceId, id] = [newId('ws'), newId('pod')];
  const podcast = (version: number, state: string, attributes = {}) =>
    eventOf(workspaceId, { type: 'podcasts', id, version, state }, attributes);
  const hosted = { hosted_by: { authority_id: newId('agr'), stream_id: 'show:1' } };
  const stateOf = async () =>
    (await exchange.pool.query<{ state: string }>('select state from hosted_podcast where id = $1', [id])).rows[0]
      ?.state;
  await apply(podcast(1, 'published'));
  expect(await stateOf()).toBeUndefined();
  await apply(podcast(2, 'unpublished', hosted), podcast(1, 'published', hosted));
  expect(await stateOf()).toBe('unpublished');
  await apply(podcast(3, 'published', hosted));
  expect(await stateOf()).toBe('published');
});

test('the database refuses to change or remove an accepted message, or the proof of a contradiction', async () => {
  const host = await exchange.platform();
  const { write, rewind } = writer(host);
  const first = write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  rewind({ sequence: 0, prev: null });
  await exchange.submit(host, [write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() })]);
  for (const statement of [
    `update message set payload = 'e30' where authority_id = $1`,
    `delete from message where authority_id = $1`,
    `delete from equivocation where workspace_id = (select workspace_id from authority where id = $1)`,
  ])
    await expect(exchange.pool.query(statement, [host.authorityId])).rejects.toThrow(/kept as it/);
});
