import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { openChannel, type RpcClient } from '@longwave/rpc';
import { BindingServiceService } from '@longwave/rpc/delivery';
import type { DeliveryApp } from '../src/app.ts';
import { askAt, newListener } from './_ask.ts';
import { giveAds, publishShow, storeSegment } from './_stitched.ts';
import { audio, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
const ad = audio(40);

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
  await storeSegment(bench, ad);
  giveAds(bench, () => ad);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

async function asCaller<T>(
  caller: string,
  call: (client: RpcClient<typeof BindingServiceService>) => Promise<T>,
): Promise<T> {
  const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'public-delivery', bench.tlsOf(caller));
  return call(channel.client(BindingServiceService)).finally(() => channel.close());
}

const find = async (decisionIds: string[], ofWorkspace = workspaceId) =>
  (await asCaller('management', (client) => client.findListeners({ workspaceId: ofWorkspace, decisionIds }, {})))
    .listeners;
const erase = async (listenerKeys: string[], erasureId: string = newId('lde'), ofWorkspace = workspaceId) =>
  Number(
    (
      await asCaller('management', (client) =>
        client.eraseListeners({ erasureId, workspaceId: ofWorkspace, listenerKeys }, {}),
      )
    ).bindings,
  );

interface BindingRow {
  readonly decision_id: string;
  readonly listener_key: string;
  readonly address_key: string;
  readonly app: string | null;
}
const bindingsOf = async (episodeId: string) =>
  (
    await bench.pool.query<BindingRow>(
      'select decision_id, listener_key, address_key, app from binding where episode_id = $1 order by started_at, sequence',
      [episodeId],
    )
  ).rows;

const playable = () =>
  publishShow(bench, audio(600), { markers: [{ key: 'm1', kind: 'mid', position_ms: 200 * 24, max_slots: 1 }] });

async function play(enclosure: string, listener: Record<string, string>): Promise<string> {
  const answer = await ask(enclosure, listener);
  expect(answer.status).toBe(302);
  return String(answer.headers.location);
}

describe('a listener who is erased', () => {
  test('is found by a decision of the workspace, and is in no binding afterwards; what was bound stays and plays on', async () => {
    const { enclosure, episodeId } = await playable();
    const [listener, other] = [newListener(), newListener()];
    const location = await play(enclosure, listener);
    await play(enclosure, other);
    const [own, others] = (await bindingsOf(episodeId)) as [BindingRow, BindingRow];
    const file = await ask(location, listener);
    const found = await find([own.decision_id, newId('dec')]);
    expect(found).toEqual([{ decisionId: own.decision_id, listenerKey: own.listener_key }]);
    expect(await erase([own.listener_key])).toBe(1);
    const [after, otherAfter] = (await bindingsOf(episodeId)) as [BindingRow, BindingRow];
    expect(after).toEqual({
      ...own,
      listener_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      address_key: '',
      app: null,
    });
    expect(after.listener_key).not.toBe(own.listener_key);
    expect(otherAfter).toEqual(others);
    const again = await ask(location, listener);
    expect(again.status).toBe(200);
    expect(again.body.equals(file.body)).toBe(true);
  });

  test('who listens again on the same day gets a decision of their own, and so does everybody who does it at once', async () => {
    const { enclosure, episodeId } = await playable();
    const listener = newListener();
    const decisions = new Set<string>();
    for (let times = 0; times < 3; times++) {
      await Promise.all([play(enclosure, listener), play(enclosure, listener)]);
      const rows = await bindingsOf(episodeId);
      expect(rows).toHaveLength(times + 1);
      for (const row of rows) decisions.add(row.decision_id);
      expect(await erase(rows.map((row) => row.listener_key))).toBe(times + 1);
    }
    expect(decisions.size).toBe(3);
  });
});

describe('an erasure', () => {
  test('that is repeated answers as the first time and changes nothing', async () => {
    const { enclosure, episodeId } = await playable();
    await play(enclosure, newListener());
    const [own] = await bindingsOf(episodeId);
    const erasureId = newId('lde');
    expect(await erase([own!.listener_key], erasureId)).toBe(1);
    const rows = await bindingsOf(episodeId);
    expect(await erase([own!.listener_key, rows[0]!.listener_key], erasureId)).toBe(1);
    expect(await bindingsOf(episodeId)).toEqual(rows);
  });

  test('of another workspace finds and changes nothing, and only management may ask', async () => {
    const { enclosure, episodeId } = await playable();
    await play(enclosure, newListener());
    const rows = await bindingsOf(episodeId);
    const [own] = rows as [BindingRow];
    const elsewhere = newId('ws');
    expect(await find([own.decision_id], elsewhere)).toEqual([]);
    expect(await erase([own.listener_key], newId('lde'), elsewhere)).toBe(0);
    const erasureId = newId('lde');
    await erase([], erasureId);
    await expect(erase([own.listener_key], erasureId, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
    await expect(
      asCaller('rest-gateway', (client) => client.findListeners({ workspaceId, decisionIds: [] }, {})),
    ).rejects.toMatchObject({ code: 'permission_denied' });
    expect(await bindingsOf(episodeId)).toEqual(rows);
  });
});

test('the database refuses any other change of a binding', async () => {
  const { enclosure, episodeId } = await playable();
  await play(enclosure, newListener());
  for (const change of [
    `ads = '{}'`,
    `decision_id = 'dec'`,
    `arrangement_id = 'arr'`,
    `started_at = now()`,
    `sequence = 9`,
  ])
    await expect(
      bench.pool.query(`update binding set listener_key = 'x', ${change} where episode_id = $1`, [episodeId]),
    ).rejects.toThrow('append-only');
});
