import { maxClockSkewSeconds } from './limits.ts';

/**
 * True for a message that claims to be issued later than the receiver's clock allows (`clock_skew`).
 * @param issuedAt RFC 3339
 * @param now Unix milliseconds
 */
export const isIssuedAhead = (issuedAt: string, now: number): boolean =>
  Date.parse(issuedAt) > now + maxClockSkewSeconds * 1000;
