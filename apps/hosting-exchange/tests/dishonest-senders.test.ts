import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { listPending, removePending } from '../src/messages/message-table.ts';
import { createSettleStream, settleLeftBehind } from '../src/messages/settle-stream.ts';
import { quarantineSignedBy } from '../src/streams/stream-table.ts';
import {
  aliasBody,
  capabilityBody,
  episodeBody,
  newKey,
  now,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type TestKey,
} from './_exchange.ts';

let exchange: Exchange;

beforeAll(async () => {
  exchange = await startExchange();
});

afterAll(() => exchange?.[Symbol.asyncDispose]());

const away = () => new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 });
const streamOf = async (host: Platform, id = 'show:1') =>
  (await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/${id}`)).body;

test('after contradictions neither of the two keys that signed them opens the stream: a third key retires one of them', async () => {
  const host = await exchange.platform();
  const [stolen, spare] = [newKey(), newKey()];
  await exchange.saveTestKey(host, stolen);
  await exchange.saveTestKey(host, spare);
  const one = writer(host);
  const first = one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  for (const version of [2, 3, 4]) {
    one.rewind({ sequence: 0, prev: null });
    await exchange.submit(host, [
      one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }, {}, stolen),
    ]);
  }
  const rotate = (by: TestKey, retired: TestKey) => {
    one.rewind({ sequence: 1, prev: first.digest });
    const body = { retire_kid: retired.id, successor_kid: by.id, overlap_until: '2026-12-01T00:00:00Z', cause: 'x' };
    return exchange.submit(host, [one.write('authority-rotation/1', host.authorityId, 1, body, {}, by)]);
  };
  expect(await rotate(stolen, host.key)).toMatchObject({ status: 423 });
  expect(await rotate(host.key, stolen)).toMatchObject({ status: 423 });
  expect(await streamOf(host)).toMatchObject({ state: 'quarantined' });
  expect(await rotate(spare, stolen)).toMatchObject({ status: 202 });
  expect(await streamOf(host)).toMatchObject({ state: 'open' });
});

test('a message that management refused contradicts nothing when it comes again late, nor does one that follows it', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const refused = one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  const after = one.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() });
  exchange.commands.faults.set(refused.digest, new Problem('state_not_allowed'));
  expect(await exchange.submit(host, [refused, after])).toMatchObject({ status: 422 });
  one.rewind({ sequence: 0, prev: null });
  const corrected = [1, 2].map((version) =>
    one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody({ explicit: true }) }),
  );
  expect(await exchange.submit(host, corrected)).toMatchObject({ status: 202 });
  for (let i = 0; i < 4; i++) {
    expect((await exchange.submit(host, [refused])).body).toMatchObject({ code: 'changed_duplicate' });
    expect((await exchange.submit(host, [after])).body).toMatchObject({ code: 'chain_fork' });
  }
  expect(await streamOf(host)).toMatchObject({ state: 'open' });
});

test('a refusal that comes late takes out only the message that was refused, and never one that stands there since', async () => {
  const host = await exchange.platform();
  const waiting = writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  exchange.commands.faults.set(waiting.digest, away());
  expect(await exchange.submit(host, [waiting])).toMatchObject({ status: 503 });
  const place = { workspaceId: host.workspaceId, streamId: 'show:1' };
  const remove = (digest: string) =>
    transaction(exchange.pool, (tx) => removePending(tx, place, { sequence: 1, digest }));
  expect(await remove(`sha256:${'0'.repeat(64)}`)).toEqual([]);
  expect(await listPending(exchange.pool, place)).toHaveLength(1);
  expect(await remove(waiting.digest)).toMatchObject([{ source_id: 'ep-1' }]);
  expect(await listPending(exchange.pool, place)).toEqual([]);
});

test('a message that one process has taken out of its chain is not sent to management by another', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  await exchange.submit(host, [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
  ]);
  const place = { workspaceId: host.workspaceId, streamId: 'show:1' };
  const alias = one.write('delivery-alias/1', 'ghost', 1, aliasBody('ghost', { host: 'ghost' }));
  exchange.commands.faults.set(alias.digest, away());
  expect(await exchange.submit(host, [alias])).toMatchObject({ status: 503 });
  const { promise: isSending, resolve: sending } = Promise.withResolvers<void>();
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  const settleElsewhere = createSettleStream({
    ...{ pool: exchange.pool, locks: exchange.locks, clock: () => now },
    send: async (...call) => {
      sending();
      await mayGoOn;
      return exchange.commands.send(...call);
    },
  });
  const elsewhere = settleElsewhere(place);
  await isSending;
  exchange.commands.faults.set(alias.digest, new Problem('policy_rejected'));
  const here = exchange.settle(place);
  goOn();
  expect(await elsewhere).toMatchObject({ digest: alias.digest });
  exchange.commands.faults.clear();
  expect(await here).toBeUndefined();
  expect(exchange.commands.log.filter(({ key }) => key === alias.digest)).toEqual([]);
});

test('a rotation that came before a hold does not end it', async () => {
  const host = await exchange.platform();
  const retired = newKey();
  await exchange.saveTestKey(host, retired);
  const one = writer(host);
  await exchange.submit(host, [one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() })]);
  const rotation = one.write('authority-rotation/1', host.authorityId, 1, {
    ...{ retire_kid: retired.id, successor_kid: host.key.id, overlap_until: '2026-12-01T00:00:00Z', cause: 'x' },
  });
  exchange.commands.faults.set(rotation.digest, new Problem('timeout'));
  expect(await exchange.submit(host, [rotation])).toMatchObject({ status: 504 });
  const key = { id: host.key.id, workspaceId: host.workspaceId, authorityId: host.authorityId };
  const later = new Date(now.getTime() + 1000);
  await transaction(exchange.pool, (tx) => quarantineSignedBy(tx, key, 'Its key is revoked.', later));
  exchange.commands.faults.clear();
  exchange.clock.now = new Date(now.getTime() + 2000);
  await exchange.settle({ workspaceId: host.workspaceId, streamId: 'show:1' });
  expect(await streamOf(host)).toMatchObject({ state: 'quarantined', head: { sequence: 2 } });
  exchange.clock.now = now;
});

test('a stream that cannot be settled holds up no other one that a crash left behind', async () => {
  const host = await exchange.platform();
  const messages = ['a', 'b', 'c', 'd'].map((name) =>
    writer(host, `left:${name}`).write('content-snapshot/1', `ep-${name}`, 1, { episode: episodeBody() }),
  );
  for (const message of messages) {
    exchange.commands.faults.set(message.digest, away());
    await exchange.submit(host, [message]);
  }
  for (const { digest } of messages.slice(1)) exchange.commands.faults.delete(digest);
  const settled: string[] = [];
  const failed: string[] = [];
  await settleLeftBehind(exchange.pool, exchange.settle, new Date(now.getTime() + 1), {
    settled: ({ streamId }) => void settled.push(streamId),
    failed: ({ streamId }) => void failed.push(streamId),
  });
  exchange.commands.faults.clear();
  expect([settled.sort(), failed]).toEqual([['left:b', 'left:c', 'left:d'], ['left:a']]);
});

test('a workspace claims at most 20 host names', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const sent = await exchange.submit(host, [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
    ...Array.from({ length: 21 }, (_, i) =>
      one.write('delivery-alias/1', `a${i}`, 1, aliasBody(`a${i}`, { host: `claimed-${i}` })),
    ),
  ]);
  expect([sent.status, sent.body]).toMatchObject([422, { code: 'policy_rejected', index: 22 }]);
  expect(sent.body['detail']).toContain('at most 20 hosts');
});

test('a page of a stream ends where its messages are long, and the next page goes on there', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const chapters = Array.from({ length: 1_000 }, (_, i) => ({ start_ms: i * 10, title: 't'.repeat(150) }));
  const messages = Array.from({ length: 25 }, (_, i) =>
    one.write('content-snapshot/1', 'ep-1', i + 1, { episode: episodeBody({ chapters }) }),
  );
  for (let at = 0; at < messages.length; at += 5)
    expect(await exchange.submit(host, messages.slice(at, at + 5))).toMatchObject({ status: 202 });
  const read = async (after: number) => {
    const path = `/workspaces/${host.workspaceId}/streams/show:1/messages?after=${after}`;
    return (await exchange.request(host, 'GET', path)).body as {
      messages: { sequence: number }[];
      next_after: number | null;
    };
  };
  const first = await read(0);
  expect(first.messages.length).toBeLessThan(25);
  const rest = await read(first.next_after!);
  expect(rest.next_after).toBeNull();
  const sequences = [...first.messages, ...rest.messages].map(({ sequence }) => sequence);
  expect(sequences).toEqual(messages.map((_, i) => i + 1));
});

test.each(['Z', '+00:00', '-00:00', '+15:59', '-15:59', '+14:00'])(
  'a time with the offset %s is kept as the instant that it names',
  async (offset) => {
    const host = await exchange.platform();
    const issued = `2026-11-24T10:00:00${offset}`;
    const message = writer(host).write(
      'content-snapshot/1',
      'ep-1',
      1,
      { episode: episodeBody() },
      { issued_at: issued },
    );
    expect(await exchange.submit(host, [message])).toMatchObject({ status: 202 });
    expect((await streamOf(host))['head']).toMatchObject({ issued_at: new Date(issued).toISOString() });
  },
);

test('a time with an offset that no clock has is refused as a field', async () => {
  const host = await exchange.platform();
  const changes = { issued_at: '2026-11-24T10:00:00+16:00' };
  const message = writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }, changes);
  expect(await exchange.submit(host, [message])).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
});

test('a body of 8 MiB with a million values is refused after the first 500, and one that is no submission at 16 KiB', async () => {
  const host = await exchange.platform();
  const members = Array.from({ length: 600_000 }, (_, i) => `"${i}":0`).join();
  const sent = await exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/messages`, {
    body: `{"messages":[{${members}}]}`,
  });
  expect([sent.status, sent.body]).toMatchObject([
    400,
    { code: 'malformed_message', detail: 'There are more values than a message can have.' },
  ]);
  const question = { alias: 'a', surface_id: 'x'.repeat(17_000) };
  const asked = await exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/delivery-resolutions`, {
    body: question,
  });
  expect([asked.status, asked.body]).toMatchObject([413, { code: 'payload_too_large' }]);
});

test('one client that sends more than four requests at once delays no other client', async () => {
  const [busy, other] = [await exchange.platform(), await exchange.platform()];
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const original = exchange.deps.accept;
  let running = 0;
  exchange.deps.accept = async (sender, ...rest) => {
    if (sender.authorityId !== busy.authorityId) return original(sender, ...rest);
    running += 1;
    await answered;
    return original(sender, ...rest);
  };
  const snapshot = (host: Platform, id: string) =>
    writer(host, id).write('content-snapshot/1', `ep-${id}`, 1, { episode: episodeBody() });
  const many = Array.from({ length: 6 }, (_, i) => exchange.submit(busy, [snapshot(busy, `many:${i}`)]));
  expect(await exchange.submit(other, [snapshot(other, 'show:1')])).toMatchObject({ status: 202 });
  expect(running).toBeLessThanOrEqual(4);
  answer();
  expect((await Promise.all(many)).map(({ status }) => status)).toEqual(Array(6).fill(202));
  exchange.deps.accept = original;
});
