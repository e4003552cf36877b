import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import {
  aliasBody,
  capabilityBody,
  episodeBody,
  newKey,
  startExchange,
  writer,
  type Exchange,
  type Sent,
} from './_exchange.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const resultsOf = ({ body }: Sent) =>
  body['results'] as { sequence: number; digest: string; status: string; receipt_id: string }[];

test('a chain of messages is accepted in its order, each with its command and receipt, and the head is the last one', async () => {
  const host = await exchange.platform();
  const { write, streamId } = writer(host);
  const messages = [1, 2, 3].map((version) => write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }));
  const sent = await exchange.submit(host, messages);
  expect([sent.status, resultsOf(sent).map(({ sequence, status }) => [sequence, status])]).toEqual([
    202,
    [
      [1, 'accepted'],
      [2, 'accepted'],
      [3, 'accepted'],
    ],
  ]);
  const commands = exchange.commands.log.filter(({ changes }) => changes['authority_id'] === host.authorityId);
  expect(commands.map(({ type, key }) => [type, key])).toEqual(
    messages.map(({ digest }) => ['content_snapshot.accept', digest]),
  );
  const head = await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/${streamId}`);
  expect(head.body).toMatchObject({
    state: 'open',
    head: { sequence: 3, digest: messages[2]!.digest },
    last_receipt_id: resultsOf(sent)[2]!.receipt_id,
  });
});

test('a repetition gets the original receipts, under the same key the same bytes, and runs no second command', async () => {
  const host = await exchange.platform();
  const { write } = writer(host);
  const messages = [1, 2].map((version) => write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }));
  const first = await exchange.submit(host, messages, { key: 'one' });
  const again = await exchange.submit(host, messages, { key: 'one' });
  expect([again.status, again.text]).toEqual([202, first.text]);
  const other = await exchange.submit(host, messages, { key: 'two' });
  expect(other.status).toBe(200);
  expect(resultsOf(other)).toEqual(resultsOf(first).map((result) => ({ ...result, status: 'replayed' })));
  expect(exchange.commands.log.filter(({ changes }) => changes['authority_id'] === host.authorityId)).toHaveLength(2);
});

test('a batch is accepted up to the first refused message; the refusal names its place and has the results before it', async () => {
  const host = await exchange.platform();
  const { write } = writer(host);
  const good = write('content-snapshot/1', 'ep-1', 5, { episode: episodeBody() });
  const stale = write('content-snapshot/1', 'ep-1', 4, { episode: episodeBody() });
  const after = write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody({ guid: 'guid-2' }) });
  const sent = await exchange.submit(host, [good, stale, after]);
  expect(sent.status).toBe(409);
  expect(sent.body).toMatchObject({ code: 'source_version_regression', index: 1, accepted_version: 5 });
  expect(resultsOf(sent)).toHaveLength(1);
  const head = await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`);
  expect(head.body).toMatchObject({ head: { sequence: 1, digest: good.digest } });
});

test('a gap names what is expected, a fork and a changed duplicate both digests, and both are kept as proof', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const first = one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  one.rewind({ sequence: 4, prev: first.digest });
  const gap = await exchange.submit(host, [one.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() })]);
  expect([gap.status, gap.body]).toMatchObject([
    409,
    { code: 'chain_gap', expected_seq: 2, expected_prev: first.digest },
  ]);
  one.rewind({ sequence: 1, prev: `sha256:${'0'.repeat(64)}` });
  const forked = one.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() });
  const fork = await exchange.submit(host, [forked]);
  expect([fork.status, fork.body]).toMatchObject([
    409,
    { code: 'chain_fork', accepted_digest: first.digest, received_digest: forked.digest },
  ]);
  one.rewind({ sequence: 0, prev: null });
  const changed = one.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() });
  const duplicate = await exchange.submit(host, [changed]);
  expect([duplicate.status, duplicate.body]).toMatchObject([
    409,
    {
      ...{ code: 'changed_duplicate', accepted_digest: first.digest, received_digest: changed.digest },
      ...{ contradictions: 2, held_at: 3 },
    },
  ]);
  const { rows } = await exchange.pool.query(
    'select kind, digest, payload from equivocation where key_id = $1 order by sequence',
    [host.key.id],
  );
  expect(rows).toEqual([
    { kind: 'changed_duplicate', digest: changed.digest, payload: changed.envelope.payload },
    { kind: 'chain_fork', digest: forked.digest, payload: forked.envelope.payload },
  ]);
});

