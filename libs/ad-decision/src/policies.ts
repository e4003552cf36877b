import type { PlanPolicy, PlanTargeting, ServingPlanDocument } from '@longwave/events';
import { addBit, createBits, type Bits } from './bitset.ts';

/** A policy that a decision obeyed. */
export interface PolicyVersion {
  readonly id: string;
  readonly version: number;
  readonly kind: PlanPolicy['kind'];
}

/** A cap over servings of one line item to one listener. */
export interface FrequencyCap {
  readonly max: number;
  readonly per: 'listener_bucket' | 'episode' | 'break';
  readonly windowMs: number;
}

/** The lines that a policy lets serve. */
interface PolicyTest {
  readonly code: 'policy_brand_safety' | 'policy_privacy';
  readonly allowed: Bits;
}

/** By ordinal the ids of creatives. */
type BlockedCreatives = ReadonlyMap<number, ReadonlySet<string>>;

/** What the policies of one play demand together. Each only narrows what the plan allows. */
export interface PlayPolicies {
  readonly versions: readonly PolicyVersion[];
  readonly tests: readonly PolicyTest[];
  /** Creatives that may not serve by their own categories, by the ordinals of their lines. */
  readonly blockedCreatives: readonly BlockedCreatives[];
  /** Hold for every line item, beside its own. */
  readonly caps: readonly FrequencyCap[];
  /** Hold beside the plan's separation. */
  readonly separations: readonly Partial<ServingPlanDocument['separation']>[];
  /** Infinity for no limit, like the next two. */
  readonly maxMs: number;
  readonly maxAds: number;
  readonly maxAdsPerBreak: number;
}

/** What policies ask of a play. */
interface PolicedPlay {
  readonly podcastId: string;
  readonly episodeId: string;
  readonly explicit: boolean;
  readonly contentCategories: readonly string[];
}

/** The policies of a plan. */
export interface IndexedPolicies {
  /** The policies whose place the play is in. */
  readonly inPlay: (play: PolicedPlay) => PlayPolicies;
  /** Over what the caps of all policies count; a listener's record must count every serving over each of it. */
  readonly capPers: readonly FrequencyCap['per'][];
}

const unlimited: PlayPolicies = {
  versions: [],
  tests: [],
  blockedCreatives: [],
  caps: [],
  separations: [],
  maxMs: Infinity,
  maxAds: Infinity,
  maxAdsPerBreak: Infinity,
};

/** The policies of a plan without any. */
const noPolicies: IndexedPolicies = { inPlay: () => unlimited, capPers: [] };

/** What a line item has that policies ask about. */
interface PolicedLine {
  readonly advertiser_id: string;
  readonly ad_product_categories: readonly string[];
  readonly creatives: readonly { readonly creative_id: string; readonly categories?: readonly string[] | undefined }[];
  readonly targeting: PlanTargeting;
}

const isTargeted = (
  targeting: PlanTargeting,
  by: 'countries' | 'regions' | 'languages' | 'devices' | 'operating_systems' | 'apps' | 'dayparts',
) => {
  if (by === 'dayparts') return targeting.dayparts !== null;
  const lists = targeting[by];
  return lists !== undefined && lists.include.length + lists.exclude.length > 0;
};

/** A policy with the part of its answer that depends on the plan alone. */
interface Indexed {
  readonly policy: PlanPolicy;
  readonly podcasts: ReadonlySet<string>;
  readonly episodes: ReadonlySet<string>;
  /** The lines that it lets serve at all; undefined where it blocks none of them. */
  readonly lines: Bits | undefined;
  /** Creatives that it blocks; undefined where there are none. */
  readonly creatives: BlockedCreatives | undefined;
}

/** Per line the ids of the creatives with a category that brand safety blocks. */
const blockedCreativesOf = (policy: PlanPolicy, lines: readonly PolicedLine[]): readonly ReadonlySet<string>[] => {
  const blocked = new Set(policy.kind === 'brand_safety' ? policy.rules.blocked_ad_categories : []);
  return lines.map(
    ({ creatives }) =>
      new Set(
        creatives
          .filter(({ categories = [] }) => categories.some((one) => blocked.has(one)))
          .map(({ creative_id: id }) => id),
      ),
  );
};

