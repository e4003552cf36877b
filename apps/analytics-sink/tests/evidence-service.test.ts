import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Child } from '@longwave/fleet';
import type { RpcClient } from '@longwave/rpc';
import type { EvidenceServiceService } from '@longwave/rpc/audience';
import { until } from '@longwave/test-kit';
import { reportOf, rowOf } from './_evidence.ts';
import { facts, startSinkWorld, type SinkWorld } from './_sink-world.ts';
import { emptyEvidence } from './_tables.ts';

let world: SinkWorld;
let sink: Child;
let evidence: RpcClient<typeof EvidenceServiceService>;
const within = { deadlineMs: 10_000 };

beforeAll(async () => {
  world = await startSinkWorld();
  sink = await world.start();
  evidence = world.evidenceAs('hosting-exchange');
});
afterAll(async () => {
  evidence.close();
  await sink.stop();
  await world[Symbol.asyncDispose]();
});
beforeEach(() => emptyEvidence(world.pool));

const list = async (evidenceId: string, { firstRow = 0, limit = 1_000, workspaceId = 'ws_1' } = {}) =>
  (await evidence.listEvidenceRows({ workspaceId, evidenceId, firstRow, limit }, within)).rows;

describe('evidence of another platform', () => {
  test('comes back as it was reported, in its order, with what was not reported left open', async () => {
    const rows = [
      rowOf('two', 0n),
      rowOf('one', undefined, { plays: 7n, listeners: 5n, completes: 3n, impressions: 2n }),
      rowOf('one', 2n ** 63n - 1n, { revenueMicros: -(2n ** 63n) }),
    ];
    await evidence.importEvidence({ report: reportOf('pev_1'), firstRow: 0, rows }, within);
    expect(await list('pev_1')).toEqual(rows);
    expect(await list('pev_1', { firstRow: 1, limit: 1 })).toEqual([rows[1]]);
    expect(await list('pev_1', { firstRow: 3 })).toEqual([]);
  });

  test('that is imported again, in other pieces or with other numbers, stays as it came first', async () => {
    const rows = Array.from({ length: 5 }, (_, place) => rowOf('one', BigInt(place)));
    const send = (firstRow: number, some: typeof rows) =>
      evidence.importEvidence({ report: reportOf('pev_1'), firstRow, rows: some }, within);
    await send(3, rows.slice(3));
    await Promise.all([send(0, rows.slice(0, 3)), send(0, rows), send(0, rows)]);
    await send(1, [rowOf('one', 99n)]);
    expect(await list('pev_1')).toEqual(rows);
  });

  test('without rows is a report without rows; one that nobody imported is not found', async () => {
    await evidence.importEvidence({ report: reportOf('pev_1'), firstRow: 0, rows: [] }, within);
    expect(await list('pev_1')).toEqual([]);
    await expect(list('pev_2')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('of another workspace is not found, and nothing can be added to it', async () => {
    await evidence.importEvidence({ report: reportOf('pev_1'), firstRow: 0, rows: [rowOf('one', 1n)] }, within);
    const foreign = await list('pev_1', { workspaceId: 'ws_2' }).catch((error: unknown) => error);
    const missing = await list('pev_none', { workspaceId: 'ws_2' }).catch((error: unknown) => error);
    expect(foreign).toMatchObject({ code: 'not_found' });
    expect(String(foreign)).toBe(String(missing));
    const report = reportOf('pev_1', 'ws_2');
    await expect(
      evidence.importEvidence({ report, firstRow: 1, rows: [rowOf('one', 1n)] }, within),
    ).rejects.toMatchObject({ code: 'not_found' });
    expect(await list('pev_1')).toHaveLength(1);
  });

  test.each([
    ['no report', { report: undefined }],
    ['an unknown kind', { report: { ...reportOf('pev_1'), kind: 'guess' } }],
    ['a period that ends before it starts', { report: { ...reportOf('pev_1'), periodEndMs: 0n } }],
    ['a negative count', { rows: [rowOf('one', -1n)] }],
    ['a row without an episode', { rows: [rowOf('', 1n)] }],
    ['a place before the first', { firstRow: -1 }],
    ['more than 1,000 rows', { rows: Array.from({ length: 1_001 }, () => rowOf('one', 1n)) }],
  ])('with %s is refused, and nothing of it is kept', async (_what, changes) => {
    const request = { report: reportOf('pev_1'), firstRow: 0, rows: [rowOf('one', 1n)], ...changes };
    await expect(evidence.importEvidence(request, within)).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(list('pev_1')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is taken from hosting-exchange, and told to it and to management, which reconciles by it, and to no other service', async () => {
    for (const name of ['management', 'rest-gateway', 'operator'] as const) {
      const other = world.evidenceAs(name);
      const calls = [
        other.importEvidence({ report: reportOf('pev_1'), firstRow: 0, rows: [] }, within),
        ...(name === 'management'
          ? []
          : [other.listEvidenceRows({ workspaceId: 'ws_1', evidenceId: 'pev_1', firstRow: 0, limit: 1 }, within)]),
        other.countWindows({ workspaceId: 'ws_1', windows: [] }, within),
      ];
      for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'permission_denied' });
      other.close();
    }
  });
});

describe('our own downloads in windows', () => {
  beforeAll(async () => {
    await world.publish(facts);
    await until(async () => (await world.stored()) === facts.length - 1);
  });
  const hours = (episodeId: string, from: string, to: string) => ({
    ...{ episodeId, startMs: BigInt(Date.parse(from)), endMs: BigInt(Date.parse(to)) },
  });
  const count = async (workspaceId: string, ...windows: ReturnType<typeof hours>[]) =>
    (await evidence.countWindows({ workspaceId, windows }, within)).downloads;

  test('are those that our analytics show, for each window in its order, and 0 without any', async () => {
    const month = hours('ep_1', '2025-11-01T00:00Z', '2025-11-05T00:00Z');
    const counted = await count(
      'ws_1',
      month,
      hours('ep_2', '2025-11-01T00:00Z', '2025-11-05T00:00Z'),
      hours('ep_1', '2025-11-03T08:00Z', '2025-11-03T09:00Z'),
      hours('ep_1', '2025-11-03T09:00Z', '2025-11-04T00:00Z'),
      hours('ep_none', '2025-11-01T00:00Z', '2025-11-05T00:00Z'),
      month,
    );
    const { buckets } = await world.countDays('ws_1', 'ep_1');
    const shown = buckets.reduce((sum, { downloads }) => sum + downloads, 0n);
    expect(counted).toEqual([shown, 1n, 1n, 0n, 0n, shown]);
    expect(shown).toBe(2n);
  });

  test('of another workspace are not counted', async () => {
    expect(await count('ws_2', hours('ep_1', '2025-11-01T00:00Z', '2025-11-05T00:00Z'))).toEqual([0n]);
  });

  test.each([
    ['that begin within an hour', hours('ep_1', '2025-11-01T00:30Z', '2025-11-05T00:00Z')],
    ['that end before they begin', hours('ep_1', '2025-11-02T00:00Z', '2025-11-01T00:00Z')],
    ['of no episode', hours('', '2025-11-01T00:00Z', '2025-11-05T00:00Z')],
  ])('%s are refused', async (_what, window) => {
    await expect(count('ws_1', window)).rejects.toMatchObject({ code: 'validation_failed' });
  });
});
