import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { developmentCa, removeDataFolder, temporaryDataFolder } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { openChannel, readTls, serveRpc, type RpcClient } from '@longwave/rpc';
import { ExchangeServiceService } from '@longwave/rpc/exchange';
import { exchangeService } from '../src/rpc/exchange-service.ts';
import { episodeBody, newKey, now, startExchange, writer, type Exchange, type Platform } from './_exchange.ts';
import { listIntents, planDigest, withIntent } from './_intents.ts';

const callerNames = ['operator', 'public-delivery', 'management'] as const;
type Client = RpcClient<typeof ExchangeServiceService>;

const stack = new AsyncDisposableStack();
let exchange: Exchange;
let as: Readonly<Record<(typeof callerNames)[number], Client>>;
beforeAll(async () => {
  exchange = stack.use(await startExchange());
  const folder = stack.adopt(temporaryDataFolder(), removeDataFolder);
  const identities = await developmentCa(folder.inside('tls'), ['hosting-exchange', ...callerNames], new Date());
  const server = await serveRpc({
    listen: '127.0.0.1:0',
    tls: readTls(identities['hosting-exchange']),
    services: [exchangeService({ pool: exchange.pool, clock: () => exchange.clock.now })],
    onError: () => undefined,
  });
  stack.defer(() => server.close(100));
  const clientOf = (name: (typeof callerNames)[number]) => {
    const channel = openChannel(`127.0.0.1:${server.port}`, 'hosting-exchange', readTls(identities[name]));
    return stack.adopt(channel, (it) => it.close()).client(ExchangeServiceService);
  };
  as = {
    operator: clientOf('operator'),
    'public-delivery': clientOf('public-delivery'),
    management: clientOf('management'),
  };
});
beforeEach(() => {
  exchange.clock.now = now;
});
afterAll(() => stack.disposeAsync());