test('the third contradiction holds the stream; duplicates are still answered, and a rotation by another key opens it at its head', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const first = one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  for (const version of [2, 3, 4]) {
    one.rewind({ sequence: 0, prev: null });
    await exchange.submit(host, [one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() })]);
  }
  one.rewind({ sequence: 1, prev: first.digest });
  const held = one.write('content-snapshot/1', 'ep-1', 9, { episode: episodeBody() });
  expect(await exchange.submit(host, [held])).toMatchObject({ status: 423, body: { code: 'stream_quarantined' } });
  expect(resultsOf(await exchange.submit(host, [first]))).toMatchObject([{ status: 'replayed' }]);

  const successor = newKey();
  await exchange.saveTestKey(host, successor);
  const rotation = {
    retire_kid: host.key.id,
    successor_kid: successor.id,
    overlap_until: '2026-12-01T00:00:00Z',
    cause: 'stolen',
  };
  one.rewind({ sequence: 1, prev: first.digest });
  const bySameKey = one.write('authority-rotation/1', host.authorityId, 1, {
    ...rotation,
    retire_kid: successor.id,
    successor_kid: host.key.id,
  });
  expect(await exchange.submit(host, [bySameKey])).toMatchObject({ status: 423 });
  one.rewind({ sequence: 1, prev: first.digest });
  const rotated = one.write('authority-rotation/1', host.authorityId, 1, rotation, {}, successor);
  const next = one.write('content-snapshot/1', 'ep-1', 9, { episode: episodeBody() }, {}, successor);
  expect(await exchange.submit(host, [rotated, next])).toMatchObject({ status: 202 });
  expect(exchange.commands.log.at(-2)).toMatchObject({
    type: 'authority_grant.record_rotation',
    subjectId: host.authorityId,
  });
});

test('a rotation that management refuses opens nothing, and an alias that it refuses keeps neither host nor address', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const prepared = [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
  ];
  await exchange.submit(host, prepared);
  const place = { sequence: 2, prev: prepared[1]!.digest };
  exchange.commands.faults.set('delivery_alias.register', new Problem('key_revoked'));
  const alias = one.write('delivery-alias/1', 'a1', 1, aliasBody('a1', { host: 'pier' }));
  expect(await exchange.submit(host, [alias])).toMatchObject({ status: 422, body: { code: 'key_revoked' } });
  exchange.commands.faults.clear();
  expect((await exchange.pool.query(`select from host_slug where host = 'pier'`)).rowCount).toBe(0);

  for (const version of [2, 3, 4]) {
    one.rewind({ sequence: 0, prev: null });
    await exchange.submit(host, [one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() })]);
  }
  const successor = newKey();
  await exchange.saveTestKey(host, successor);
  one.rewind(place);
  const rotation = {
    retire_kid: host.key.id,
    successor_kid: successor.id,
    overlap_until: '2026-12-01T00:00:00Z',
    cause: 'x',
  };
  const rotated = one.write('authority-rotation/1', host.authorityId, 1, rotation, {}, successor);
  const errors = [{ path: '/changes/rotation/retired_key_id', code: 'out_of_range', detail: 'No.' }];
  exchange.commands.faults.set(rotated.digest, new Problem('validation_failed', 'No.', { errors }));
  const refused = await exchange.submit(host, [rotated]);
  expect([refused.status, refused.body['errors']]).toEqual([
    422,
    [{ path: '/messages/0/payload/body/retire_kid', code: 'out_of_range', detail: 'No.' }],
  ]);
  exchange.commands.faults.clear();
  const stateOf = async () =>
    (await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`)).body['state'];
  expect(await stateOf()).toBe('quarantined');
  expect(await exchange.submit(host, [rotated])).toMatchObject({ status: 202 });
  expect(await stateOf()).toBe('open');
});

test('an event id that comes again in another stream counts against the stream of the accepted message', async () => {
  const host = await exchange.platform();
  const first = writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  for (const id of ['show:2', 'show:3', 'show:4']) {
    const again = { event_id: first.payload.event_id };
    const message = writer(host, id).write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() }, again);
    expect(await exchange.submit(host, [message])).toMatchObject({ status: 409, body: { code: 'changed_duplicate' } });
  }
  const stream = await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`);
  expect(stream.body).toMatchObject({ state: 'quarantined' });
});

