import path from 'node:path';
import { makeAudio } from '@longwave/test-kit';
import { uploadFile } from '@longwave/test-kit/clients';
import type { Installation } from '../_fleet.ts';
import { publishWithAd } from '../_published-ad.ts';

/** A podcast that a load listens to and works on. */
export interface Show {
  readonly urls: Installation['fleet']['urls'];
  readonly apiKey: string;
  readonly workspaceId: string;
  readonly podcastId: string;
  readonly feedUrl: string;
  readonly enclosureUrl: string;
  /** The same episode by HLS. */
  readonly entryUrl: string;
  /** An upload of 60 s of sound. */
  readonly sourceUrl: string;
}

/**
 * Publishes a podcast with one episode and an ad.
 * @param plan without limits of rates
 */
export async function publishShow(world: Installation, plan: string): Promise<Show> {
  const { podcaster, workspaceId, enclosureUrl, entryUrl } = await publishWithAd(world, plan, { hls: true });
  const { fileUrl } = await uploadFile(podcaster.rest, makeAudio(path.join(world.folder, 'source.wav'), 60));
  const { podcastId, feedUrl, account } = podcaster;
  const { urls } = world.fleet;
  return { urls, apiKey: account.apiKey, workspaceId, podcastId, feedUrl, enclosureUrl, entryUrl, sourceUrl: fileUrl };
}