function linesOf(
  policy: PlanPolicy,
  lines: readonly PolicedLine[],
  blockedCreatives: readonly ReadonlySet<string>[],
): Bits | undefined {
  const where = (isBlocked: (line: PolicedLine, ordinal: number) => boolean) => {
    const bits = createBits(lines.length);
    lines.forEach((line, ordinal) => {
      if (!isBlocked(line, ordinal)) addBit(bits, ordinal);
    });
    return bits;
  };
  if (policy.kind === 'privacy') {
    const { blocked_targeting: blocked = [] } = policy.rules;
    return where(({ targeting }) => blocked.some((by) => isTargeted(targeting, by)));
  }
  if (policy.kind !== 'brand_safety') return undefined;
  const categories = new Set(policy.rules.blocked_ad_categories);
  const advertisers = new Set(policy.rules.blocked_advertiser_ids);
  return where(
    (line, ordinal) =>
      advertisers.has(line.advertiser_id) ||
      line.ad_product_categories.some((one) => categories.has(one)) ||
      (line.creatives.length > 0 && line.creatives.every(({ creative_id: id }) => blockedCreatives[ordinal]!.has(id))),
  );
}

/** A policy with its answers about the lines of a plan. */
function indexPolicy(policy: PlanPolicy, lines: readonly PolicedLine[]): Indexed {
  const blocked = blockedCreativesOf(policy, lines);
  const creatives = new Map([...blocked.entries()].filter(([, ids]) => ids.size > 0));
  return {
    policy,
    podcasts: new Set(policy.place?.podcasts),
    episodes: new Set(policy.place?.episodes),
    lines: linesOf(policy, lines, blocked),
    creatives: creatives.size > 0 ? creatives : undefined,
  };
}

/** Whether a policy of brand safety keeps all advertising out of the episode. */
function blocksEpisode({ policy }: Indexed, { explicit, contentCategories }: PolicedPlay): boolean {
  if (policy.kind !== 'brand_safety') return false;
  const { blocked_content_categories: blocked = [], explicit_episodes: explicitEpisodes } = policy.rules;
  return (explicit && explicitEpisodes === 'blocked') || contentCategories.some((one) => blocked.includes(one));
}

const least = (limits: readonly (number | undefined)[]) => Math.min(...limits.map((limit) => limit ?? Infinity));

function combine(found: readonly Indexed[], play: PolicedPlay, none: Bits): PlayPolicies {
  const of = <K extends PlanPolicy['kind']>(kind: K) =>
    found.flatMap(({ policy }) => (policy.kind === kind ? [policy as Extract<PlanPolicy, { kind: K }>] : []));
  const loads = of('ad_load').map(({ rules }) => rules);
  return {
    versions: found.map(({ policy: { id, version, kind } }) => ({ id, version, kind })),
    tests: found.flatMap((one): PolicyTest[] => {
      if (!one.lines) return [];
      const code = one.policy.kind === 'privacy' ? 'policy_privacy' : 'policy_brand_safety';
      return [{ code, allowed: blocksEpisode(one, play) ? none : one.lines }];
    }),
    blockedCreatives: found.flatMap(({ creatives }) => creatives ?? []),
    caps: of('frequency').flatMap(({ rules }) =>
      rules.caps.map(({ max, per, window_seconds: seconds }) => ({ max, per, windowMs: seconds * 1000 })),
    ),
    separations: of('separation').map(({ rules }) => rules),
    maxMs: least(loads.map((rules) => rules.max_ms_per_play)),
    maxAds: least(loads.map((rules) => rules.max_ads_per_play)),
    maxAdsPerBreak: least(loads.map((rules) => rules.max_ads_per_break)),
  };
}

/**
 * Indexes the policies of a plan.
 * @param lines the plan's line items in the order of their ordinals
 */
export function indexPolicies(policies: readonly PlanPolicy[], lines: readonly PolicedLine[]): IndexedPolicies {
  if (policies.length === 0) return noPolicies;
  const none = createBits(lines.length);
  const indexed = policies.map((policy) => indexPolicy(policy, lines));
  const holdsIn = ({ policy, podcasts, episodes }: Indexed, { podcastId, episodeId }: PolicedPlay) =>
    policy.place === null || podcasts.has(podcastId) || episodes.has(episodeId);
  return {
    inPlay: (play) =>
      combine(
        indexed.filter((one) => holdsIn(one, play)),
        play,
        none,
      ),
    capPers: [
      ...new Set(policies.flatMap((one) => (one.kind === 'frequency' ? one.rules.caps.map(({ per }) => per) : []))),
    ],
  };
}
