import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { developmentCa, removeDataFolder, temporaryDataFolder } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { openChannel, readTls, serveRpc, type RpcClient } from '@longwave/rpc';
import { ExchangeServiceService } from '@longwave/rpc/exchange';
import { saveIntent } from '../src/intents/intent-table.ts';
import { applyProductEvent } from '../src/projection/follow-product.ts';
import { exchangeService } from '../src/rpc/exchange-service.ts';
import { episodeBody, newKey, now, startExchange, writer, type Exchange, type Platform } from './_exchange.ts';
import { eventOf } from './_product-events.ts';

let exchange: Exchange;
let operator: RpcClient<typeof ExchangeServiceService>;
let delivery: RpcClient<typeof ExchangeServiceService>;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  exchange = stack.use(await startExchange());
  const folder = temporaryDataFolder();
  stack.defer(() => removeDataFolder(folder));
  const callers = ['hosting-exchange', 'operator', 'public-delivery'] as const;
  const identities = await developmentCa(folder.inside('tls'), callers, new Date());
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['hosting-exchange']),
    services: [exchangeService({ pool: exchange.pool, clock: () => exchange.clock.now })],
    onError: () => undefined,
  });
  stack.defer(() => server.close(100));
  const clientOf = (caller: 'operator' | 'public-delivery') => {
    const channel = openChannel(`127.0.0.1:${server.port}`, 'hosting-exchange', readTls(identities[caller]));
    stack.defer(() => channel.close());
    return channel.client(ExchangeServiceService);
  };
  [operator, delivery] = [clientOf('operator'), clientOf('public-delivery')];
});
afterAll(() => stack.disposeAsync());

/** An event as the relay will publish it, with the transaction that wrote it. */
interface Written {
  readonly key: string;
  readonly event_id: string;
  readonly type: string;
  readonly payload: { readonly id: string; readonly workspace_id: string; readonly detail: Record<string, unknown> };
  readonly writer: string;
}

/** The events of a workspace in their order. */
async function eventsOf(workspaceId: string): Promise<Written[]> {
  const { rows } = await exchange.pool.query<Written>(
    `select key, event_id, type, payload, xmin::text as writer from outbox where payload ->> 'workspace_id' = $1 order by position`,
    [workspaceId],
  );
  return rows;
}

/** The transactions that wrote the rows which a query finds; it selects `xmin::text as writer`. */
const writersOf = async (query: string, values: readonly unknown[]) =>
  (await exchange.pool.query<{ writer: string }>(query, [...values])).rows.map(({ writer: by }) => by);

const writerOfStream = ({ workspaceId }: Platform, id = 'show:1') =>
  writersOf('select xmin::text as writer from stream where workspace_id = $1 and stream_id = $2', [workspaceId, id]);

/** What an event says, without what is new each time. */
const said = ({ key, type, payload: { id: _id, ...payload } }: Written) => ({ key, type, payload });
const told = (workspaceId: string, type: string, key: string, detail: object) => ({
  ...{ key, type },
  payload: { type, workspace_id: workspaceId, occurred_at: now.toISOString(), detail },
});

/** A platform with one accepted message, and what its stream says afterwards. */
async function withFirst() {
  const host = await exchange.platform();
  const one = writer(host);
  const first = one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  const { body } = await exchange.submit(host, [first]);
  const [result] = body['results'] as { resource: { id: string } }[];
  return { host, one, first, resourceId: result!.resource.id, key: `${host.workspaceId}/show:1` };
}

/** Signs three other messages for the first place, which holds the stream. */
async function contradict({ host, one }: Awaited<ReturnType<typeof withFirst>>) {
  const messages = [2, 3, 4].map((version) => {
    one.rewind({ sequence: 0, prev: null });
    return one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() });
  });
  for (const message of messages) await exchange.submit(host, [message]);
  return messages;
}

