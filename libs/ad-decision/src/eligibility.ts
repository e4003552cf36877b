import { countBits, hasBit, intersectAndCount, removeRange, type Bits } from './bitset.ts';
import type { VerdictCode } from './codes.ts';
import type { AdBreak, DecisionContext } from './decision-context.ts';
import type { Dimension } from './dimension.ts';
import { renditionsKey } from './index-creatives.ts';
import type { DimensionName, PlanIndex } from './plan-index.ts';
import type { PlayPolicies } from './policies.ts';
import type { SuspendedLines } from './suspensions.ts';

/** One test of the eligibility stage: what passes is a set, or what a dimension allows, or everything outside a range. */
type EligibilityTest =
  | { readonly code: VerdictCode; readonly allowed: Bits }
  | { readonly code: VerdictCode; readonly dimension: Dimension; readonly values: readonly string[] }
  | { readonly code: VerdictCode; readonly from: number; readonly to: number };

export interface Eligibility {
  readonly bits: Bits;
  readonly count: number;
  /** Lines dropped per code; a line counts under the first test that it fails. */
  readonly droppedBy: ReadonlyMap<VerdictCode, number>;
  /** Every test a line fails, in order; empty for an eligible one. */
  readonly failures: (ordinal: number) => readonly VerdictCode[];
  readonly tests: readonly EligibilityTest[];
}

const dimensionCodes: Readonly<Record<DimensionName, VerdictCode>> = {
  podcasts: 'targeting_podcast',
  episodes: 'targeting_episode',
  countries: 'targeting_country',
  regions: 'targeting_region',
  languages: 'targeting_language',
  devices: 'targeting_device',
  operating_systems: 'targeting_operating_system',
  apps: 'targeting_app',
  surfaces: 'targeting_surface',
  content_categories: 'targeting_content_category',
};

const dimensionNames = Object.keys(dimensionCodes) as DimensionName[];

function targeted(code: VerdictCode, dimension: Dimension, values: readonly string[]): EligibilityTest {
  return dimension.allowed ? { code, allowed: dimension.allowed(values) } : { code, dimension, values };
}

function passes(test: EligibilityTest, ordinal: number): boolean {
  if ('allowed' in test) return hasBit(test.allowed, ordinal);
  if ('dimension' in test) return test.dimension.allows(ordinal, test.values);
  return ordinal < test.from || ordinal >= test.to;
}

/** Takes from `bits` what fails; answers how many are left. */
function narrow(bits: Bits, test: EligibilityTest): number {
  if ('allowed' in test) return intersectAndCount(bits, test.allowed);
  if ('dimension' in test) test.dimension.narrow(bits, test.values);
  else removeRange(bits, test.from, test.to);
  return countBits(bits);
}

/** The tests of a play. Dimensions, ages and dayparts by which no line item targets are left out: all would pass. */
function playTests(
  index: PlanIndex,
  context: DecisionContext,
  suspended: SuspendedLines | undefined,
  policies: PlayPolicies,
): EligibilityTest[] {
  const values: Readonly<Record<DimensionName, readonly string[]>> = {
    podcasts: [context.podcastId],
    episodes: [context.episodeId],
    countries: [context.country],
    regions: [context.region],
    languages: [context.language],
    devices: [context.device],
    operating_systems: [context.operatingSystem],
    apps: [context.app],
    surfaces: [context.surface],
    content_categories: context.contentCategories,
  };
  const tests: EligibilityTest[] = [{ code: 'not_active', allowed: index.activeAt(context.atMs) }];
  if (suspended)
    tests.push(
      { code: 'not_active', allowed: suspended.active },
      { code: 'halted', allowed: suspended.unhalted(context.podcastId, context.surface) },
      { code: 'creative_unapproved', allowed: suspended.approved },
    );
  for (const name of dimensionNames) {
    const dimension = index.dimensions[name];
    if (dimension.constrained) tests.push(targeted(dimensionCodes[name], dimension, values[name]));
  }
  tests.push({ code: 'targeting_explicit', allowed: context.explicit ? index.explicit.yes : index.explicit.no });
  if (index.agesAt)
    tests.push({ code: 'targeting_episode_age', allowed: index.agesAt(context.atMs - context.publishedAtMs) });
  if (index.daypartsAt) tests.push({ code: 'targeting_daypart', allowed: index.daypartsAt(context.atMs) });
  const belowFloor = index.belowFloor(context.podcastId);
  if (belowFloor.from < belowFloor.to) tests.push({ code: 'below_floor', ...belowFloor });
  tests.push(...policies.tests);
  return tests;
}

