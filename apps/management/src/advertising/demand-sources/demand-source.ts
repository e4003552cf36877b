import type { Attributes } from '@longwave/command-catalog';

export type DemandSource = Attributes<'demand_sources'>;

/** Whether a host is on the list of a source: by its name, or below a name that begins with “*.”. */
export const allowsHost = (allowedHosts: readonly string[], host: string): boolean =>
  allowedHosts.some((allowed) => (allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed));

/** Whether ads may be sold at the price of the line item. Both are in the currency of the workspace. */
export const isPriced = (
  { floor }: Pick<DemandSource, 'floor'>,
  { rate }: Pick<Attributes<'line_items'>, 'rate'>,
): boolean =>
  rate.model === 'cpm' && (floor === undefined || BigInt(rate.price!.amount_micros) >= BigInt(floor.amount_micros));

const minuteMs = 60_000;
/** Between two refreshes of a source that answers. */
const refreshEveryMs = 15 * minuteMs;
const longestPauseMs = 6 * 60 * minuteMs;
/** Failures in a row after which a source has a problem. */
export const maxFailures = 3;
/** An ad without `Expires`. */
const usualLifeMs = 24 * 60 * minuteMs;
/** An ad whose time is shorter could be over before a refresh that is late. */
export const shortestLifeMs = 2 * refreshEveryMs;

/** How long an ad may be assigned after the answer that held it. */
export const lifeOf = (expiresSeconds: number | undefined): number =>
  expiresSeconds === undefined ? usualLifeMs : Math.min(expiresSeconds * 1000, usualLifeMs);

/**
 * Milliseconds until a source is asked again: a quarter of an hour, twice as long after each further failure, at most six hours; a tenth more
 * or less, so that sources do not keep step.
 * @param random 0 to 1
 */
export function pauseMs(failures: number, random: number): number {
  const base = Math.min(longestPauseMs, refreshEveryMs * 2 ** Math.min(failures, 10));
  return Math.round(base * (0.9 + 0.2 * random));
}
