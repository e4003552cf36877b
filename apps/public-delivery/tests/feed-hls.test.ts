import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { openChannel } from '@longwave/rpc';
import { EnclosureServiceService } from '@longwave/rpc/delivery';
import { until } from '@longwave/test-kit';
import type { DeliveryApp } from '../src/app.ts';
import { applyEvent } from '../src/projection/apply/apply-event.ts';
import { apply, next } from './_apply.ts';
import { askAt, itemsOf, newListener } from './_ask.ts';
import { storeTone, type TestTrack } from './_hls.ts';
import { publishShow } from './_stitched.ts';
import { audio, openBench, workspaceId, type Bench } from './_support.ts';

let bench: Bench;
let app: DeliveryApp;
let content: TestTrack;
/** The feeds that were announced, in order. */
const announced: string[] = [];
const ask = askAt(() => app.port);

const hub = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    announced.push(new URLSearchParams(body).get('hub.url')!);
    response.writeHead(204).end();
  });
});

beforeAll(async () => {
  bench = await openBench();
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve));
  const { port } = hub.address() as AddressInfo;
  app = await bench.start({ WEBSUB_HUB: `http://127.0.0.1:${port}/hub`, ANNOUNCE_AFTER_MS: '1' });
  content = await storeTone(bench, 20, 440);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  hub.closeAllConnections();
  hub.close();
  await bench.stop();
});

const ready = () => ({ tracks: { a192: { state: 'ready', file: content.track } } });
const inFeed = { hls_audio: true, hls_in_feed: true };

/** A published show with these settings, whose audio has no track yet. */
async function show(podcast: Record<string, unknown>, episode: Record<string, unknown> = {}) {
  const made = await publishShow(bench, audio(834), episode);
  const events = { ...made.events, podcast: next(made.events.podcast, podcast) };
  await apply(bench, events.podcast);
  const path = `/feeds/${made.subdomain}.xml`;
  return {
    ...{ ...made, events, path },
    feed: (headers = {}) => ask(path, headers),
    entry: made.enclosure.replace(/\.mp3$/, '.m3u8'),
  };
}
type Shown = Awaited<ReturnType<typeof show>>;

/** The tags of the first item, as the document has them. */
const tagsOf = (body: Buffer) =>
  [...body.toString().matchAll(/<podcast:alternateEnclosure[^]*?<\/podcast:alternateEnclosure>/g)].map(([tag]) => tag);

const isPresented = async ({ entry }: Shown) => (await ask(entry, newListener(), 'HEAD')).status === 302;
const presented = (of: Shown) => until('the presentation', () => isPresented(of));
const revisionOf = async ({ podcastId }: Shown) =>
  (await bench.pool.query<{ revision: string }>('select revision from feed where podcast_id = $1', [podcastId]))
    .rows[0]!.revision;
/** Resolves when no presentation of the show is to be looked at. */
const looked = ({ episodeId }: Shown) =>
  until('a look', async () => {
    const { rows } = await bench.pool.query<{ due_at: Date | null }>(
      'select due_at from presented_episode where episode_id = $1',
      [episodeId],
    );
    return rows[0]?.due_at === null;
  });

test('the tag comes with the presentation and goes with it, and neither enclosure nor GUID change', async () => {
  const made = await show(inFeed);
  const before = await made.feed();
  expect(tagsOf(before.body)).toEqual([]);

  const produced = next(made.events.production, ready());
  await apply(bench, produced);
  const withTag = await until('the tag', async () => {
    const feed = await made.feed({ 'if-none-match': before.headers.etag! });
    return feed.status === 200 && feed;
  });
  const main = (await ask(`${made.entry}?direct=1`, newListener())).body.toString();
  const bitrate = /AVERAGE-BANDWIDTH=(\d+)/.exec(main)![1];
  expect(tagsOf(withTag.body).map((tag) => tag.replace(/>\s+</g, '><'))).toEqual([
    `<podcast:alternateEnclosure type="application/x-mpegURL" length="0" bitrate="${bitrate}" lang="en" title="Audio (HLS)" codecs="mp4a.40.2" default="false">` +
      `<podcast:source uri="http://media.test${made.entry}"/></podcast:alternateEnclosure>`,
  ]);
  const [earlier, later] = [before, withTag].map(({ body }) => itemsOf(body)[0]!);
  expect([later!.enclosure, later!['guid']]).toEqual([earlier!.enclosure, earlier!['guid']]);

  const other = [
    { role: 'rendition', stream_format: 'mp3/128000/48000/2', size_bytes: 960_000, sha256: 'b'.repeat(64) },
  ];
  await apply(bench, next(produced, { files: other, tracks: {} }));
  await until('no tag', async () => tagsOf((await made.feed()).body).length === 0);
  expect((await made.feed()).headers.etag).not.toBe(withTag.headers.etag);
});

/** The presentation of an episode, as management asks for it. */
async function findPresentation(ofWorkspace: string, episodeId: string) {
  const channel = openChannel(`127.0.0.1:${app.grpcPort}`, 'public-delivery', bench.tlsOf('management'));
  const asked = channel
    .client(EnclosureServiceService)
    .findPresentation({ workspaceId: ofWorkspace, episodeId }, { deadlineMs: 5_000 });
  return (await asked.finally(() => channel.close())).presentation;
}

