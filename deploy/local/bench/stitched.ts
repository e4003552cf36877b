import type { Fleet } from '@longwave/fleet';
import { bookCampaign, publishPlan } from '../job/book-campaign.ts';
import { checkFeed } from '../job/check-feed.ts';
import { download, type Download } from '../job/check-delivery.ts';
import { createAccount, type Operator } from '../job/operator.ts';
import { createRestClient, uploadFile } from '../job/rest-client.ts';
import { until } from '../job/until.ts';

/** An episode with a pre-roll as a listener gets it. */
export interface Stitched extends Download {
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly feedUrl: string;
  readonly enclosureUrl: string;
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
    goal: 10_000_000,
  });
  await publishPlan(operator, account.workspaceId);
  const { enclosureUrl } = await until('the feed', 600_000, () => checkFeed(podcast.feed_url));
  return {
    ...(await download(enclosureUrl)),
    workspaceId: account.workspaceId,
    podcastId: podcast.id,
    feedUrl: podcast.feed_url,
    enclosureUrl,
  };
}
