import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { costOf, recordStatements } from '@longwave/test-kit/statements';
import { postponeImport, takeImport } from '../src/evidence/evidence-table.ts';
import { episodeBody, now, startExchange, writer, type Exchange, type Platform } from './_exchange.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange?.[Symbol.asyncDispose]());
beforeEach(() => exchange.pool.query('delete from evidence_import'));

/** A platform, and the digest of a message of it. */
async function sender() {
  const platform = await exchange.platform();
  const sent = writer(platform).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  await exchange.submit(platform, [sent]);
  return { ...platform, digest: sent.digest };
}

/** Queues imports of one authority that are due since a time, each a millisecond later than the one before. */
const queue = (
  { workspaceId, authorityId, digest }: Platform & { readonly digest: string },
  times: number,
  secondsAgo: number,
) =>
  exchange.pool.query(
    `insert into evidence_import (evidence_id, workspace_id, authority_id, message_digest, next_attempt_at)
     select 'pev_' || $2::text || n, $1, $2, $3, $4::timestamptz - $5 * interval '1 s' + n * interval '1 ms' from generate_series(1, $6::int) as n`,
    [workspaceId, authorityId, digest, now, secondsAgo, times],
  );

const take = () => takeImport(exchange.pool, now, 60_000);

test('the import that is due longest is taken first, one of each authority at a time', async () => {
  const [many, one] = [await sender(), await sender()];
  await queue(many, 3, 3600);
  await queue(one, 1, 60);
  expect((await take())?.evidenceId).toBe(`pev_${many.authorityId}1`);
  expect((await take())?.evidenceId).toBe(`pev_${one.authorityId}1`);
  expect(await take()).toBeUndefined();
  await postponeImport(exchange.pool, `pev_${many.authorityId}1`, new Date(now.getTime() + 1000));
  expect((await take())?.evidenceId).toBe(`pev_${many.authorityId}2`);
});

test('of four that take an import at the same time each gets one of another authority', async () => {
  const senders = [await sender(), await sender(), await sender()];
  for (const each of senders) await queue(each, 10, 60);
  const taken = await Promise.all(Array.from({ length: 4 }, take));
  const ids = taken.flatMap((due) => (due ? [due.evidenceId] : []));
  expect(ids.toSorted()).toEqual(senders.map(({ authorityId }) => `pev_${authorityId}1`).toSorted());
});

test.each(['waits', 'has one that runs'])(
  'taking an import costs the same with 20,000 of one authority that %s as with 100',
  async (state) => {
    const costs = [];
    for (const times of [100, 20_000]) {
      await exchange.pool.query('delete from evidence_import');
      await queue(await sender(), times, 3600);
      if (state !== 'waits') await take();
      const [statement] = await recordStatements(exchange.pool, take);
      costs.push(await costOf(exchange.pool, statement!));
    }
    const [early, late] = costs;
    expect(late!.rows).toBeLessThanOrEqual(early!.rows + 5);
    expect(late!.blocks).toBeLessThanOrEqual(2 * early!.blocks + 50);
  },
);
