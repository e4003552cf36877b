import { isDeepStrictEqual } from 'node:util';
import { until } from '@longwave/test-kit';
import {
  type Download,
  type HeardByHls,
  listServingsByHls,
  listServingsOfDownload,
  type Operator,
  playByHls,
} from '@longwave/test-kit/clients';
import type { JobResult } from './job-result.ts';

type Progress = (fraction: number) => void;

const logs = 'npm run longwave -- logs';
const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The address by HLS of an episode, which stands in no feed until the podcaster wants that. */
export const entryUrlOf = (enclosureUrl: string): string => enclosureUrl.replace(/\.mp3$/, '.m3u8');

/** So many seconds the playlists of a presentation may differ from the MP3: each file ends with a whole frame of its own. */
const maxApartSeconds = 0.2;

/**
 * Waits until an episode can be played by HLS: first its track is encoded, behind new episodes and ads, then public-delivery judges its
 * presentation and opens the address.
 * @throws the problem of the track, or what did not happen and where to look
 */
export async function awaitPresentation(
  operator: Operator,
  { workspaceId, productionId, entryUrl }: Readonly<Record<'workspaceId' | 'productionId' | 'entryUrl', string>>,
  progress: Progress,
): Promise<string> {
  const trackState = async () => {
    const { attributes } = await operator.read(workspaceId, 'productions', productionId);
    const { state, problem } = attributes.tracks?.a192 ?? { state: 'waiting' as const, problem: undefined };
    if (state === 'failed')
      throw new Error(`${problem?.code}: ${problem?.detail} Try again with another file, or see: ${logs}`);
    return state;
  };
  await until('the track of HLS', trackState, {
    holds: (state) => state === 'ready',
    timeoutMs: 4 * 3600_000,
  });
  progress(0.75);
  await until(
    `the presentation (why, says “presentation.refused” in ${logs})`,
    async () => (await fetch(entryUrl, { method: 'HEAD', redirect: 'manual' })).status === 302,
    { timeoutMs: 120_000 },
  );
  return 'a track of the sound, and the address of the enclosure with .m3u8 answers';
}

/** Plays an episode by HLS as the listener who has downloaded it. */
export async function hearByHls(
  entryUrl: string,
  { agent }: Download,
  contentMs: number,
  progress: Progress,
): Promise<{ readonly heard: HeardByHls; readonly words: string }> {
  const heard = await playByHls(entryUrl, agent, { onProgress: progress });
  const { seconds, segments, breaks } = heard;
  if (Math.abs(seconds - contentMs / 1000) > maxApartSeconds)
    throw new Error(`HLS has ${seconds.toFixed(1)} s of content, the MP3 ${(contentMs / 1000).toFixed(1)} s`);
  const ads = breaks.flatMap((each) => each.ads).length;
  return {
    heard,
    words: `${count(segments, 'segment')} with ${seconds.toFixed(1)} s of content, ${count(breaks.length, 'break')}, ${count(ads, 'ad')}`,
  };
}

/**
 * Compares the ads of both surfaces, and reports the end of each as a player does: the report goes the way of the bytes before it, so when it
 * is counted, they are.
 */
export async function compareSurfaces(
  downloaded: Download,
  heard: HeardByHls,
): Promise<{ readonly servings: NonNullable<JobResult['hls']>['servings']; readonly words: string }> {
  const [byMp3, byHls] = await Promise.all([
    listServingsOfDownload(downloaded),
    listServingsByHls(heard, downloaded.agent),
  ]);
  const addresses = (servings: typeof byMp3) => servings.map(({ breakId, reportUrl }) => [breakId, reportUrl]);
  if (byHls.length === 0 || !isDeepStrictEqual(addresses(byMp3), addresses(byHls)))
    throw new Error(
      `the MP3 has ${count(byMp3.length, 'ad')}, HLS ${byHls.length}, and they are not the same servings`,
    );
  for (const { reportUrl } of byHls) {
    const { status } = await fetch(`${reportUrl}?e=complete`, { headers: { 'user-agent': downloaded.agent } });
    if (status !== 204) throw new Error(`the report of an ad answered ${status} instead of 204`);
  }
  const servings = byHls.map(({ breakId, servingId }) => ({ break: breakId, serving_id: servingId }));
  return { servings, words: `${servings.map((each) => `${each.break} ${each.serving_id}`).join(', ')} on both` };
}
