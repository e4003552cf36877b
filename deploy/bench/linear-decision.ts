import type { DecisionContext, DecisionInputs } from '@longwave/ad-decision';
import type { PlanLineItem, PlanTargeting, ServingPlanDocument } from '@longwave/events';

/** The result of the linear scan for one play of one break. */
export interface LinearDecision {
  readonly eligible: number;
  readonly lineItemIds: readonly string[];
}

type Lists = { readonly include: ReadonlySet<string>; readonly exclude: ReadonlySet<string> };
type ListName = Exclude<keyof PlanTargeting, 'explicit' | 'episode_age_hours' | 'dayparts'>;
const listNames: readonly ListName[] = [
  'podcasts',
  'episodes',
  'countries',
  'regions',
  'languages',
  'devices',
  'operating_systems',
  'apps',
  'surfaces',
  'content_categories',
];
const tierOf = { exclusive: 0, sponsorship: 1, guaranteed: 2, non_guaranteed: 3, house: 4 };

const suits = ({ include, exclude }: Lists, values: readonly string[]) =>
  (include.size === 0 || values.some((value) => include.has(value))) && !values.some((value) => exclude.has(value));

/** Spreads 32 bits evenly. */
function spread(value: number): number {
  let h = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * The baseline of `decision core`: the same decision without an index. Every line item is tested for every dimension, the eligible
 * ones are sorted by rank, and the break is filled from the top; sets, windows and local hours are prepared beforehand.
 */
export function createLinearDecision(plan: ServingPlanDocument, inputs: DecisionInputs) {
  const prepared = plan.line_items.map((line) => ({
    line,
    startMs: Date.parse(line.window.start),
    endMs: Date.parse(line.window.end),
    lists: listNames.map((name) => ({
      include: new Set(line.targeting[name]?.include),
      exclude: new Set(line.targeting[name]?.exclude),
    })),
    hours: line.targeting.dayparts && new Set(line.targeting.dayparts.hours),
  }));
  const floor = plan.floors[0]?.min_cpm_micros ?? 0;
  const formats = new Map<string, Intl.DateTimeFormat>();
  const hourOf = (timeZone: string, atMs: number) => {
    let format = formats.get(timeZone);
    if (!format)
      formats.set(
        timeZone,
        (format = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', hour: '2-digit', hourCycle: 'h23' })),
      );
    const [weekday = '', hour] = format.format(atMs).split(', ');
    return ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(weekday) * 24 + Number(hour);
  };

  const rankOf = ({ type, priority, cpm_micros }: PlanLineItem) =>
    type === 'guaranteed' ? priority : type === 'non_guaranteed' ? -(cpm_micros ?? 0) : 0;

  return (context: DecisionContext): LinearDecision => {
    const [adBreak] = context.breaks;
    const values: readonly (readonly string[])[] = [
      [context.podcastId],
      [context.episodeId],
      [context.country],
      [context.region],
      [context.language],
      [context.device],
      [context.operatingSystem],
      [context.app],
      [context.surface],
      context.contentCategories,
    ];
    const ageMs = context.atMs - context.publishedAtMs;
    const hours = new Map<string, number>();
    const localHour = (zone: string) => {
      const hour = hours.get(zone) ?? hourOf(zone, context.atMs);
      hours.set(zone, hour);
      return hour;
    };
    const eligible = prepared.flatMap(({ line, startMs, endMs, lists, hours: open }, at) => {
      const { explicit, episode_age_hours: age, dayparts } = line.targeting;
      const serves =
        startMs <= context.atMs &&
        context.atMs < endMs &&
        line.break_positions.includes(adBreak!.position) &&
        lists.every((one, list) => suits(one, values[list]!)) &&
        (explicit === 'any' || (explicit === 'only') === context.explicit) &&
        (age.max === undefined || ageMs < age.max * 3_600_000) &&
        (age.min === undefined || ageMs >= age.min * 3_600_000) &&
        (!dayparts || open!.has(localHour(dayparts.time_zone))) &&
        (line.type !== 'non_guaranteed' || (line.cpm_micros ?? 0) >= floor) &&
        line.creatives.some((creative) => creative.media.some((one) => one.stream_format === context.streamFormat));
      return serves ? [{ line, hash: spread(at ^ ageMs), at }] : [];
    });
    eligible.sort(
      (a, b) => tierOf[a.line.type] - tierOf[b.line.type] || rankOf(a.line) - rankOf(b.line) || a.hash - b.hash,
    );
    const chosen: PlanLineItem[] = [];
    let leftMs = adBreak!.maxDurationMs;
    for (const { line, at } of eligible) {
      if (chosen.length === adBreak!.maxSlots) break;
      if (line.goal.unit === 'impressions' && inputs.remaining!(at) === 0) continue;
      const servedWithin = (windowSeconds: number) =>
        inputs.frequencyRecord!(line.line_item_id, context.atMs - windowSeconds * 1000);
      if (line.frequency_caps.some((cap) => servedWithin(cap.window_seconds) >= cap.max)) continue;
      const { served, opportunities } = inputs.share(at);
      if (line.goal.unit === 'share_pct' && served / (opportunities + 1) >= line.goal.quantity! / 100) continue;
      const apart = (other: PlanLineItem) =>
        other.advertiser_id !== line.advertiser_id &&
        !other.separation_groups.some((group) => line.separation_groups.includes(group)) &&
        !other.ad_product_categories.some((category) => line.ad_product_categories.includes(category));
      const durationMs = line.creatives[0]!.media[0]!.duration_ms;
      if (durationMs > leftMs || !chosen.every(apart)) continue;
      chosen.push(line);
      leftMs -= durationMs;
      if (line.type === 'exclusive') break;
    }
    return { eligible: eligible.length, lineItemIds: chosen.map((line) => line.line_item_id) };
  };
}
