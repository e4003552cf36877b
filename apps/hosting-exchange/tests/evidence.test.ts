import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rowsDigestOf, sha256Digest } from '@longwave/exchange-messages';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import type { EvidenceRow, ImportEvidenceRequest } from '@longwave/rpc/audience';
import { createLogger } from '@longwave/service-kit';
import { until } from '@longwave/test-kit';
import { startEvidenceImports } from '../src/evidence/import-evidence.ts';
import { episodeBody, startExchange, writer, type Exchange, type Platform } from './_exchange.ts';

let exchange: Exchange;
/** What the host of the rows answers, by path. */
const files = new Map<string, { readonly status: number; readonly body: string }>();
const imported: ImportEvidenceRequest[] = [];
const host = createServer(({ url = '' }, response) => {
  const { status, body } = files.get(url) ?? { status: 404, body: '' };
  response.writeHead(status).end(body);
});
let origin: string;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void host.close());
  origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  exchange = stack.use(await startExchange({ allowOrigins: [origin] }));
  stack.use(
    startEvidenceImports({
      ...{ pool: exchange.pool, send: exchange.commands.send, clock: () => exchange.clock.now },
      sink: {
        importEvidence: async (request) => {
          imported.push(request);
          return {};
        },
      },
      fetch: createGuardedFetch({ allowOrigins: [origin] }),
      logger: createLogger('hosting-exchange', 'silent'),
      everyMs: 20,
    }),
  );
});
afterAll(() => stack.disposeAsync());

const row = (changes: object = {}) => ({ source_id: 'ep-1', at: '2026-11-20T00:00:00Z', downloads: 12, ...changes });
const report = (changes: object) => ({
  ...{ source_label: 'northern', platform: 'app', kind: 'delivery', granularity: 'day', revision: 1 },
  period: { start: '2026-11-20T00:00:00Z', end: '2026-11-22T00:00:00Z' },
  ...{ method_note: 'As the IAB says.', finality: 'final' },
  ...changes,
});

/** A platform that has sent one episode, which is not encoded, and sends evidence; answers the id of the report. */
async function send(
  body: object,
): Promise<{ readonly platform: Platform; readonly evidenceId: string; readonly status: number }> {
  const platform = await exchange.platform();
  const one = writer(platform);
  await exchange.submit(platform, [one.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() })]);
  const { status, body: answer } = await exchange.submit(platform, [
    one.write('platform-evidence/1', 'november', 1, body as Record<string, unknown>),
  ]);
  const [result] = (answer['results'] ?? []) as { resource: { id: string } }[];
  return { platform, evidenceId: result?.resource.id ?? '', status };
}

const outcomeOf = (evidenceId: string) =>
  until('the outcome', async () =>
    exchange.commands.log.find(
      ({ type, subjectId }) => subjectId === evidenceId && type.startsWith('platform_evidence.record'),
    ),
  );

test('rows in a message reach the sink whole and in order, under the name of their source', async () => {
  const rows = Array.from({ length: 1_500 }, (_, hour) =>
    row({ at: new Date(Date.UTC(2026, 10, 1, hour)).toISOString(), downloads: hour }),
  );
  const { evidenceId, status } = await send(
    report({
      granularity: 'hour',
      period: { start: '2026-11-01T00:00:00Z', end: '2027-01-03T00:00:00Z' },
      rows,
      rows_digest: rowsDigestOf(rows),
    }),
  );
  expect(status).toBe(202);
  expect(await outcomeOf(evidenceId)).toMatchObject({
    type: 'platform_evidence.record_ready',
    changes: { row_count: 1_500 },
  });
  const calls = imported.filter(({ report: { evidenceId: id } = {} }) => id === evidenceId);
  expect(calls.map(({ firstRow, rows: part }) => [firstRow, part.length])).toEqual([
    [0, 1_000],
    [1_000, 500],
  ]);
  expect(calls[0]!.report).toMatchObject({ sourceLabel: 'northern', kind: 'delivery', finality: 'final' });
  expect(calls.flatMap(({ rows: part }): EvidenceRow[] => part).map(({ downloads }) => Number(downloads))).toEqual(
    rows.map(({ downloads }) => downloads),
  );
});

const byAddress = (path: string, digest: string) => send(report({ rows_url: `${origin}${path}`, rows_digest: digest }));

/** Puts rows at an address, and answers its path. */
function publish(name: string, body: string): string {
  files.set(`/${name}.json`, { status: 200, body });
  return `/${name}.json`;
}

test('rows at an address are fetched, and imported when they have the digest that the message names', async () => {
  const text = JSON.stringify([row(), row({ at: '2026-11-21T00:00:00Z', downloads: 7 })]);
  const { evidenceId } = await byAddress(publish('good', text), sha256Digest(text));
  expect(await outcomeOf(evidenceId)).toMatchObject({
    type: 'platform_evidence.record_ready',
    changes: { row_count: 2 },
  });
  expect(imported.filter(({ report: { evidenceId: id } = {} }) => id === evidenceId)).toHaveLength(1);
});

test.each([
  ['other bytes', 'digest_mismatch', JSON.stringify([row({ downloads: 13 })])],
  ['no JSON', 'malformed_payload', 'downloads: 12'],
  ['an unknown field', 'unknown_field', JSON.stringify([row({ plots: 1 })])],
  ['a row outside of the period', 'validation_failed', JSON.stringify([row({ at: '2026-12-01T00:00:00Z' })])],
  ['a source that was never sent', 'unknown_source', JSON.stringify([row({ source_id: 'ep-9' })])],
])('a file with %s fails in words, and nothing of it is imported', async (what, code, text) => {
  const digest = code === 'digest_mismatch' ? sha256Digest(JSON.stringify([row()])) : sha256Digest(text);
  const { evidenceId } = await byAddress(publish(encodeURIComponent(what), text), digest);
  expect(await outcomeOf(evidenceId)).toMatchObject({
    type: 'platform_evidence.record_failed',
    changes: { problem: { code } },
  });
  expect(imported.filter(({ report: { evidenceId: id } = {} }) => id === evidenceId)).toEqual([]);
});

test('rows at an address that nobody serves are tried again, and fail in words in the end', async () => {
  const { evidenceId } = await byAddress('/nothing.json', `sha256:${'0'.repeat(64)}`);
  // Time passes until each next attempt is due, but not while one runs: else its lease ends, and another takes it over.
  const attempts = await until('the last attempt', async () => {
    const { rows } = await exchange.pool.query<{ attempts: number; due: Date; runs: boolean; ended: Date | null }>(
      `select attempts, next_attempt_at as due, running_until is not null as runs, ended_at as ended
       from evidence_import where evidence_id = $1`,
      [evidenceId],
    );
    if (rows[0]!.ended) return rows[0]!.attempts;
    if (rows[0]!.runs) return undefined;
    exchange.clock.now = new Date(Math.max(rows[0]!.due.getTime(), exchange.clock.now.getTime()) + 1);
    return undefined;
  });
  expect(attempts).toBe(12);
  expect(await outcomeOf(evidenceId)).toMatchObject({
    type: 'platform_evidence.record_failed',
    changes: { problem: { code: 'rows_not_fetchable' } },
  });
});
