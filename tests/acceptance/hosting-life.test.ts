import { writeFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type RestClient, uploadFile } from '@longwave/test-kit/clients';
import { ffmpeg, makeAudio, repeatAudio, until } from '@longwave/test-kit';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import { secondsOf, type ProductionView } from '../_fleet.ts';
import {
  encodedEpisode,
  publishedPodcast,
  hostingWorldOf,
  type HostingWorld,
  type WorldAccount,
} from '../_hosting-world.ts';
import { startOutsideHost, type OutsideHost } from '../_outside-host.ts';
import { openSharedInstallation } from '../_shared-installation.ts';

let world: HostingWorld;
let outside: OutsideHost;
let owner: WorldAccount;
let rest: RestClient;
beforeAll(async () => {
  const installation = await openSharedInstallation();
  world = hostingWorldOf(installation);
  outside = await startOutsideHost(installation.outsidePort);
  owner = await world.account('owner');
  rest = owner.rest;
});
afterAll(async () => {
  await outside?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

interface Podcast {
  readonly id: string;
  readonly feed_url: string;
  readonly podcast_guid: string;
}
const podcastOf = (id: string) => rest.get<Podcast>(`/podcasts/${id}`);
const feedOf = async (id: string) => (await fetch((await podcastOf(id)).feed_url)).text();
const enclosureIn = (feed: string) => /<enclosure url="([^"]+)" length="(\d+)"/.exec(feed)!;
const runningCommands = () => residentMegabytes().map(({ command }) => path.basename(command.split(' ')[0]!));
const durationOf = (file: Buffer, name: string) => {
  const copy = path.join(world.folder, name);
  writeFileSync(copy, file);
  return secondsOf(copy);
};

