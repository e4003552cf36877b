import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { costOf, recordStatements } from '@longwave/test-kit/statements';
import { aliasBody, capabilityBody, episodeBody, startExchange, writer, type Exchange } from './_exchange.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange?.[Symbol.asyncDispose]());

const revocation = (version: number) => ({
  ...{ revoke_version: version, mode: 'stop_new', cause: 'A wrong cut.' },
  effective_at: '2026-11-25T11:00:00Z',
});
const ofStream = /\b(?:from|join) (?:message|stream|equivocation|withdrawn_message)\b/;

/** The greatest cost of each query about messages during some work. */
async function costsOf(work: () => Promise<unknown>) {
  const costs = new Map<string, { readonly rows: number; readonly blocks: number }>();
  for (const query of await recordStatements(exchange.pool, work)) {
    if (query.name === undefined || !/^\s*select\b/.test(query.text) || !ofStream.test(query.text)) continue;
    const [cost, known] = [await costOf(exchange.pool, query), costs.get(query.name)];
    costs.set(query.name, {
      rows: Math.max(cost.rows, known?.rows ?? 0),
      blocks: Math.max(cost.blocks, known?.blocks ?? 0),
    });
  }
  return costs;
}

test('a message costs the same after 50,000 of its stream and its subject as after a few', async () => {
  const host = await exchange.platform();
  const one = writer(host);
  const first = [
    one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() }),
    one.write('surface-capability/1', 'app', 1, capabilityBody('app')),
    one.write('content-revocation/1', 'ep-1', 2, revocation(1)),
  ];
  expect(await exchange.submit(host, first)).toMatchObject({ status: 202 });
  /** A message of each kind that looks something up, and the same again. */
  const sendAll = async (version: number, alias: string) => {
    const messages = [
      one.write('content-snapshot/1', 'ep-1', version, { episode: episodeBody() }),
      one.write('content-revocation/1', 'ep-1', version + 1, revocation(version)),
      one.write('surface-capability/1', 'app', version, capabilityBody('app')),
      one.write('delivery-alias/1', alias, 1, aliasBody(alias)),
    ];
    expect(await exchange.submit(host, messages)).toMatchObject({ status: 202 });
    expect(await exchange.submit(host, messages)).toMatchObject({ status: 200 });
    await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/streams/show:1`);
    await exchange.request(host, 'GET', `/workspaces/${host.workspaceId}/content-snapshots/ep-1`);
  };
  const early = await costsOf(() => sendAll(3, 'early'));

  // Two messages about each version: it was sent, and taken back.
  const head = 7;
  await exchange.pool.query(
    `insert into message (workspace_id, stream_id, sequence, digest, authority_id, key_id, schema, subject_type, source_id,
       source_version, revokes, event_id, issued_at, protected, payload, signature, state, resource_type, resource_id, operation_id,
       receipt_id, received_at, accepted_at)
     select workspace_id, stream_id, $2 + n, 'sha256:' || encode(sha256(convert_to('long' || n, 'UTF8')), 'hex'), authority_id, key_id, schema,
       subject_type, source_id, 10 + n, case when n % 2 = 0 then 9 + n end, gen_random_uuid(), issued_at, protected, payload, signature,
       state, resource_type, resource_id || n, operation_id || n, receipt_id || n, received_at, accepted_at
     from message, generate_series(1, 50000) n where digest = $1`,
    [first[0]!.digest, head],
  );
  await exchange.database.vacuum();
  const { rows } = await exchange.pool.query<{ digest: string }>(
    'select digest from message where stream_id = $1 and authority_id = $2 order by sequence desc limit 1',
    ['show:1', host.authorityId],
  );
  one.rewind({ sequence: head + 50_000, prev: rows[0]!.digest });
  const late = await costsOf(() => sendAll(300_000, 'late'));
  expect([...late.keys()]).toEqual(
    expect.arrayContaining([
      'chain_head',
      'chain_digests',
      'chain_events',
      'read_subjects',
      'read_revoked',
      'find_stream',
    ]),
  );
  const grown = [...late].filter(
    ([name, { rows: read, blocks }]) => read > Math.max(20, early.get(name)?.rows ?? 0) || blocks > 80,
  );
  expect(grown).toEqual([]);
}, 120_000);
