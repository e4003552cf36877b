import { z } from 'zod';
import { change, resourceAnswer, sendToObject, versionOf } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type Route } from '../route.ts';

const feedCheck: AnswerShape = {
  name: 'FeedCheck',
  schema: z.strictObject({
    feed_url: z.url(),
    checked_at: z.iso.datetime(),
    /** True without any error; warnings may remain. */
    acceptable: z.boolean(),
    findings: z.array(z.strictObject({ severity: z.enum(['error', 'warning']), code: z.string(), text: z.string() })),
  }),
};

/** GET /podcasts/{id}/feed_check: checks the live feed as directories do. */
export const checkFeed = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastFeedCheck',
    summary: 'Fetches the live feed and its newest files over HTTP and checks what Apple and PSP-1 check.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    answer: feedCheck,
    refusals: [422],
    deadlineMs: 60_000,
    run: async ({ caller, access, id }, { management, clock }) => {
      const { feedUrl, findings } = await management.checkFeed(caller, {
        workspaceId: access.workspaceId,
        podcastId: id,
      });
      return {
        status: 200,
        body: {
          feed_url: feedUrl,
          checked_at: clock().toISOString(),
          acceptable: findings.every(({ severity }) => severity !== 'error'),
          findings,
        },
      };
    },
  });

/** POST /podcasts/{id}/publish. */
export function publishPodcast(path: string): Route {
  const published = change('POST', path, 'podcast.publish');
  return {
    ...published,
    otherAnswer: {
      status: 202,
      when: 'The podcast is published, but its feed could not be read within 10 s. It becomes available without another request.',
      answer: versionOf('podcasts'),
    },
    run: async (call, deps) => {
      const { resource } = await sendToObject(call, deps, 'podcast.publish', {});
      const answer = await resourceAnswer(200, resource, call, deps);
      const podcast = { workspaceId: resource.workspace_id, podcastId: call.id };
      const isLive = await deps.management.awaitFeed(call.caller, podcast);
      return isLive ? answer : { ...answer, status: 202 };
    },
  };
}
