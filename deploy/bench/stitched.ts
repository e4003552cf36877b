import type { Fleet } from '@longwave/fleet';
import {
  bookCampaign,
  checkFeed,
  createAccount,
  createRestClient,
  download,
  type Download,
  type Operator,
  publishPlan,
  uploadFile,
} from '@longwave/test-kit/clients';
import { until } from '@longwave/test-kit';

/** An episode with a pre-roll as a listener gets it. */
export interface Stitched extends Download {
  readonly workspaceId: string;
  readonly apiKey: string;
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
  const { enclosureUrl } = await until('the feed', () => checkFeed(podcast.feed_url), { timeoutMs: 600_000 });
  return {
    ...(await download(enclosureUrl)),
    workspaceId: account.workspaceId,
    apiKey: account.apiKey,
    podcastId: podcast.id,
    feedUrl: podcast.feed_url,
    enclosureUrl,
  };
}
