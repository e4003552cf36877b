import { setTimeout as wait } from 'node:timers/promises';
import type { Resource } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { CheckFeedResponse } from '@longwave/rpc/feed';
import type { PublicFetch } from '../../outside/public-fetch.ts';
import { checkFeed } from './check-feed.ts';
import { feedUrlOf } from './podcast.ts';

/** Checks the feed of a published podcast as directories see it. Throws `state_not_allowed` while it is not public. */
export const createCheckLiveFeed =
  (mediaUrl: string, publicFetch: PublicFetch) =>
  async ({ lifecycle_state: state, attributes }: Resource<'podcasts'>): Promise<CheckFeedResponse> => {
    if (state !== 'published')
      throw new Problem('state_not_allowed', 'Publish the podcast first: its feed is not public.');
    const feedUrl = feedUrlOf(mediaUrl, attributes.subdomain);
    return { feedUrl, findings: await checkFeed(feedUrl, publicFetch) };
  };

const firstPauseMs = 20;
const longestPauseMs = 500;

/**
 * Waits until the feed of a published podcast answers at its public address: true as soon as it does, false when `deadline` comes first.
 */
export const createAwaitFeed =
  (mediaUrl: string, publicFetch: PublicFetch) =>
  async ({ attributes }: Resource<'podcasts'>, deadline: Date): Promise<boolean> => {
    // Another host serves a feed that has moved.
    if (attributes.new_feed_url !== undefined) return true;
    const feedUrl = feedUrlOf(mediaUrl, attributes.subdomain);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const { status } = await publicFetch(feedUrl, { method: 'HEAD' });
      if (status === 200) return true;
      if (Date.now() + pauseMs >= deadline.getTime()) return false;
      await wait(pauseMs);
    }
  };
