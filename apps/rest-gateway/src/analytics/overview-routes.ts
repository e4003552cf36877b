import { overview, permitPublished, summarisePodcast } from '@longwave/podcast-analytics';
import { defineRoute } from '../route.ts';

/**
 * GET /podcasts/{id}/overview. Which sections there are depends on the plan's analytics; a podcast must be
 * published and the caller must have the right to see its analytics, as for all of them.
 */
export const podcastOverview = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastOverview',
    summary: 'Contents of a podcast and, if the plan includes analytics, its numbers of the last 30 days.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    permit: permitPublished,
    answer: { name: 'Overview', schema: overview },
    refusals: [403],
    run: async (call, deps) => ({ status: 200, body: await summarisePodcast(call, deps) }),
  });
