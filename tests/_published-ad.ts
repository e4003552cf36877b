import path from 'node:path';
import { samples } from '@longwave/local/samples';
import { makeAudio, until } from '@longwave/test-kit';
import { bookCampaign, checkFeed, publishPlan, uploadFile } from '@longwave/test-kit/clients';
import { countedDownloads, createPodcaster, type Installation } from './_fleet.ts';

/** Downloads of a podcast and deliveries of its ad, as they are counted. */
export interface Counts {
  readonly downloads: number;
  readonly ads: number;
}

/**
 * A new podcaster with one published episode of 70 s and one booked ad, in the feed and in force.
 * @param options.hls it can be played by HLS too
 * @param options.goal of the ad, in impressions
 */
export async function publishWithAd(world: Installation, plan?: string, { hls = false, goal = 1000 } = {}) {
  const podcaster = await createPodcaster(world, plan);
  if (hls) await podcaster.rest.put(`/podcasts/${podcaster.podcastId}`, { hls_audio: true });
  const { workspaceId } = podcaster.account;
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(world.folder, 'one.wav'), 70), 'One');
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  const ad = await uploadFile(podcaster.rest, samples.ad);
  const { lineItemId } = await bookCampaign(world.operator, workspaceId, {
    adUploadId: /upl_[0-9a-z]{26}/.exec(ad.fileUrl)![0],
    podcastId: podcaster.podcastId,
    goal,
  });
  await publishPlan(world.operator, workspaceId);
  const { enclosureUrl } = await until('the feed', () => checkFeed(podcaster.feedUrl));
  const entryUrl = enclosureUrl.replace(/\.mp3$/, '.m3u8');
  if (hls)
    await until(
      'the presentation',
      async () => (await fetch(entryUrl, { method: 'HEAD', redirect: 'manual' })).status === 302,
    );

  const countNow = async (): Promise<Counts> => ({
    downloads: await countedDownloads(podcaster),
    ads: await world.operator.adsDelivered(workspaceId, lineItemId),
  });
  return { podcaster, workspaceId, lineItemId, enclosureUrl, entryUrl, countNow };
}