const within = { deadlineMs: 60_000 };
const show = ({ workspaceId }: Platform, reason = 'A reason.') => ({ workspaceId, streamId: 'show:1', reason });
const acknowledgement = ({ workspaceId }: Platform, intentId: string) => ({
  ...{ workspaceId, intentId, intentVersion: 1, planDigest, appliedAtMs: BigInt(now.getTime()) },
  ...{ status: 'applied', detailCode: '' },
});
const streamOf = async (host: Platform) =>
  (await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`)).body;

/** What followers of the bus hear about a workspace, apart from its messages. */
async function eventsOf({ workspaceId }: Platform) {
  const { rows } = await exchange.pool.query<{ readonly type: string; readonly detail: object }>(
    `select type, payload -> 'detail' as detail from outbox
     where payload ->> 'workspace_id' = $1 and type not like 'message.%' order by position`,
    [workspaceId],
  );
  return rows;
}

/** A platform with one accepted message, and the writer of its stream. */
async function withStream() {
  const host = await exchange.platform();
  const one = writer(host);
  const snapshot = (version: number, key = host.key) =>
    one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }, {}, key);
  const first = snapshot(1);
  expect(await exchange.submit(host, [first])).toMatchObject({ status: 202 });
  /** A rotation to a further key, signed by it, as the second message. */
  const rotation = async () => {
    const successor = newKey();
    await exchange.saveTestKey(host, successor);
    one.rewind({ sequence: 1, prev: first.digest });
    const keys = { retire_kid: host.key.id, successor_kid: successor.id };
    const body = { ...keys, overlap_until: '2026-12-01T00:00:00Z', cause: 'Yearly.' };
    return one.write('authority-rotation/1', host.authorityId, 1, body, {}, successor);
  };
  return { host, one, snapshot, rotation, first };
}

test('an acknowledgement of our own delivery stands under its name beside the intent, once, and is told on the bus', async () => {
  const { host, intentId } = await withIntent(exchange, [5]);
  const said = acknowledgement(host, intentId);
  await as['public-delivery'].acknowledgeIntent(said, within);
  await as['public-delivery'].acknowledgeIntent({ ...said, status: 'rejected', detailCode: 'later' }, within);
  expect((await listIntents(exchange, host)).body['intents']).toMatchObject([
    {
      acknowledgements: [
        { by: 'public-delivery', intent_version: 1, status: 'applied', applied_at: now.toISOString() },
      ],
    },
  ]);
  expect(await eventsOf(host)).toEqual([
    {
      type: 'serving_intent.acknowledged',
      detail: { intent_id: intentId, intent_version: 1, acknowledged_by: 'public-delivery', status: 'applied' },
    },
  ]);
  for (const [change, code] of [
    [{ status: 'done' }, 'validation_failed'],
    [{ planDigest: 'q'.repeat(64) }, 'validation_failed'],
    [{ planDigest: undefined }, 'validation_failed'],
    [{ intentVersion: 2 }, 'not_found'],
    [{ workspaceId: (await exchange.platform()).workspaceId }, 'not_found'],
  ] as const)
    await expect(as['public-delivery'].acknowledgeIntent({ ...said, ...change }, within)).rejects.toMatchObject({
      code,
    });
});

test('a stream that contradicted itself three times goes on at its head when the operator opens it, and counts from nothing', async () => {
  const { host, one, snapshot, first } = await withStream();
  const contradict = async (version: number) => {
    one.rewind({ sequence: 0, prev: null });
    return (await exchange.submit(host, [snapshot(version)])).body;
  };
  for (const version of [2, 3, 4]) expect(await contradict(version)).toMatchObject({ contradictions: version - 1 });
  one.rewind({ sequence: 1, prev: first.digest });
  const next = snapshot(5);
  expect(await exchange.submit(host, [next])).toMatchObject({ status: 423, body: { rotation_opens: true } });
  await as.operator.reopenStream(show(host, 'Two senders.'), within);
  expect(await exchange.submit(host, [next])).toMatchObject({ status: 202 });
  expect((await eventsOf(host)).at(-1)).toEqual({
    type: 'stream.reopened',
    detail: { stream_id: 'show:1', by: 'operator', reason: 'Two senders.' },
  });
  exchange.clock.now = new Date(now.getTime() + 1_000);
  expect(await contradict(6)).toMatchObject({ contradictions: 1 });
});

test('a stream that the operator holds takes nothing but repetitions, nor a rotation by any key, until the operator opens it', async () => {
  const { host, snapshot, rotation, first } = await withStream();
  await as.operator.holdStream(show(host, 'A laptop was stolen.'), within);
  expect(await streamOf(host)).toMatchObject({ state: 'quarantined', state_reason: 'A laptop was stolen.' });
  expect(await exchange.submit(host, [first])).toMatchObject({ status: 200 });
  const held = { status: 423, body: { code: 'stream_quarantined', rotation_opens: false } };
  const next = snapshot(2);
  expect(await exchange.submit(host, [next])).toMatchObject(held);
  const rotate = await rotation();
  expect(await exchange.submit(host, [rotate])).toMatchObject(held);
  await as.operator.reopenStream(show(host), within);
  expect(await exchange.submit(host, [next])).toMatchObject({ status: 202 });
  expect(await eventsOf(host)).toEqual([
    {
      type: 'stream.quarantined',
      detail: { stream_id: 'show:1', by: 'operator', cause: 'A laptop was stolen.' },
    },
    { type: 'stream.reopened', detail: { stream_id: 'show:1', by: 'operator', reason: 'A reason.' } },
  ]);
});

test('a rotation that was on its way when the operator held the stream is accepted, and opens nothing', async () => {
  const { host, one, snapshot, rotation } = await withStream();
  for (const version of [2, 3, 4]) {
    one.rewind({ sequence: 0, prev: null });
    await exchange.submit(host, [snapshot(version)]);
  }
  const rotate = await rotation();
  exchange.commands.faults.set(rotate.digest, new Problem('temporarily_unavailable'));
  expect(await exchange.submit(host, [rotate])).toMatchObject({ status: 503 });
  await as.operator.holdStream(show(host), within);
  exchange.commands.faults.delete(rotate.digest);
  expect(await exchange.submit(host, [rotate])).toMatchObject({ status: 200 });
  expect(await streamOf(host)).toMatchObject({ state: 'quarantined', head: { sequence: 2 } });
});

test('streams that do not exist, are open, or are of another workspace are not found, and say nothing on the bus', async () => {
  const [{ host }, stranger] = [await withStream(), await exchange.platform()];
  const notFound = { code: 'not_found' };
  await expect(as.operator.holdStream(show(stranger), within)).rejects.toMatchObject(notFound);
  await expect(as.operator.reopenStream(show(stranger), within)).rejects.toMatchObject(notFound);
  await expect(as.operator.reopenStream(show(host), within)).rejects.toMatchObject(notFound);
  expect([await eventsOf(host), await eventsOf(stranger)]).toEqual([[], []]);
});

test('only the operator holds and opens streams, and only our own delivery acknowledges', async () => {
  const { host } = await withStream();
  for (const name of ['public-delivery', 'management'] as const)
    for (const method of ['holdStream', 'reopenStream'] as const)
      await expect(as[name][method](show(host), within)).rejects.toMatchObject({ code: 'permission_denied' });
  for (const name of ['operator', 'management'] as const)
    await expect(as[name].acknowledgeIntent(acknowledgement(host, newId('sin')), within)).rejects.toMatchObject({
      code: 'permission_denied',
    });
  expect(await streamOf(host)).toMatchObject({ state: 'open' });
});
