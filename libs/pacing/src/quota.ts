import type { PaceShape } from './pace-shape.ts';

/** What a node holds lasts for so long without the pacer. */
const runwayMs = 900_000;

const hourMs = 3_600_000;
/** From this share of the plan on everything left is released. */
const releaseShare = 0.97;
const leastBurst = 3;
const burstSeconds = 300;
/** Units a second of a bucket that nothing holds back. */
const freeRatePerS = 1_000_000;
const maxBurst = 2 ** 31 - 1;

export interface QuotaInput {
  /** Goal, or what day and budget leave of it, less what is committed. */
  readonly left: number;
  /** The same less what is likely to be confirmed of what was given: never less than `left`, and what the plan has still to give. */
  readonly unmet: number;
  readonly deliveryRate: number;
  readonly atMs: number;
  readonly windowEndMs: number;
  /** Share of the plan that is to be given by now, 0 to 1. */
  readonly planShare: number;
  readonly shape: PaceShape;
  /** Of a line item that is behind its plan; else 1. */
  readonly velocity: number;
  /** Units that are likely to be missing of its plan by now; 0 when none are. */
  readonly behind: number;
  readonly mode: 'even' | 'front_loaded' | 'asap';
  /** Units that today still lacks of the least of a day, and when the day ends. */
  readonly day: { readonly lacking: number; readonly endMs: number } | undefined;
}

/** Units that all nodes together may give in the runway. */
export interface Quota {
  readonly units: number;
  /** Everything left is there for whoever comes first. */
  readonly isReleased: boolean;
}

/** The part of what is left that the plan has for the runway. */
export function quotaOf(input: QuotaInput): Quota {
  const { left, unmet, deliveryRate, atMs, windowEndMs, planShare, shape, velocity, behind, mode, day } = input;
  if (left <= 0) return { units: 0, isReleased: false };
  const isReleased = mode === 'asap' || planShare >= releaseShare || windowEndMs - atMs < hourMs;
  if (isReleased) return { units: left, isReleased };
  const given = shape.shareUntil(atMs);
  const rest = 1 - given;
  if (rest <= 0) return { units: left, isReleased: true };
  const planned = (unmet / deliveryRate) * ((shape.shareUntil(atMs + runwayMs) - given) / rest);
  // Spread over the rest of the plan it would be lacking again wherever others leave nothing.
  const madeUp = planned + behind / deliveryRate;
  const wanted = Math.max(planned * velocity, madeUp, dayQuota(shape, atMs, day));
  return { units: Math.min(left, wanted), isReleased };
}

function dayQuota(shape: PaceShape, atMs: number, day: QuotaInput['day']): number {
  if (!day || day.lacking <= 0) return 0;
  const given = shape.dayShareUntil(atMs);
  if (given >= 1) return 0;
  return day.lacking * ((shape.dayShareUntil(Math.min(day.endMs, atMs + runwayMs)) - given) / (1 - given));
}

/** The bucket of a node that has a share of the quota: its refill a second, and its size. */
export function bucketOf({ units, isReleased }: Quota, share: number): { ratePerS: number; burst: number } {
  if (isReleased) return { ratePerS: freeRatePerS, burst: Math.min(maxBurst, Math.max(leastBurst, Math.ceil(units))) };
  const ratePerS = (share * units * 1000) / runwayMs;
  return { ratePerS, burst: Math.min(maxBurst, Math.max(leastBurst, Math.ceil(burstSeconds * ratePerS))) };
}

/** A rate that differs by less is left as it is, so that most ticks write few rows. */
const rateTolerance = 0.15;

/** Whether a bucket's rate is far enough from what it should be. @param ratePerS undefined: not known */
export const isStaleRate = (ratePerS: number | undefined, wanted: number): boolean =>
  ratePerS === undefined || Math.abs(ratePerS - wanted) > rateTolerance * Math.max(ratePerS, wanted);
