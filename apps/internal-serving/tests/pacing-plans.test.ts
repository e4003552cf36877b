import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { developmentCa } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { openChannel, readTls, serveRpc, type RpcClient } from '@longwave/rpc';
import { PacingServiceService, type PutPlansRequest } from '@longwave/rpc/serving';
import { pacingService } from '../src/pacer/pacing-service.ts';
import { startPacing, sumOf, type Pacing } from './_pacer.ts';
import { hourMs, plannedLine } from './_planned-line.ts';

let pacing: Pacing;
/** Clients with the certificates of these services. */
let clients: Readonly<Record<'forecaster' | 'management', RpcClient<typeof PacingServiceService>>>;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  pacing = stack.use(await startPacing());
  const folder = mkdtempSync(path.join(tmpdir(), 'longwave-plans-'));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const identities = await developmentCa(folder, ['internal-serving', 'forecaster', 'management'], new Date());
  const server = await serveRpc({
    ...{ listen: '127.0.0.1:0', tls: readTls(identities['internal-serving']), onError: () => undefined },
    services: [pacingService(pacing.pool)],
  });
  stack.defer(() => server.close(100));
  const clientOf = (name: 'forecaster' | 'management') => {
    const channel = openChannel(`127.0.0.1:${server.port}`, 'internal-serving', readTls(identities[name]));
    stack.defer(() => channel.close());
    return channel.client(PacingServiceService);
  };
  clients = { forecaster: clientOf('forecaster'), management: clientOf('management') };
});
afterAll(() => stack[Symbol.asyncDispose]());

const startMs = Date.UTC(2026, 2, 26);

function put(
  workspaceId: string,
  hours: Readonly<Record<string, readonly number[]>>,
  given: Partial<PutPlansRequest>,
  as: keyof typeof clients = 'forecaster',
) {
  const plans = Object.entries(hours).map(([lineItemId, own]) => ({
    ...{ lineItemId, startsAtMs: BigInt(startMs), hours: [...own], learning: false },
  }));
  const request = { workspaceId, asOfMs: 1_000n, plans, isLast: false, ...given };
  return clients[as].putPlans(request, { deadlineMs: 5_000 });
}

const keptPlans = (workspaceId: string) =>
  pacing.rowsOf<{ line_item_id: string; digest: string; hours: number[] }>(
    'select line_item_id, digest, hours from pacing_plan where workspace_id = $1 order by line_item_id',
    [workspaceId],
  );

test('the same plans twice change nothing, older inputs never replace newer ones, and the end of a making removes what it left out', async () => {
  const ws = newId('ws');
  const [one, two] = ['li_1', 'li_2'].map((id) => `${id}${ws}`) as [string, string];
  expect(await put(ws, { [one]: [1, 2.5], [two]: [3] }, {})).toEqual({ changed: 2, removed: 0 });
  const before = await keptPlans(ws);
  expect(before.map(({ hours }) => hours)).toEqual([[1, 2.5], [3]]);
  expect(await put(ws, { [one]: [1, 2.5], [two]: [3] }, { asOfMs: 2_000n })).toEqual({ changed: 0, removed: 0 });
  expect(await keptPlans(ws)).toEqual(before);
  expect(await put(ws, { [one]: [9] }, { asOfMs: 1_500n })).toEqual({ changed: 0, removed: 0 });
  expect(await keptPlans(ws)).toEqual(before);
  expect(await put(ws, { [two]: [4] }, { asOfMs: 3_000n, isLast: true })).toEqual({ changed: 1, removed: 1 });
  expect(await keptPlans(ws)).toMatchObject([{ line_item_id: two, hours: [4] }]);
});