describe('an episode', () => {
  test('has chapters, transcripts, soundbites and people in the feed, and gives them in every format', async () => {
    const podcastId = await publishedPodcast(rest, 'Chapters and words', {
      persons: [{ name: 'Ada Quay', role: 'host' }],
      funding: [{ url: 'https://example.com/support', text: 'Support us' }],
    });
    const { episodeId } = await encodedEpisode(world, rest, podcastId, { title: 'Talk', publish: true });
    await rest.put(`/episodes/${episodeId}/chapters`, {
      chapters: [
        { start_ms: 0, title: 'Hello' },
        { start_ms: 5000, title: 'Goodbye', url: 'https://example.com/bye' },
      ],
    });
    const vtt =
      'WEBVTT\n\n00:00:00.500 --> 00:00:02.000\n<v Ada>Good morning &amp; welcome\n\n00:02.500 --> 00:04.000\nBye\n';
    await rest.put(`/episodes/${episodeId}/transcripts`, {
      transcripts: [{ language: 'en', format: 'vtt', content: vtt, captions: true }],
    });
    await rest.put(`/episodes/${episodeId}`, {
      soundbites: [{ start_ms: 1000, duration_ms: 3000, title: 'Morning' }],
      persons: [{ name: 'Ben Tide', role: 'guest' }],
    });
    const feed = await until('the feed with all of it', async () => {
      const text = await feedOf(podcastId);
      return text.includes('podcast:soundbite') && text.includes('podcast:transcript') ? text : undefined;
    });
    const check = await rest.get<{ acceptable: boolean; findings: { severity: string; text: string }[] }>(
      `/podcasts/${podcastId}/feed_check`,
    );
    expect(check.findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(check.acceptable).toBe(true);
    expect(feed).toMatch(/<podcast:person role="guest"[^>]*>Ben Tide<\/podcast:person>/);
    expect(feed).toContain('<podcast:funding url="https://example.com/support">Support us</podcast:funding>');
    const chapters = (await (await fetch(/<podcast:chapters url="([^"]+)"/.exec(feed)![1]!)).json()) as {
      version: string;
      chapters: { startTime: number; title: string; url?: string }[];
    };
    expect(chapters.chapters.map(({ startTime, title }) => [startTime, title])).toEqual([
      [0, 'Hello'],
      [5, 'Goodbye'],
    ]);
    const transcripts = [...feed.matchAll(/<podcast:transcript url="([^"]+)" type="([^"]+)"/g)];
    const byType = new Map(transcripts.map(([, url, type]) => [type, url!]));
    expect(await (await fetch(byType.get('text/vtt')!)).text()).toContain('<v Ada>Good morning &amp; welcome');
    const srt = byType.get('application/x-subrip') ?? byType.get('application/srt');
    expect(await (await fetch(srt!)).text()).toContain('00:00:00,500 --> 00:00:02,000');
    expect(await (await fetch(byType.get('application/json')!)).json()).toMatchObject({
      segments: [{ startTime: 0.5, endTime: 2, speaker: 'Ada' }, { startTime: 2.5 }],
    });
  });

  test('takes the chapters of its own file', async () => {
    const podcastId = await publishedPodcast(rest, 'Chaptered files');
    const plain = makeAudio(path.join(world.folder, 'plain.mp3'), 12);
    const metadata = path.join(world.folder, 'chapters.txt');
    writeFileSync(
      metadata,
      ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=6000\ntitle=Ebb\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=6000\nEND=12000\ntitle=Flood\n',
    );
    const file = path.join(world.folder, 'chaptered.mp3');
    ffmpeg('-i', plain, '-i', metadata, '-map', '0:a', '-map_chapters', '1', '-c', 'copy', '-id3v2_version', '3', file);
    const { id } = await rest.post<{ id: string }>(`/podcasts/${podcastId}/episodes`, { title: 'Tides' });
    const { fileUrl } = await uploadFile(rest, file);
    await rest.post('/productions', { episode_id: id, file_url: fileUrl, state: 'encoding', publication_flag: true });
    const { chapters } = await until('the chapters', async () => {
      const found = await rest.get<{ chapters: { start_ms: number; title: string }[] }>(`/episodes/${id}/chapters`);
      return found.chapters.length > 0 ? found : undefined;
    });
    expect(chapters.map(({ start_ms, title }) => [start_ms, title])).toEqual([
      [0, 'Ebb'],
      [6000, 'Flood'],
    ]);
  });

  test('is published by the clock, when its time has come and not before', async () => {
    const podcastId = await publishedPodcast(rest, 'By the clock');
    const { episodeId } = await encodedEpisode(world, rest, podcastId, { title: 'Later', publish: false });
    const at = new Date(Date.now() + 4_000);
    const scheduled = await rest.post<{ state: string }>(`/episodes/${episodeId}/schedule`, {
      publish_at: at.toISOString(),
    });
    expect(scheduled.state).toBe('scheduled');
    const seen = await until('the publication', async () => {
      const { state } = await rest.get<{ state: string }>(`/episodes/${episodeId}`);
      return state === 'published' ? Date.now() : undefined;
    });
    expect(seen - at.getTime()).toBeGreaterThanOrEqual(0);
    expect(seen - at.getTime()).toBeLessThan(30_000);
    await until('the feed', async () => (await feedOf(podcastId)).includes('Later') || undefined);
  });

  test('may have its only audio outside the service: the enclosure leads there', async () => {
    const podcastId = await publishedPodcast(rest, 'Hosted elsewhere');
    const file = makeAudio(path.join(world.folder, 'elsewhere.mp3'), 5);
    outside.files.set('/elsewhere.mp3', { type: 'audio/mpeg', path: file });
    const { id } = await rest.post<{ id: string }>(`/podcasts/${podcastId}/episodes`, { title: 'Elsewhere' });
    const url = `${outside.origin}/elsewhere.mp3`;
    const clip = await rest.post<{ size: number; hosted: string }>('/media_clips', {
      episode_id: id,
      file_format: 'mp3',
      url,
      duration: 5,
    });
    expect(clip).toMatchObject({ hosted: 'outside', size: statSync(file).size });
    await rest.post(`/episodes/${id}/publish`);
    const enclosure = await until('the feed', async () => enclosureIn(await feedOf(podcastId)) ?? undefined);
    const answer = await fetch(enclosure[1]!, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, url]);
    expect(await rest.get(`/episodes/${id}`)).toMatchObject({ id, enclosure_url: enclosure[1] });
    await expect(
      rest.post('/media_clips', { episode_id: id, file_format: 'mp3', url: `${outside.origin}/none.mp3`, duration: 5 }),
    ).rejects.toThrow('422');
  });
});