test('management learns the lasting address of a presentation, whether it has pictures, and nothing of one that is not shown', async () => {
  const made = await show({ hls_audio: true });
  expect(await findPresentation(workspaceId, made.episodeId)).toBeUndefined();
  const produced = next(made.events.production, ready());
  await apply(bench, produced);
  await presented(made);
  const found = await findPresentation(workspaceId, made.episodeId);
  expect(found).toEqual({
    ...{ digest: expect.stringMatching(/^[0-9a-f]{64}$/), hasPictures: false },
    url: `http://media.test${made.entry}`,
  });
  await bench.pool.query(
    `update presentation set document = (document::jsonb || '{"pictures": {}}')::json where digest = $1`,
    [found!.digest],
  );
  expect((await findPresentation(workspaceId, made.episodeId))?.hasPictures).toBe(true);
  expect(await findPresentation(newId('ws'), made.episodeId)).toBeUndefined();
  await apply(bench, next(made.events.episode, {}, { state: 'unpublished' }));
  expect(await findPresentation(workspaceId, made.episodeId)).toBeUndefined();
});

test('a presentation that a feed shows is announced, one that it does not show revises nothing', async () => {
  const silent = await show({ hls_audio: true });
  const named = await show(inFeed);
  const revisions = await Promise.all([silent, named].map(revisionOf));
  announced.length = 0;
  for (const each of [silent, named]) await apply(bench, next(each.events.production, ready()));
  await Promise.all([silent, named].map(presented));
  const feedOf = ({ path }: Shown) => `http://media.test${path}`;
  await until('an announcement', () => announced.includes(feedOf(named)));
  expect(announced).not.toContain(feedOf(silent));
  expect([await revisionOf(silent), tagsOf((await silent.feed()).body)]).toEqual([revisions[0], []]);
  expect(await revisionOf(named)).not.toBe(revisions[1]);
});

test('a presentation that differs in nothing that the feed shows gives it no revision of its own', async () => {
  const made = await show(inFeed);
  await apply(bench, next(made.events.production, ready()));
  await presented(made);
  const digest = async () => (await ask(made.entry, newListener(), 'HEAD')).headers.location;
  const first = await digest();
  await apply(bench, next(made.events.episode, { chapters: [{ start_ms: 1_000, title: 'Ebb' }] }));
  const revision = await revisionOf(made);
  await until('another presentation', async () => (await digest()) !== first);
  expect(await revisionOf(made)).toBe(revision);
});

test('the switch shows and hides the tag at once, and so does that of HLS itself', async () => {
  const made = await show({ hls_audio: true });
  await apply(bench, next(made.events.production, ready()));
  await presented(made);
  const tagsAfter = async (settings: Record<string, unknown>, by: number) => {
    await apply(bench, next(made.events.podcast, settings, { by }));
    return tagsOf((await made.feed()).body).length;
  };
  expect(tagsOf((await made.feed()).body)).toEqual([]);
  expect(await tagsAfter({ hls_in_feed: true }, 1)).toBe(1);
  expect(await tagsAfter({ hls_in_feed: false }, 2)).toBe(0);
  expect(await tagsAfter({ hls_in_feed: true }, 3)).toBe(1);
  expect(await tagsAfter({ hls_in_feed: true, hls_audio: false }, 4)).toBe(0);
});

test('an episode that a release without bit rates presented gets its tag when the switch is turned', async () => {
  const made = await show({ hls_audio: true });
  await apply(bench, next(made.events.production, ready()));
  await presented(made);
  await looked(made);
  await bench.pool.query('update presented_episode set average_bit_rate = null where episode_id = $1', [
    made.episodeId,
  ]);
  await apply(bench, next(made.events.podcast, { hls_in_feed: true }));
  await until('the tag', async () => tagsOf((await made.feed()).body).length === 1);
});

test('what the podcaster names beside the enclosure stays, before it', async () => {
  const own = {
    content_type: 'video/mp4',
    height: 720,
    sources: [{ uri: 'https://cdn.example/1.mp4' }, { uri: 'ipfs://x' }],
  };
  const made = await show(inFeed, { alternate_enclosures: [own] });
  const alone = tagsOf((await made.feed()).body);
  await apply(bench, next(made.events.production, ready()));
  const both = await until('the tag', async () => {
    const tags = tagsOf((await made.feed()).body);
    return tags.length === 2 && tags;
  });
  expect(both[0]).toBe(alone[0]);
});

test('however presentations, switches and requests interleave, the kept document is that of the last state', async () => {
  for (let round = 0; round < 4; round++) {
    const made = await show(round % 2 === 0 ? { hls_audio: true } : inFeed);
    let applying = true;
    const asking = (async () => {
      while (applying) await ask(made.path);
    })();
    const options = { mintAlias: () => '', announcements: { names: [], afterMs: 1 } };
    await Promise.all(
      [next(made.events.podcast, inFeed), next(made.events.production, ready())].map((event) =>
        applyEvent(bench.pool, event, options),
      ),
    );
    await presented(made);
    await looked(made);
    applying = false;
    await asking;
    expect(tagsOf((await made.feed()).body)).toHaveLength(1);
  }
});