test('an accepted message is told once, with its place, digest, subject and resource, by the transaction that accepts it', async () => {
  const { host, first, resourceId, key } = await withFirst();
  await exchange.submit(host, [first]);
  const events = await eventsOf(host.workspaceId);
  expect(events.map(said)).toEqual([
    told(host.workspaceId, 'message.accepted', key, {
      ...{ authority_id: host.authorityId, stream_id: 'show:1', sequence: 1, digest: first.digest },
      subject: { type: 'episode', source_id: 'ep-1', source_version: 1 },
      resource_id: resourceId,
    }),
  ]);
  expect(events[0]!.payload.id).toBe(events[0]!.event_id);
  expect(await writersOf('select xmin::text as writer from message where digest = $1', [first.digest])).toEqual([
    events[0]!.writer,
  ]);
});

test('a contradiction is told by the transaction that keeps its proof, and the third tells the hold with its cause', async () => {
  const world = await withFirst();
  const { host, first, key } = world;
  const others = await contradict(world);
  const [, ...events] = await eventsOf(host.workspaceId);
  const cause = '3 messages within 24 h contradicted accepted ones.';
  expect(events.map(said)).toEqual([
    ...others.map(({ digest }) =>
      told(host.workspaceId, 'message.contradicted', key, {
        ...{ stream_id: 'show:1', accepted_digest: first.digest, received_digest: digest, kind: 'changed_duplicate' },
      }),
    ),
    told(host.workspaceId, 'stream.quarantined', key, { stream_id: 'show:1', cause }),
  ]);
  const proofs = `select xmin::text as writer from equivocation where workspace_id = $1
                  order by array_position($2::text[], digest)`;
  expect(await writersOf(proofs, [host.workspaceId, others.map(({ digest }) => digest)])).toEqual(
    events.slice(0, 3).map((event) => event.writer),
  );
  expect(await writerOfStream(host)).toEqual([events[3]!.writer]);
  expect(events[3]!.writer).toBe(events[2]!.writer);
});

test('an event id that was used in another stream is told under the stream of the accepted message', async () => {
  const { host, first, key } = await withFirst();
  const used = { event_id: first.payload.event_id };
  const again = writer(host, 'show:2').write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() }, used);
  await exchange.submit(host, [again]);
  expect((await eventsOf(host.workspaceId)).slice(1).map(said)).toEqual([
    told(host.workspaceId, 'message.contradicted', key, {
      ...{ stream_id: 'show:1', accepted_digest: first.digest, received_digest: again.digest },
      kind: 'changed_duplicate',
    }),
  ]);
});

test('a revoked key is told as the cause of each hold, by the transaction that holds the stream', async () => {
  const { host, key } = await withFirst();
  const second = writer(host, 'show:2').write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() });
  await exchange.submit(host, [second]);
  const subject = { type: 'machine_keys', id: host.key.id, version: 2, state: 'revoked' };
  const event = eventOf(host.workspaceId, subject, {
    ...{ authority_id: host.authorityId, jwk: host.key.jwk, thumbprint: host.key.id, purposes: ['content'], proof: '' },
    ...{ not_before: '2026-01-01T00:00:00.000Z', not_after: '2027-01-01T00:00:00.000Z' },
  });
  await transaction(exchange.pool, (tx) => applyProductEvent(tx, event));
  const held = (await eventsOf(host.workspaceId)).slice(2);
  const cause = `The key ${host.key.id}, which signed its newest message, was revoked.`;
  expect(held.map(said).toSorted((a, b) => a.key.localeCompare(b.key))).toEqual([
    told(host.workspaceId, 'stream.quarantined', key, { stream_id: 'show:1', cause }),
    told(host.workspaceId, 'stream.quarantined', `${host.workspaceId}/show:2`, { stream_id: 'show:2', cause }),
  ]);
  for (const id of ['show:1', 'show:2']) expect(await writerOfStream(host, id)).toEqual([held[0]!.writer]);
});