describe('intro and outro', () => {
  test('are joined to new episodes at once and to old ones by a batch encoding, which can be reverted', async () => {
    const podcastId = await publishedPodcast(rest, 'With an intro');
    const old = await encodedEpisode(world, rest, podcastId, { title: 'Old', publish: true, seconds: 8 });
    const secondsServed = async () => {
      const [, url] = enclosureIn(await feedOf(podcastId));
      return durationOf(
        Buffer.from(await (await fetch(url!, { headers: { 'user-agent': 'Scout/1' } })).arrayBuffer()),
        'served.mp3',
      );
    };
    await until('the file in the feed', async () => Math.abs((await secondsServed()) - 8) < 0.5, {
      despiteErrors: true,
    });
    const intro = await uploadFile(rest, makeAudio(path.join(world.folder, 'intro.wav'), 3));
    await rest.put(`/podcasts/${podcastId}/intro`, { file_url: intro.fileUrl });
    await until('the prepared intro', async () => {
      const { intro: part } = await rest.get<{ intro: { state: string } }>(`/podcasts/${podcastId}`);
      return part.state === 'ready' || undefined;
    });
    const batchState = async () =>
      (await rest.get<{ state: string }>(`/batch_encodings/state?podcast_id=${podcastId}`)).state;
    await rest.post('/batch_encodings', { podcast_id: podcastId, initiator: 'intro' });
    await until('the batch', async () => (await batchState()) === 'completed' || undefined);
    const batch = await rest.get<{ id: string; done: number; total: number }>(
      `/batch_encodings?podcast_id=${podcastId}`,
    );
    expect(batch).toMatchObject({ total: 1, done: 1, failed: 0, progress: 1 });
    await until('the longer file', async () => (await secondsServed()) > 10.5);

    await rest.post(`/batch_encodings/${batch.id}/revert`);
    await until('the revert', async () => (await batchState()) === 'completed' || undefined);
    await until('the former file', async () => (await secondsServed()) < 8.5 || undefined);
    expect(old.episodeId).toMatch(/^ep_/);
  });
});

describe('a production', () => {
  test('stops within 5 s, returns its time, and starts again', async () => {
    const podcastId = await publishedPodcast(rest, 'Stop and go');
    const { id } = await rest.post<{ id: string }>(`/podcasts/${podcastId}/episodes`, { title: 'Long' });
    const { fileUrl } = await uploadFile(rest, repeatAudio(makeAudio(path.join(world.folder, 'long.mp3'), 60), 40));
    const production = await rest.post<ProductionView>('/productions', {
      episode_id: id,
      file_url: fileUrl,
      state: 'encoding',
    });
    await until('progress', async () => {
      const { progress } = await rest.get<{ progress: number }>(`/productions/${production.id}`);
      return progress > 0 || undefined;
    });
    await rest.post(`/productions/${production.id}/stop`);
    const stoppedAt = Date.now();
    await until(
      'the encoder gives up',
      async () => !runningCommands().some((command) => command.startsWith('ffmpeg')) || undefined,
    );
    expect(Date.now() - stoppedAt).toBeLessThan(5000);
    const usage = await rest.get<{ encoding_reserved_ms: number }>('/account/usage');
    expect(usage.encoding_reserved_ms).toBe(0);
    const again = await rest.post<ProductionView>(`/productions/${production.id}/start`);
    expect(again.state).toBe('encoding');
    await rest.post(`/productions/${production.id}/stop`);
  });
});

