import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { openChannel } from '@longwave/rpc';
import { EnclosureServiceService } from '@longwave/rpc/delivery';
import type { DeliveryApp } from '../src/app.ts';
import { apply, next } from './_apply.ts';
import { askAt, itemsOf } from './_ask.ts';
import { eventOf, openBench, showOf, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
const ask = askAt(() => app.port);
const newShow = () => showOf({ digest: newId('pro').padStart(64, '0'), sizeBytes: 384_000 });

beforeAll(async () => {
  bench = await openBench();
  app = await bench.start();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await bench.stop();
});

function findEnclosures(caller: string, ofWorkspace: string, episodeIds: string[]) {
  const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'public-delivery', bench.tlsOf(caller));
  const asked = channel
    .client(EnclosureServiceService)
    .findEnclosures({ workspaceId: ofWorkspace, episodeIds }, { deadlineMs: 5_000 });
  return asked.finally(() => channel.close());
}

const urlsOf = async (...episodeIds: string[]) =>
  (await findEnclosures('rest-gateway', workspaceId, episodeIds)).enclosures.map(({ url }) => url);

test('a published episode has the address that its feed names, for the workspace that owns it and for no other', async () => {
  const show = newShow();
  const { podcast, episode, production } = show.events;
  await apply(bench, podcast, episode, production);
  const item = itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body)[0]!;
  expect(await urlsOf(show.episodeId, newId('ep'))).toEqual([item.enclosure['@_url']]);
  expect((await findEnclosures('rest-gateway', newId('ws'), [show.episodeId])).enclosures).toEqual([]);
  await expect(findEnclosures('management', workspaceId, [show.episodeId])).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

test('a clip that stands in gives the address its format', async () => {
  const show = newShow();
  const clip = eventOf('media_clips', newId('clip'), 1, 'active', {
    ...{ episode_id: show.episodeId, file_format: 'm4a', url: 'https://files.example/one.m4a', hosted: 'outside' },
    ...{ size: 9_000, duration_ms: 8_000 },
  });
  await apply(bench, show.events.podcast, show.events.episode, clip);
  const item = itemsOf((await ask(`/feeds/${show.subdomain}.xml`)).body)[0]!;
  const [url] = await urlsOf(show.episodeId);
  expect(url).toMatch(/\.m4a$/);
  expect(url).toBe(item.enclosure['@_url']);
});

test('an episode that listeners are not served has no address', async () => {
  const show = newShow();
  const { podcast, episode, production } = show.events;
  await apply(bench, podcast, episode);
  expect(await urlsOf(show.episodeId)).toEqual([]);
  await apply(bench, production);
  expect(await urlsOf(show.episodeId)).toHaveLength(1);
  await apply(bench, next(podcast, {}, { state: 'unpublished' }));
  expect(await urlsOf(show.episodeId)).toEqual([]);
  await apply(bench, next(podcast, {}, { state: 'published', by: 2 }));
  expect(await urlsOf(show.episodeId)).toHaveLength(1);
  await apply(bench, next(episode, {}, { state: 'unpublished' }));
  expect(await urlsOf(show.episodeId)).toEqual([]);
});
