import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { insertPending } from '../src/messages/message-table.ts';
import { insertStream } from '../src/streams/stream-table.ts';
import { episodeBody, now, startExchange, writer, type Exchange, type Platform, type Signed } from './_exchange.ts';

let exchange: Exchange;
let host: Platform;
beforeAll(async () => {
  exchange = await startExchange();
  host = await exchange.platform();
});
afterAll(() => exchange[Symbol.asyncDispose]());

/** Takes places without the locks and the judge that stand before them. */
const insert = (messages: readonly Signed[]) =>
  transaction(exchange.pool, (tx) =>
    insertPending(
      tx,
      messages.map(({ envelope, digest, payload }) => ({
        ...{ envelope, digest, keyId: host.key.id, message: payload, resourceType: 'content_snapshots' },
      })),
      now,
    ),
  );

/** A message of a new stream about a new episode. */
const first = (streamId: string = `show:${newId('pod')}`, sourceId: string = newId('ep'), version = 1, changes = {}) =>
  writer(host, streamId).write('content-snapshot/1', sourceId, version, { episode: episodeBody() }, changes);

const violation = (constraint: string) => ({ code: '23505', constraint });

const collisions: readonly (readonly [what: string, constraint: string, other: (kept: Signed) => Signed])[] = [
  ['message for one place', 'message_pkey', ({ payload }) => first(payload.stream_id)],
  [
    'message with one event id, in another stream',
    'message_authority_id_event_id_key',
    ({ payload }) => first(undefined, undefined, 1, { event_id: payload.event_id }),
  ],
  [
    'message about one version of a subject, in another stream',
    'message_authority_id_subject_type_source_id_source_version_key',
    ({ payload: { subject } }) => first(undefined, subject.source_id, subject.source_version),
  ],
  ['message with one digest', 'message_digest_key', ({ digest }) => ({ ...first(), digest })],
];

test.each(collisions)('the database refuses a second %s', async (_what, constraint, other) => {
  const kept = first();
  await insert([kept]);
  await expect(insert([other(kept)])).rejects.toMatchObject(violation(constraint));
  // An ordinary one has a place.
  await insert([first()]);
});

test.each(collisions)(
  'of two transactions at the same time, one inserts, and the other is refused as a second %s',
  async (...row) => {
    const [, constraint, other] = row;
    const one = first();
    const outcomes = await Promise.allSettled([insert([one]), insert([other(one)])]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject(violation(constraint));
  },
);

test('the same event id, source and version belong to each authority for itself', async () => {
  const other = await exchange.platform(host.workspaceId);
  const event_id = randomUUID();
  const source = newId('ep');
  const of = (platform: Platform) =>
    writer(platform, `show:${newId('pod')}`).write(
      'content-snapshot/1',
      source,
      1,
      { episode: episodeBody() },
      { event_id },
    );
  await insert([of(host), of(other)]);
});

test('the database refuses a second owner of a stream', async () => {
  const stream = { workspaceId: host.workspaceId, streamId: `show:${newId('pod')}` };
  const claim = (authorityId: string) =>
    transaction(exchange.pool, (tx) => insertStream(tx, { ...stream, authorityId }));
  await claim(host.authorityId);
  await expect(claim(newId('agr'))).rejects.toMatchObject(violation('stream_pkey'));
});
