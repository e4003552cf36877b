import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { Fleet } from '@longwave/fleet';
import { bookCampaign, publishPlan } from '../job/book-campaign.ts';
import { checkFeed } from '../job/check-feed.ts';
import { download, type Download } from '../job/check-delivery.ts';
import { createAccount, type Operator } from '../job/operator.ts';
import { createRestClient, uploadFile } from '../job/rest-client.ts';
import { until } from '../job/until.ts';
import { compare, ratePerSecond, type Row } from './measure.ts';

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

/** Reads a range and throws the bytes away; answers how many came. */
function drain(url: string, from: number, to: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .get(url, { agent, headers: { range: `bytes=${from}-${to}`, 'user-agent': 'bench/1' } }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('end', () =>
          bytes === to - from + 1 ? resolve(bytes) : reject(new Error(`${bytes} bytes instead of ${to - from + 1}`)),
        );
        response.on('error', reject);
      })
      .on('error', reject);
  });
}

/** An episode with a pre-roll as a listener gets it. */
export interface Stitched extends Download {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly feedUrl: string;
}

/** Publishes an episode with a pre-roll and downloads it once. */
export async function publishStitched(
  fleet: Fleet,
  operator: Operator,
  files: { readonly audio: string; readonly ad: string; readonly artwork: string },
): Promise<Stitched> {
  const account = await createAccount(operator);
  const rest = createRestClient(fleet.urls.base, account.apiKey);
  const podcast = await rest.post<{ id: string; feed_url: string }>('/podcasts', {
    title: 'Bench',
    language: 'en',
    description: 'd',
    author: 'a',
    categories: ['Arts'],
  });
  await rest.put(`/podcasts/${podcast.id}`, { artwork_url: (await uploadFile(rest, files.artwork)).fileUrl });
  await rest.post(`/podcasts/${podcast.id}/publish`);
  const episode = await rest.post<{ id: string }>(`/podcasts/${podcast.id}/episodes`, { title: 'One' });
  const { fileUrl } = await uploadFile(rest, files.audio);
  const { id } = await rest.post<{ id: string }>('/productions', { episode_id: episode.id, file_url: fileUrl });
  await rest.post(`/productions/${id}/start?publish_episode=true`);
  const ad = await uploadFile(rest, files.ad);
  await bookCampaign(operator, account.workspaceId, {
    adUploadId: /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0],
    podcastId: podcast.id,
    goal: 100_000,
  });
  await publishPlan(operator, account.workspaceId);
  const { enclosureUrl } = await until('the feed', 600_000, () => checkFeed(podcast.feed_url));
  return {
    ...(await download(enclosureUrl)),
    workspaceId: account.workspaceId,
    podcastId: podcast.id,
    feedUrl: podcast.feed_url,
  };
}

/** Bytes per second of stitched ranges against one file by plain http, for whole files and for 256 KiB ranges. */
export async function rangeThroughput(stitched: Stitched, folder: string): Promise<Row[]> {
  const file = path.join(folder, 'whole.mp3');
  writeFileSync(file, stitched.bytes);
  const server = fork(path.join(import.meta.dirname, 'file-server.ts'), [file], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const port = await new Promise<string>((resolve) =>
      server.stdout!.once('data', (data: Buffer) => resolve(data.toString().trim())),
    );
    const plain = `http://127.0.0.1:${port}/`;
    const size = stitched.bytes.length;
    const megabytesPerSecond = (url: string, length: number, count: number) => async () => {
      const rate = await ratePerSecond(count, 4, (i) => {
        const from = length >= size ? 0 : (i * 7919 * 384) % (size - length);
        return drain(url, from, Math.min(size, from + length) - 1);
      });
      return (rate * Math.min(length, size)) / 1e6;
    };
    const rows: Row[] = [];
    for (const [name, length, count] of [
      ['stitched audio, whole files', size, 60],
      ['stitched audio, 256 KiB ranges', 262_144, 800],
    ] as const)
      rows.push(
        await compare(
          { name, unit: 'MB/s', baselineName: 'fs.createReadStream by plain http' },
          5,
          megabytesPerSecond(stitched.mediaUrl, length, count),
          megabytesPerSecond(plain, length, count),
        ),
      );
    return rows;
  } finally {
    server.kill();
  }
}
