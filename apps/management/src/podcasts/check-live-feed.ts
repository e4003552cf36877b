import type { ResourceView } from '@longwave/events';
import { Problem } from '@longwave/problems';
import type { CheckFeedResponse } from '@longwave/rpc/feed';
import type { Ask } from './ask.ts';
import { checkFeed } from './check-feed.ts';
import { feedUrlOf } from './podcast.ts';

/** Checks the feed of a published podcast as directories see it. Throws `state_not_allowed` while it is not public. */
export const createCheckLiveFeed =
  (mediaUrl: string, ask: Ask) =>
  async ({ lifecycle_state: state, attributes }: ResourceView): Promise<CheckFeedResponse> => {
    if (state !== 'published')
      throw new Problem('state_not_allowed', 'Publish the podcast first: its feed is not public.');
    const feedUrl = feedUrlOf(mediaUrl, String(attributes['subdomain']));
    return { feedUrl, findings: await checkFeed(feedUrl, ask) };
  };