test('every refusal is counted for the authority of the client, by its code', async () => {
  const host = await exchange.platform();
  const path = `/workspaces/${host.workspaceId}/messages`;
  await exchange.request(host, 'POST', path, { body: '{' });
  await exchange.request(host, 'POST', path, { body: { messages: [{}] } });
  await exchange.request(host, 'GET', `/workspaces/${newId('ws')}/streams/show:1`);
  const { rows } = await exchange.pool.query(
    'select code, refusals from refusal where authority_id = $1 order by code',
    [host.authorityId],
  );
  expect(rows).toEqual([
    { code: 'cross_workspace_identity', refusals: 1 },
    { code: 'malformed_message', refusals: 2 },
  ]);
});

test('a duplicate of a retired or revoked key gets its receipt; anything new that the key signs is refused', async () => {
  const host = await exchange.platform();
  const { write } = writer(host);
  const first = write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(host, [first]);
  await exchange.saveTestKey(host, host.key, { state: 'revoked', version: 2 });
  expect(await exchange.submit(host, [first])).toMatchObject({ status: 200 });
  const next = write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() });
  expect(await exchange.submit(host, [next])).toMatchObject({ status: 422, body: { code: 'key_revoked' } });
});

test('a foreign id and a missing id get the same bytes, but for the trace', async () => {
  const [host, other] = [await exchange.platform(), await exchange.platform()];
  const theirs = writer(other);
  await exchange.submit(other, [
    theirs.write('content-snapshot/1', 'ep-other', 1, { episode: episodeBody() }),
    theirs.write('surface-capability/1', 'app', 1, capabilityBody('app')),
  ]);
  const answers: unknown[] = [];
  for (const target of ['ep-other', 'ep-nobody']) {
    const mine = writer(host, `show:${target}`);
    const capability = mine.write('surface-capability/1', `app-${target}`, 1, capabilityBody(`app-${target}`));
    const alias = mine.write(
      'delivery-alias/1',
      'a1',
      1,
      aliasBody('a1', {
        target: { type: 'episode', source_id: target },
        route_policy: { surface_id: `app-${target}`, route: 'platform_controlled', when_unavailable: 'gone' },
      }),
    );
    const { status, body } = await exchange.submit(host, [capability, alias]);
    const { trace_id: _trace, instance: _instance, results: _results, ...rest } = body;
    answers.push([status, rest]);
  }
  expect(answers[0]).toEqual(answers[1]);
  const errors = [{ path: '/messages/1/payload/body/target/source_id' }];
  expect(answers[0]).toMatchObject([403, { code: 'cross_workspace_identity', errors }]);
});

test('a host name belongs to one workspace for ever, an address to one alias, and a retired alias never comes back', async () => {
  const [host, other] = [await exchange.platform(), await exchange.platform()];
  const prepared = async (platform: typeof host) => {
    const one = writer(platform);
    await exchange.submit(platform, [
      one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
      one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
    ]);
    return one;
  };
  const mine = await prepared(host);
  const theirs = await prepared(other);
  const named = { host: 'harbour' };
  expect(await exchange.submit(host, [mine.write('delivery-alias/1', 'a1', 1, aliasBody('a1', named))])).toMatchObject({
    status: 202,
  });
  expect(
    await exchange.submit(other, [theirs.write('delivery-alias/1', 'b1', 1, aliasBody('b1', named))]),
  ).toMatchObject({
    status: 403,
    body: { code: 'cross_workspace_identity' },
  });
  const retired = mine.write(
    'delivery-alias/1',
    'a1',
    2,
    aliasBody('a1', { ...named, state: 'retired', supersedes_version: 1 }),
  );
  expect(await exchange.submit(host, [retired])).toMatchObject({ status: 202 });
  const revived = mine.write('delivery-alias/1', 'a1', 3, aliasBody('a1', { ...named, supersedes_version: 2 }));
  expect(await exchange.submit(host, [revived])).toMatchObject({ status: 422, body: { code: 'state_not_allowed' } });
  mine.rewind({ sequence: 4, prev: retired.digest });
  const taken = mine.write('delivery-alias/1', 'a2', 1, aliasBody('a2', { ...named, path_slug: 'a1' }));
  expect(await exchange.submit(host, [taken])).toMatchObject({ status: 422, body: { code: 'validation_failed' } });
});

