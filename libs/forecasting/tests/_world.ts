import { bookedLine, bookedPlan, createDraws, generateWorld, targetingOf } from '../src/generated-world/index.ts';
import type { SamplePlay } from '../src/index.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
/** A Monday. */
export const startMs = Date.UTC(2026, 0, 5);
export const week = { fromMs: startMs, toMs: startMs + 7 * dayMs };
export const days = { ...week, timeZone: 'UTC' };
export const planWindow = {
  start: new Date(week.fromMs).toISOString(),
  end: new Date(week.toMs).toISOString(),
};

export const slotsOf = (plays: readonly SamplePlay[]) =>
  plays.reduce((sum, { breaks, weight }) => sum + weight * breaks.reduce((all, { maxSlots }) => all + maxSlots, 0), 0);

/** The same plays one week before, from where a projection brings them back. */
export const lastWeekOf = (plays: readonly SamplePlay[]): readonly SamplePlay[] =>
  plays.map((play) => ({
    ...play,
    atMs: play.atMs - 7 * dayMs,
    publishedAtMs: play.publishedAtMs - 7 * dayMs,
  }));

/** A week of a small world with a plan whose guaranteed line items want a share of its slots. */
export function bookedWeek({
  seed,
  playsPerDay,
  bookedShare,
  capped = false,
}: {
  readonly seed: number;
  readonly playsPerDay: number;
  readonly bookedShare: number;
  readonly capped?: boolean;
}) {
  const world = generateWorld({ seed, podcasts: 16, fromMs: startMs - 63 * dayMs, toMs: week.toMs, playsPerDay });
  const plays = world.playsOf(week);
  const plan = bookedPlan(world, {
    ...{ seed: seed + 1, guaranteed: 16, window: planWindow, slots: slotsOf(plays), bookedShare, capped },
  });
  const draws = createDraws(seed + 2);
  const prospects = Array.from({ length: 6 }, (_, at) =>
    bookedLine({
      ...{ line_item_id: `new_${at}`, window: planWindow, priority: 4 },
      targeting: targetingOf(world.podcasts, draws),
    }),
  );
  return { world, plays, plan, prospects };
}

const preroll = {
  key: 'pre',
  position: 'pre' as const,
  maxSlots: 1,
  maxDurationMs: 30_000,
  positionMs: 0,
  slotRules: [],
};

/** A play of a podcast with one pre-roll. */
export const playOf = (given: Partial<SamplePlay>): SamplePlay => ({
  ...{ podcastId: 'pod_1', episodeId: 'ep_1', country: 'DE', region: '', surface: 'progressive', device: 'mobile' },
  ...{ operatingSystem: '', app: '', language: 'de', explicit: false, contentCategories: [], publishedAtMs: startMs },
  ...{ adLoadLimitMs: undefined, streamFormat: 'mp3/128000/48000/2', atMs: startMs, breaks: [preroll], listener: '' },
  ...{ weight: 1, lineItemIds: [], noAdReason: '' },
  ...given,
});