test('the feed is there when publish has answered', async () => {
  for (const title of ['Here at once', 'Here at once again']) {
    const { feed_url: feedUrl } = await podcastOf(await publishedPodcast(rest, title));
    expect((await fetch(feedUrl)).status).toBe(200);
  }
});

describe('a play that has begun', () => {
  /** The address that a listener was given, and the status of a byte range there. */
  async function listen(episodeId: string) {
    const { headers } = await until('the enclosure', async () => {
      const { enclosure_url: url } = await rest.get<{ enclosure_url?: string }>(`/episodes/${episodeId}`);
      const answer = url === undefined ? undefined : await fetch(url, { redirect: 'manual' });
      return answer?.status === 302 ? answer : undefined;
    });
    const range = async () => {
      const answer = await fetch(headers.get('location')!, { headers: { range: 'bytes=1000-1999' } });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await range()).toBe(206);
    return range;
  }
  const endings: readonly (readonly [string, (episodeId: string, mode: string) => Promise<unknown>])[] = [
    ['unpublishing', (episodeId, mode) => rest.post(`/episodes/${episodeId}/unpublish`, { mode })],
    [
      'deleting its audio',
      async (episodeId, mode) => {
        const [clip] = await rest.get<{ id: string }[]>(`/media_clips?episode_id=${episodeId}`);
        const answer = await fetch(`${world.fleet.urls.base}/api/v1/media_clips/${clip!.id}?mode=${mode}`, {
          method: 'DELETE',
          headers: { token: owner.apiKey },
        });
        expect(answer.status).toBeLessThan(300);
      },
    ],
  ];

  test.each(endings)(
    'ends within 5 s of the answer to %s with stop_all, and finishes with stop_new',
    async (_name, end) => {
      const podcastId = await publishedPodcast(rest, 'Ending');
      const [stopped, finishing] = [
        await encodedEpisode(world, rest, podcastId, { title: 'Stopped', publish: true }),
        await encodedEpisode(world, rest, podcastId, { title: 'Finishing', publish: true }),
      ];
      const [stoppedRange, finishingRange] = [await listen(stopped.episodeId), await listen(finishing.episodeId)];
      await end(finishing.episodeId, 'stop_new');
      await end(stopped.episodeId, 'stop_all');
      const answeredAt = performance.now();
      // Asked twice, so that each of two processes behind the edge has its turn.
      const hasEnded = async () => (await stoppedRange()) !== 206 && (await stoppedRange()) !== 206;
      await until('the end of the play', hasEnded, { timeoutMs: 30_000 });
      const endedMs = performance.now() - answeredAt;
      expect(endedMs).toBeLessThan(5_000);
      expect(await stoppedRange()).toBe(410);
      expect(await finishingRange()).toBe(206);
    },
  );
});

