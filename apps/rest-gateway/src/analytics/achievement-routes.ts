import { achievements, achievementTypes, countAchievements } from '@longwave/podcast-analytics';
import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** GET /podcasts/{id}/achievements: of any visible podcast, whatever the plan. */
export const podcastAchievements = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastAchievements',
    summary: 'Milestones of a podcast: downloads, published episodes, or countries it was downloaded in.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    query: z.strictObject({ type: z.enum(achievementTypes) }),
    answer: { name: 'Achievements', schema: achievements },
    run: async (call, deps) => ({ status: 200, body: await countAchievements(call, call.query.type, deps) }),
  });