test('a workspace cannot plan line items of another one; a plan that is none, or of a service that makes none, is refused', async () => {
  const [ws, other] = [newId('ws'), newId('ws')];
  await put(ws, { [`li${ws}`]: [1] }, {});
  expect(await put(other, { [`li${ws}`]: [7] }, { asOfMs: 9_000n, isLast: true })).toEqual({ changed: 0, removed: 0 });
  expect(await keptPlans(ws)).toMatchObject([{ hours: [1] }]);
  const plan = { lineItemId: 'li_1', startsAtMs: BigInt(startMs), hours: [1], learning: false };
  for (const wrong of [{ startsAtMs: BigInt(startMs + 1) }, { hours: [-1] }, { hours: [Infinity] }])
    await expect(put(ws, {}, { plans: [{ ...plan, ...wrong }] })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(put(ws, {}, { plans: [plan, plan] })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(put(ws, {}, { isLast: true }, 'management')).rejects.toMatchObject({ code: 'permission_denied' });
  expect(await keptPlans(ws)).toHaveLength(1);
});

test('the pacer takes a new plan over without a jump: what is committed, granted and to be committed stays, and only the rest is spread anew', async () => {
  const windowStartMs = startMs;
  const line = plannedLine(windowStartMs, {
    ...{ mode: 'even', basis: 'reserved', goal: 24_000, windowStartMs, windowEndMs: windowStartMs + 24 * hourMs },
  });
  pacing.world.lines = [line];
  const flat = Array<number>(24).fill(100_000);
  await put(line.workspaceId, { [line.lineItemId]: flat }, {});
  const node = await pacing.newNode();
  pacing.world.nowMs = windowStartMs;
  const pacer = await pacing.newPacer();
  pacing.setCohorts({});
  for (let minutes = 0; minutes <= 360; minutes += 10) {
    pacing.world.nowMs = windowStartMs + minutes * 60_000;
    if (minutes === 0) await pacer.tick();
    await pacer.learn();
    await pacer.tick();
    await pacing.spend(node, line.lineItemId, 200);
  }
  await pacer.tick();
  const standing = () => pacer.lines()[0]!.moment()!;
  const before = standing();
  expect(before.target).toBeCloseTo(6_000, -2);

  // Most of the traffic comes six hours from now.
  const late = [...Array<number>(12).fill(10), ...Array<number>(12).fill(1_000_000)];
  expect(await put(line.workspaceId, { [line.lineItemId]: late }, { asOfMs: 2_000n })).toMatchObject({ changed: 1 });
  await pacer.learn();
  await pacer.tick();
  const after = standing();
  expect(after.committed).toBe(before.committed);
  expect(after.target).toBeCloseTo(before.target, 6);
  expect(after.quota.units).toBeLessThan(before.quota.units / 10);
  const leases = await pacing.leases(line.lineItemId);
  expect(sumOf(leases, 'used')).toBe(before.committed);
  expect(sumOf(leases, 'granted')).toBeLessThanOrEqual(line.goal);
  // In an hour without traffic next to nothing becomes due.
  pacing.world.nowMs += hourMs;
  await pacer.tick();
  expect(standing().target - before.target).toBeLessThan(line.goal / 1_000);
});

test('management is told what committed units cost at the prices of their decisions; older rows know the present price alone', async () => {
  const ws = newId('ws');
  const ids = ['li_1', 'li_2'].map((id) => `${id}${ws}`);
  await pacing.pool.query(
    `insert into line_pacing (line_item_id, workspace_id, goal, basis, window_start, window_end, closed_used, committed, target, delivery_rate, urgency, state,
       pacing_version, used, unit_price_micros, committed_micros, updated_at)
     select id, $2, 100, 'reserved', to_timestamp(0), to_timestamp(86400), 0, 3, 0, 1, 0, 'on_plan', 1, 3, 12000, micros, now()
     from unnest($1::text[], array[40.5, null]::numeric[]) as t (id, micros)`,
    [ids, ws],
  );
  const read = async (workspaceId: string) => {
    const { lineItems } = await clients.management.readPacing({ workspaceId, lineItemIds: ids }, { deadlineMs: 5_000 });
    return lineItems.map(({ committedMicros }) => committedMicros);
  };
  expect(await read(ws)).toEqual([40.5, 36]);
  expect(await read(newId('ws'))).toEqual([]);
});