test('a rotation that opens a held stream tells that its authority did so, in the transaction that opens it', async () => {
  const world = await withFirst();
  const { host, one, first, key } = world;
  await contradict(world);
  const successor = newKey();
  await exchange.saveTestKey(host, successor);
  one.rewind({ sequence: 1, prev: first.digest });
  const keys = { retire_kid: host.key.id, successor_kid: successor.id };
  const rotation = { ...keys, overlap_until: '2026-12-01T00:00:00Z', cause: 'stolen' };
  const rotated = one.write('authority-rotation/1', host.authorityId, 1, rotation, {}, successor);
  expect(await exchange.submit(host, [rotated])).toMatchObject({ status: 202 });
  const events = (await eventsOf(host.workspaceId)).slice(5);
  expect(events.map(({ type }) => type)).toEqual(['message.accepted', 'stream.reopened']);
  expect(said(events[1]!)).toEqual(
    told(host.workspaceId, 'stream.reopened', key, { stream_id: 'show:1', by: host.authorityId }),
  );
  expect([...(await writerOfStream(host)), events[0]!.writer]).toEqual([events[1]!.writer, events[1]!.writer]);
});

test('the operator opens a held stream once, and the event has the reason', async () => {
  const world = await withFirst();
  const { host, key } = world;
  await contradict(world);
  const reopen = { workspaceId: host.workspaceId, streamId: 'show:1', reason: 'They told us by phone.' };
  const options = { deadlineMs: 60_000 };
  await expect(delivery.reopenStream(reopen, options)).rejects.toMatchObject({ code: 'permission_denied' });
  await operator.reopenStream(reopen, options);
  await expect(operator.reopenStream(reopen, options)).rejects.toMatchObject({ code: 'not_found' });
  const events = (await eventsOf(host.workspaceId)).slice(5);
  expect(events.map(said)).toEqual([
    told(host.workspaceId, 'stream.reopened', key, {
      ...{ stream_id: 'show:1', by: 'operator', reason: 'They told us by phone.' },
    }),
  ]);
  expect(await writerOfStream(host)).toEqual([events[0]!.writer]);
});

test('the first acknowledgement of each hosting plane is told under its intent, by the transaction that keeps it', async () => {
  const host = await exchange.platform();
  const intentId = newId('sin');
  const { workspaceId } = host;
  const planDigest = 'p'.repeat(64);
  await transaction(exchange.pool, (tx) =>
    saveIntent(
      tx,
      { id: intentId, version: 1, workspaceId, publishedAt: now.toISOString() },
      {
        ...{ authority_id: host.authorityId, plan_digest: planDigest, actions: [], supersedes: 0 },
        effective_at: now.toISOString(),
      },
    ),
  );
  const path = `/workspaces/${workspaceId}/serving-intents/${intentId}/acknowledgements`;
  const body = { intent_version: 1, plan_digest: planDigest, applied_at: now.toISOString(), status: 'rejected' };
  expect(await exchange.request(host, 'POST', path, { body })).toMatchObject({ status: 201 });
  expect(await exchange.request(host, 'POST', path, { body: { ...body, status: 'applied' } })).toMatchObject({
    status: 200,
  });
  const ours = { workspaceId, intentId, intentVersion: 1, planDigest, status: 'applied', detailCode: '' };
  for (let times = 0; times < 2; times++)
    await delivery.acknowledgeIntent({ ...ours, appliedAtMs: BigInt(now.getTime()) }, { deadlineMs: 60_000 });
  const events = await eventsOf(workspaceId);
  const detail = { intent_id: intentId, intent_version: 1 };
  expect(events.map(said)).toEqual([
    told(workspaceId, 'serving_intent.acknowledged', intentId, {
      ...{ ...detail, acknowledged_by: host.clientId, status: 'rejected' },
    }),
    told(workspaceId, 'serving_intent.acknowledged', intentId, {
      ...{ ...detail, acknowledged_by: 'public-delivery', status: 'applied' },
    }),
  ]);
  const kept = `select xmin::text as writer from acknowledgement where intent_id = $1 order by acknowledged_by = 'public-delivery'`;
  expect(await writersOf(kept, [intentId])).toEqual(events.map((event) => event.writer));
});