/** The tests of one break of it. */
function breakTests(index: PlanIndex, context: DecisionContext, adBreak: AdBreak): readonly EligibilityTest[] {
  const belowFloor = index.belowFloorAt(context.podcastId, adBreak.position);
  return [
    ...(belowFloor.from < belowFloor.to ? [{ code: 'below_floor' as const, ...belowFloor }] : []),
    targeted('targeting_position', index.positions, [adBreak.position]),
    targeted('no_rendition', index.renditions, [renditionsKey(context.streamFormat, context.streamFormats)]),
  ];
}

type Narrowed = Pick<Eligibility, 'bits' | 'count' | 'tests' | 'droppedBy'>;

function narrowBy(before: Narrowed, tests: readonly EligibilityTest[]): Eligibility {
  const bits = before.bits.slice();
  const droppedBy = new Map(before.droppedBy);
  let { count } = before;
  for (const test of tests) {
    if (count === 0) break;
    const left = narrow(bits, test);
    if (left < count) droppedBy.set(test.code, (droppedBy.get(test.code) ?? 0) + count - left);
    count = left;
  }
  const all = [...before.tests, ...tests];
  const failures = (ordinal: number) => {
    const codes: VerdictCode[] = [];
    for (const test of all) if (codes.at(-1) !== test.code && !passes(test, ordinal)) codes.push(test.code);
    return codes;
  };
  return { bits, count, droppedBy, failures, tests: all };
}

/** Keeps in `bits`, of those before, what passes every test: in one pass over all sets, without a count for each of them. */
function narrowByAll(before: Bits, tests: readonly EligibilityTest[], bits: Bits): Bits {
  const sets = tests.flatMap((test) => ('allowed' in test ? [test.allowed] : []));
  for (let word = 0; word < bits.length; word++) {
    let left = before[word]!;
    for (let at = 0; left !== 0 && at < sets.length; at++) left &= sets[at]![word]!;
    bits[word] = left;
  }
  for (const test of tests)
    if ('dimension' in test) test.dimension.narrow(bits, test.values);
    else if ('from' in test) removeRange(bits, test.from, test.to);
  return bits;
}

/**
 * The lines that may serve in each break of a play: those of `findEligibleInBreak`, without what speaks against the others. The sets of a play
 * lie in one array, as each array of its own would cost more than the tests.
 */
export function findFitting(index: PlanIndex, context: DecisionContext, policies: PlayPolicies): readonly Bits[] {
  const { breaks } = context;
  const words = index.all.length;
  const room = new Uint32Array(words * breaks.length);
  const roomOf = (at: number) => room.subarray(at * words, (at + 1) * words);
  if (breaks.length === 0) return [];
  // The last break narrows the set of the play itself.
  const inPlay = narrowByAll(index.all, playTests(index, context, undefined, policies), roomOf(breaks.length - 1));
  return breaks.map((adBreak, at) => narrowByAll(inPlay, breakTests(index, context, adBreak), roomOf(at)));
}

/** The lines that may serve in the play, whatever the break. */
export function findEligible(
  index: PlanIndex,
  context: DecisionContext,
  suspended: SuspendedLines | undefined,
  policies: PlayPolicies,
): Eligibility {
  const all = { bits: index.all, count: index.lines.length, tests: [], droppedBy: new Map() };
  return narrowBy(all, playTests(index, context, suspended, policies));
}

/** Those of them that may serve in one break, whatever else is placed in it. */
export function findEligibleInBreak(
  index: PlanIndex,
  context: DecisionContext,
  inPlay: Eligibility,
  adBreak: AdBreak,
): Eligibility {
  return narrowBy(inPlay, breakTests(index, context, adBreak));
}
