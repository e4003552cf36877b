import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  MessageRefusal,
  newMachineKey,
  publicHalf,
  verifyStream,
  type Draft,
  type ExportedStream,
} from '@longwave/exchange-client';
import { until } from '@longwave/test-kit';
import type { JWK } from 'jose';
import { newPlatform } from '../_exchange-platform.ts';
import { openSharedInstallation, type SharedInstallation } from '../_shared-installation.ts';

let world: SharedInstallation;
beforeAll(async () => {
  world = await openSharedInstallation();
}, 180_000);
afterAll(async () => world?.[Symbol.asyncDispose]());

/** An episode whose file nobody serves: what is hosted for real is in foreign-host.test.ts, and this is about messages. */
const snapshot = (sourceVersion: number): Draft => ({
  ...{ schema: 'content-snapshot/1', sourceId: 'ep-1', sourceVersion },
  body: {
    episode: {
      ...{ guid: 'guid-1', title_ref: `Version ${sourceVersion}`, duration_ms: 60_000, explicit: false },
      ...{ language: 'en', content_categories: [], published_at: '2026-11-20T08:00:00Z' },
      audio_master: {
        ...{ url: 'https://host.invalid/one.mp3', digest: `sha256:${'a'.repeat(64)}`, bytes: 960_000 },
        ...{ codec: 'mp3', channels: 2, sample_rate: 44_100 },
      },
    },
    x: { rank: sourceVersion },
  },
});
const surface = (ranges: boolean) => ({
  ...{ surface_id: 'feed', protocols: ['progressive' as const], interstitials: 'none' as const, ranges },
  ...{ max_redirects: 5, ads_video: false, client_events: 'none' as const, measurement: 'server_log' as const },
  ...{ personalisation: 'per_download' as const, offline_audio: true },
});
const alias = (host: string, state: 'active' | 'paused', supersedes: number | null) => ({
  ...{ alias: 'one', host, path_slug: 'one', target: { type: 'episode' as const, source_id: 'ep-1' }, state },
  route_policy: { surface_id: 'feed', route: 'clean' as const, when_unavailable: 'gone' as const },
  supersedes_version: supersedes,
});

/** A network that loses every third request before it arrives, and every fifth answer. */
function lossyFetch(): typeof fetch {
  let count = 0;
  return async (input, init) => {
    count += 1;
    if (count % 3 === 0) throw new TypeError('lost on the way');
    const answer = await fetch(input, init);
    await answer.clone().arrayBuffer();
    if (count % 5 === 0) throw new TypeError('lost on the way back');
    return answer;
  };
}

test('over a network that loses requests and answers, each message is accepted once, and the export proves all of it', async () => {
  const platform = await newPlatform(world);
  const [key, successor] = [await platform.newKey(), await platform.newKey()];
  const exchange = platform.connect({ key, signsRequests: true, fetch: lossyFetch() });
  const stream = await exchange.stream('show:lossy');
  const host = `lossy-${Date.now().toString(36)}`;
  const results = [
    await stream.capability(1, surface(true)),
    await stream.capability(2, surface(false)),
    ...(await stream.append(Array.from({ length: 120 }, (_, index) => snapshot(index + 1)))),
    await stream.alias(1, alias(host, 'active', null)),
    await stream.alias(2, alias(host, 'paused', 1)),
    await stream.revoke(
      { sourceId: 'ep-1', sourceVersion: 121 },
      { revoke_version: 120, mode: 'stop_new', cause: 'A wrong guest.', effective_at: new Date().toISOString() },
    ),
    await stream.evidence(
      { sourceId: 'week-1', sourceVersion: 1 },
      {
        ...{ source_label: 'North', platform: 'north', kind: 'delivery', granularity: 'day', revision: 1 },
        period: { start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z' },
        rows: [{ source_id: 'ep-1', at: '2026-11-20T00:00:00Z', downloads: 7 }],
        ...{ method_note: 'Requests.', finality: 'final' },
      },
    ),
    await stream.rotate(1, {
      ...{ successor, overlapUntil: new Date(Date.now() + 86_400_000).toISOString(), cause: 'Yearly.' },
    }),
    ...(await stream.append([snapshot(122)])),
  ];
  expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 1));
  expect(new Set(results.map(({ receipt_id: id }) => id)).size).toBe(results.length);
  expect(await exchange.head('show:lossy')).toMatchObject({ state: 'open', head: { sequence: results.length } });

  const messages = [];
  for await (const message of exchange.exportStream('show:lossy')) messages.push(message);
  expect(messages.map(({ digest }) => digest)).toEqual(results.map(({ digest }) => digest));

  const evidenceId = results.find(({ resource }) => resource.type === 'platform_evidence')!.resource.id;
  const page = await until('the rows are imported', async () => (await exchange.evidence(evidenceId).next()).value, {
    holds: (found) => found !== undefined && found.rows.length > 0,
  });
  expect(page).toMatchObject({
    ...{ evidence_id: evidenceId, source_label: 'North', kind: 'delivery', next_after: null },
    rows: [{ source_id: 'ep-1', at: '2026-11-20T00:00:00.000Z', platform: { downloads: 7 } }],
  });
  await expect(exchange.evidence(platform.authorityId).next()).rejects.toMatchObject({ status: 404 });

  const signers: JWK[] = [key, successor].map(({ kid, privateJwk }) => ({ ...publicHalf(privateJwk), kid }));
  const receipts = messages.map(({ receipt }) => receipt);
  const exported: ExportedStream = { messages, receipts, signers, keys: await exchange.keys() };
  expect(await verifyStream(exported)).toMatchObject({ ok: true, messages: results.length });
  const swapped = [receipts[1]!, receipts[0]!, ...receipts.slice(2)].map(({ jws }, at) => ({ ...receipts[at]!, jws }));
  expect(await verifyStream({ ...exported, receipts: swapped })).toMatchObject({ ok: false, sequence: 1 });
}, 300_000);

test('a stream and its messages are unknown to another platform, which cannot write to it either', async () => {
  const [one, other] = [await newPlatform(world), await newPlatform(world)];
  const own = await one.connect({ key: await one.newKey() }).stream('show:own');
  const [accepted] = await own.append([snapshot(1)]);
  const stranger = other.connect({ key: await other.newKey() });
  expect(await stranger.head('show:own')).toBeUndefined();
  expect(await stranger.message(accepted!.digest)).toBeUndefined();
  await expect(stranger.receipt(accepted!.receipt_id)).rejects.toMatchObject({ status: 404 });
  // In its own workspace the name is free.
  expect(await (await stranger.stream('show:own')).append([snapshot(1)])).toMatchObject([{ sequence: 1 }]);
  const misdirected = one.connect({ key: await one.newKey(), workspaceId: other.workspaceId });
  await expect(misdirected.stream('show:own')).rejects.toMatchObject({ code: 'cross_workspace_identity' });
  const unregistered = one.connect({ key: { kid: (await other.newKey()).kid, privateJwk: await newMachineKey() } });
  const refused = await (await unregistered.stream('show:own')).append([snapshot(2)]).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(MessageRefusal);
  expect(refused).toMatchObject({ code: 'unknown_signing_key', results: [] });
}, 120_000);
