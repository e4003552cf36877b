import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import { callOptions } from '../management/asker.ts';
import { defineRoute, type Deps, type ObjectCall } from '../route.ts';
import { judgeAchievements } from './achievements.ts';
import thresholds from './achievements.json' with { type: 'json' };

const types = ['downloads', 'episodes', 'countries'] as const;
const dayMs = 86_400_000;

/** All that was ever counted: achievements have no range, and no plan's history cuts them. */
const wholeLife = (now: Date) => ({ fromMs: 0n, toMs: BigInt(now.getTime() + dayMs) });

const values: Readonly<Record<(typeof types)[number], (call: ObjectCall, deps: Deps) => Promise<number>>> = {
  downloads: async (call, { audience, clock }) => {
    const scope = { workspaceId: call.access.workspaceId, podcastId: call.id };
    const { episodes } = await audience.countByEpisode(
      { ...scope, range: wholeLife(clock()) },
      callOptions(call.caller),
    );
    return Number(episodes.reduce((sum, { downloads }) => sum + downloads, 0n));
  },
  episodes: async ({ caller, id, access }, { management }) => {
    const input = { links: { podcast: id }, workspaceId: access.workspaceId, states: ['published'] };
    return (await management.list(caller, 'episodes', input)).length;
  },
  countries: async (call, { audience, clock }) => {
    const scope = { workspaceId: call.access.workspaceId, podcastId: call.id, episodeId: '' };
    const { counts } = await audience.countByDimension(
      { ...scope, range: wholeLife(clock()), dimension: Dimension.COUNTRY },
      callOptions(call.caller),
    );
    return counts.filter(({ key }) => key !== 'unknown').length;
  },
};

/** GET /podcasts/{id}/achievements: of any visible podcast, whatever the plan. */
export const podcastAchievements = (path: string) =>
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastAchievements',
    summary: 'Milestones of a podcast: downloads, published episodes, or countries it was downloaded in.',
    object: { type: 'podcasts', from: 'path', field: 'id' },
    query: z.strictObject({ type: z.enum(types) }),
    answer: {
      name: 'Achievements',
      schema: z.strictObject({
        type: z.enum(types),
        value: z.int().min(0),
        next: z.strictObject({ threshold: z.int(), remaining: z.int() }).nullable(),
        objects: z.array(z.strictObject({ threshold: z.int(), reached: z.boolean() })),
      }),
    },
    run: async (call, deps) => {
      const { type } = call.query;
      const value = await values[type](call, deps);
      return { status: 200, body: { type, ...judgeAchievements(thresholds[type], value) } };
    },
  });
