import path from 'node:path';
import type { Fleet } from '@longwave/fleet';
import { createRestClient } from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';
import { waitAtHalfLoad } from './delivery-rate.ts';
import { findLoadTool, load, type Load } from './load.ts';
import { compare, type Row } from './measure.ts';
import { startNginx } from './nginx.ts';
import type { Stitched } from './stitched.ts';

const secondsPerRound = 3;
const baselineName = 'nginx, one worker, static files';
const headers = { 'user-agent': 'bench/1' };

/** The files of a play by HLS as a listener gets them. */
interface HlsFiles {
  readonly playlistUrl: string;
  readonly playlist: string;
  readonly listUrl: string;
  readonly trackUrl: string;
  readonly track: Uint8Array;
  /** Range headers of the segments. */
  readonly ranges: readonly string[];
}

/** Switches HLS on for the podcast, and opens a play. */
async function openPlay(fleet: Fleet, { apiKey, podcastId, enclosureUrl }: Stitched): Promise<HlsFiles> {
  await createRestClient(fleet.urls.base, apiKey).put(`/podcasts/${podcastId}`, { hls_audio: true });
  const entry = enclosureUrl.replace(/\.mp3$/, '.m3u8');
  const main = await until(
    'the presentation',
    async () => {
      const answer = await fetch(entry, { headers });
      return answer.ok ? answer.url : undefined;
    },
    { timeoutMs: 120_000 },
  );
  const playlistUrl = new URL('a192/media.m3u8', main).href;
  const playlist = await (await fetch(playlistUrl, { headers })).text();
  const trackUrl = new URL(/URI="([^"]+)"/.exec(playlist)![1]!, playlistUrl).href;
  const ranges = [...playlist.matchAll(/^#EXT-X-BYTERANGE:(\d+)@(\d+)$/gm)].map(
    ([, length, offset]) => `bytes=${offset}-${Number(offset) + Number(length) - 1}`,
  );
  return {
    ...{ playlistUrl, playlist, trackUrl, ranges },
    listUrl: /X-ASSET-LIST="([^"]+)"/.exec(playlist)![1]!,
    track: new Uint8Array(await (await fetch(trackUrl, { headers })).arrayBuffer()),
  };
}

/**
 * Segments, media playlists and asset lists of a play by HLS against nginx serving the same bytes as static files, all under wrk. The
 * counting of the facts is stopped meanwhile: it belongs to another process.
 * @returns no row when nginx or wrk is missing, which standard error says
 */
export async function hlsThroughput(fleet: Fleet, stitched: Stitched, folder: string): Promise<Row[]> {
  const tool = await findLoadTool();
  if (!tool) return [];
  const { playlistUrl, playlist, listUrl, trackUrl, track, ranges } = await openPlay(fleet, stitched);
  const list = new Uint8Array(await (await fetch(listUrl, { headers })).arrayBuffer());
  const files = { 'm.mp4': track, 'media.m3u8': Buffer.from(playlist), 'list.json': list };
  using nginx = await startNginx(path.join(folder, 'nginx-hls'), files);
  if (!nginx) return [];
  const options = { folder: path.join(folder, 'wrk'), seconds: secondsPerRound, connections: 16 };
  await fleet.services['analytics-sink'].stop();
  const rows: Row[] = [];
  const meanKb = Math.round(track.length / ranges.length / 1000);
  for (const [name, ours, theirs, asked] of [
    [`HLS, segments of ${meanKb} kB by range`, trackUrl, 'm.mp4', ranges],
    [`HLS, media playlists of ${Math.round(playlist.length / 1000)} kB, uncompressed`, playlistUrl, 'media.m3u8', ['']],
    ['HLS, asset lists of a play that is decided', listUrl, 'list.json', ['']],
  ] as const) {
    const measure = (url: string) => async () => {
      const done: Load = await load(tool, url, { ranges: asked }, options);
      return { value: done.requestsPerSecond, items: done.requests };
    };
    const kind = { name, unit: '/s', baselineName };
    rows.push(await compare(kind, 3, measure(ours), measure(`${nginx.url}${theirs}`)));
  }
  const kind = { name: 'HLS, asset lists of a play that is decided', baselineName };
  rows.push(await waitAtHalfLoad(kind, listUrl, `${nginx.url}list.json`, rows.at(-1)!.ours));
  await fleet.services['analytics-sink'].start();
  return rows;
}