describe('moving', () => {
  test('in keeps GUIDs, dates and the podcast:guid; a locked feed stays where it is; out answers 301', async () => {
    const audio = makeAudio(path.join(world.folder, 'imported.mp3'), 4);
    outside.files.set('/imported.mp3', { type: 'audio/mpeg', path: audio });
    const feed = (locked: string) => `<?xml version="1.0"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel><title>Old Harbour</title><link>https://example.com</link><language>en</language><description>d</description>
<itunes:author>Ada</itunes:author><itunes:explicit>false</itunes:explicit><itunes:category text="Arts"/>
<podcast:guid>9b024349-ccf0-5f69-a609-6b82873eab3c</podcast:guid><podcast:locked>${locked}</podcast:locked>
<item><title>First</title><guid isPermaLink="false">old-guid-1</guid><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate>
<enclosure url="${outside.origin}/imported.mp3" length="${statSync(audio).size}" type="audio/mpeg"/></item>
</channel></rss>`;
    outside.files.set('/locked.xml', { type: 'application/rss+xml', text: feed('yes') });
    outside.files.set('/open.xml', { type: 'application/rss+xml', text: feed('no') });
    await expect(rest.post('/podcasts/import', { feed_url: `${outside.origin}/locked.xml` })).rejects.toThrow(
      /422.*locked/,
    );
    await expect(rest.post('/podcasts/import', { feed_url: `${outside.origin}/none.xml` })).rejects.toThrow('422');
    for (const path of ['/podcasts/import', '/podcasts/import/preview'])
      await expect(rest.post(path, { feed_url: 'http://169.254.169.254/feed.xml' })).rejects.toThrow('422');
    expect(await rest.post('/podcasts/import/preview', { feed_url: `${outside.origin}/locked.xml` })).toMatchObject({
      locked: true,
    });

    const podcast = await rest.post<Podcast>('/podcasts/import', { feed_url: `${outside.origin}/open.xml` });
    expect(podcast.podcast_guid).toBe('9b024349-ccf0-5f69-a609-6b82873eab3c');
    await rest.post(`/podcasts/${podcast.id}/import/publish`, {});
    const [episode] = await until('the imported episode', async () => {
      const found = await rest.get<{ state: string; guid: string; published_at?: string }[]>(
        `/podcasts/${podcast.id}/episodes`,
      );
      return found[0]?.state === 'published' ? found : undefined;
    });
    expect(episode).toMatchObject({ guid: 'old-guid-1', published_at: '2026-01-05T10:00:00.000Z' });

    const out = await publishedPodcast(rest, 'Moving out');
    const { feed_url: feedUrl } = await podcastOf(out);
    await expect(
      rest.post(`/podcasts/${out}/redirect`, { new_feed_url: `${outside.origin}/none.xml` }),
    ).rejects.toThrow('422');
    const newFeedUrl = `${outside.origin}/open.xml`;
    await rest.post(`/podcasts/${out}/redirect`, { new_feed_url: newFeedUrl });
    await until('the redirect', async () => {
      const answer = await fetch(feedUrl, { redirect: 'manual' });
      return (answer.status === 301 && answer.headers.get('location') === newFeedUrl) || undefined;
    });
  });
});

describe('the download history', () => {
  test('is exported as CSV and fetched by a signed address; two exports are never made at once', async () => {
    const podcastId = await publishedPodcast(rest, 'Counted');
    const at = `/podcasts/${podcastId}/analytics/legacy_export`;
    const answers = await Promise.all(
      [0, 1, 2].map(() =>
        fetch(`${world.fleet.urls.base}/api/v1${at}`, { method: 'POST', headers: { token: owner.apiKey } }),
      ),
    );
    // Of so few days an export may be ready before the next one is asked for.
    expect(answers.map(({ status }) => status)).toContain(202);
    expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([]);
    const { url } = await until('the export', async () => {
      const found = await rest.get<{ state: string; url?: string }>(at);
      return found.state === 'ready' ? found : undefined;
    });
    const database = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
    await database.connect();
    const overlapping = await database
      .query(
        `select 1 from product.resource a join product.resource b on a.id <> b.id
         where a.resource_type = 'statistics_exports' and b.resource_type = 'statistics_exports'
           and a.attributes ->> 'podcast_id' = $1 and b.attributes ->> 'podcast_id' = $1
           and a.created_at < b.updated_at and b.created_at < a.updated_at`,
        [podcastId],
      )
      .finally(() => database.end());
    expect(overlapping.rowCount).toBe(0);
    const csv = await (await fetch(url!)).text();
    expect(csv).toBe('date,episode_id,episode_title,guid,downloads,listeners\r\n');
  });
});

describe('the end', () => {
  test('of a podcast is 410 for its feed and 404 for the API', async () => {
    const id = await publishedPodcast(rest, 'The last one');
    const { feed_url: feedUrl } = await podcastOf(id);
    const answer = await fetch(`${world.fleet.urls.base}/api/v1/podcasts/${id}`, {
      method: 'DELETE',
      headers: { token: owner.apiKey },
    });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    await until('the end of the feed', async () => (await fetch(feedUrl)).status === 410 || undefined);
    await expect(podcastOf(id)).rejects.toThrow('404');
    expect((await rest.get<{ id: string }[]>('/podcasts')).map((podcast) => podcast.id)).not.toContain(id);
  });
});