test('an alias is activated only while the capability of its surface is current', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const ended = capabilityBody('app', { valid_until: '2026-11-25T11:59:59.990Z' });
  const sent = await exchange.submit(host, [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, ended, { issued_at: '2026-11-25T11:59:30Z' }),
    one.write('delivery-alias/1', 'a1', 1, aliasBody('a1', { host: 'quay' }), { issued_at: '2026-11-25T11:59:31Z' }),
  ]);
  expect([sent.status, sent.body]).toMatchObject([422, { code: 'capability_not_supported', index: 2 }]);
});

test('a revocation of a version that was not sent yet refuses that version, and a newer one is accepted', async () => {
  const host = await exchange.platform();
  const { write, rewind } = writer(host);
  const revocation = {
    revoke_version: 3,
    mode: 'stop_new',
    cause: 'A wrong cut.',
    effective_at: '2026-11-25T11:00:00Z',
  };
  const revoked = write('content-revocation/1', 'ep-1', 1, revocation);
  expect(await exchange.submit(host, [revoked])).toMatchObject({ status: 202 });
  const third = write('content-snapshot/1', 'ep-1', 3, { episode: episodeBody() });
  expect(await exchange.submit(host, [third])).toMatchObject({ status: 409, body: { code: 'source_revoked' } });
  rewind({ sequence: 1, prev: revoked.digest });
  const fourth = write('content-snapshot/1', 'ep-1', 4, { episode: episodeBody() });
  expect(await exchange.submit(host, [fourth])).toMatchObject({ status: 202 });
});

test('messages whose commands management refuses leave the chain, with those after them', async () => {
  const host = await exchange.platform();
  const { write } = writer(host);
  const messages = [1, 2, 3].map((version) => write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }));
  exchange.commands.faults.set(messages[1]!.digest, new Problem('state_not_allowed', 'The workspace is suspended.'));
  const sent = await exchange.submit(host, messages, { key: 'refused' });
  expect([sent.status, sent.body]).toMatchObject([422, { code: 'state_not_allowed', index: 1 }]);
  // The key is free for the corrected messages.
  expect(await exchange.submit(host, messages.slice(0, 1), { key: 'refused' })).toMatchObject({ status: 200 });
  const head = await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`);
  expect(head.body).toMatchObject({ head: { sequence: 1 } });
  exchange.commands.faults.clear();
  expect(resultsOf(await exchange.submit(host, messages)).map(({ status }) => status)).toEqual([
    'replayed',
    'accepted',
    'accepted',
  ]);
});

test('while management is away nothing is lost: the messages keep their places, and the next request goes on with them', async () => {
  const host = await exchange.platform();
  const { write } = writer(host);
  const messages = [1, 2, 3].map((version) => write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }));
  exchange.commands.faults.set(
    messages[1]!.digest,
    new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }),
  );
  expect(await exchange.submit(host, messages)).toMatchObject({ status: 503 });
  exchange.commands.faults.clear();
  const again = await exchange.submit(host, messages);
  expect([again.status, resultsOf(again).map(({ status }) => status)]).toEqual([
    200,
    ['replayed', 'replayed', 'replayed'],
  ]);
  const commands = exchange.commands.log.filter(({ changes }) => changes['authority_id'] === host.authorityId);
  expect(commands.map(({ key }) => key)).toEqual(messages.map(({ digest }) => digest));
});

test('another authority cannot write into a stream, nor read it', async () => {
  const workspaceId = newId('ws');
  const [host, other] = [await exchange.platform(workspaceId), await exchange.platform(workspaceId)];
  await exchange.submit(host, [writer(host).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() })]);
  const intruding = writer(other).write('content-snapshot/1', 'ep-9', 1, { episode: episodeBody() });
  expect(await exchange.submit(other, [intruding])).toMatchObject({
    status: 403,
    body: { code: 'cross_workspace_identity' },
  });
  expect(await exchange.request(other, 'GET', `/workspaces/${workspaceId}/streams/show:1`)).toMatchObject({
    status: 404,
  });
});
