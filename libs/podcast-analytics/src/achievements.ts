import { callOptions } from '@longwave/hosting-client';
import { Dimension } from '@longwave/rpc/audience';
import { z } from 'zod';
import thresholds from './achievements.json' with { type: 'json' };
import type { AnalyticsDeps, Question } from './question.ts';

/** Kinds of milestones. */
export const achievementTypes = ['downloads', 'episodes', 'countries'] as const;
type AchievementType = (typeof achievementTypes)[number];
const dayMs = 86_400_000;

/** All that was ever counted: achievements have no range, and no plan's history cuts them. */
const wholeLife = (now: Date) => ({ fromMs: 0n, toMs: BigInt(now.getTime() + dayMs) });

type AchievementQuestion = Omit<Question<'podcasts'>, 'query'>;

const values: Readonly<
  Record<AchievementType, (question: AchievementQuestion, deps: AnalyticsDeps) => Promise<number>>
> = {
  downloads: async ({ caller, object, access }, { audience, clock }) => {
    const scope = { workspaceId: access.workspaceId, podcastId: object.id };
    const { episodes } = await audience.countByEpisode({ ...scope, range: wholeLife(clock()) }, callOptions(caller));
    return Number(episodes.reduce((sum, { downloads }) => sum + downloads, 0n));
  },
  episodes: async ({ caller, object, access }, { management }) => {
    const input = { links: { podcast: object.id }, workspaceId: access.workspaceId, states: ['published'] };
    return (await management.list(caller, 'episodes', input)).length;
  },
  countries: async ({ caller, object, access }, { audience, clock }) => {
    const scope = { workspaceId: access.workspaceId, podcastId: object.id, episodeId: '' };
    const { counts } = await audience.countByDimension(
      { ...scope, range: wholeLife(clock()), dimension: Dimension.COUNTRY },
      callOptions(caller),
    );
    return counts.filter(({ key }) => key !== 'unknown').length;
  },
};

/** Milestones of one kind: which are reached, and how far it is to the next. */
export const achievements = z.strictObject({
  type: z.enum(achievementTypes),
  value: z.int().min(0),
  next: z.strictObject({ threshold: z.int(), remaining: z.int() }).nullable(),
  objects: z.array(z.strictObject({ threshold: z.int(), reached: z.boolean() })),
});
type Achievements = z.output<typeof achievements>;

/** @param ascending the thresholds */
export function judgeAchievements(ascending: readonly number[], value: number): Omit<Achievements, 'type'> {
  const next = ascending.find((threshold) => threshold > value);
  return {
    value,
    next: next === undefined ? null : { threshold: next, remaining: next - value },
    objects: ascending.map((threshold) => ({ threshold, reached: value >= threshold })),
  };
}

/** Milestones of a podcast, whatever the plan. */
export async function countAchievements(
  question: AchievementQuestion,
  type: AchievementType,
  deps: AnalyticsDeps,
): Promise<Achievements> {
  return { type, ...judgeAchievements(thresholds[type], await values[type](question, deps)) };
}
