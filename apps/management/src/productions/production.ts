import type { z } from 'zod';
import type { productions } from '@longwave/command-catalog';
import { Problem } from '@longwave/problems';
import type { EncodingBalance } from './encoding-balance-table.ts';

export type Production = z.output<typeof productions.attributes>;

/** Throws unless the plan's month has room for `durationMs` more. */
export function checkEncodingTime(balance: EncodingBalance, durationMs: number): void {
  if (balance.limitMs === undefined)
    throw new Problem('temporarily_unavailable', 'The account is still being set up. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
  if (balance.limitMs !== null && balance.reservedMs + balance.usedMs + durationMs > balance.limitMs)
    throw new Problem('encoding_time_exhausted', 'Not enough encoding time left');
}

/** A started production: what an earlier failure left is gone, the reservation is written down. */
export function startedProduction(
  current: Readonly<Production>,
  start: { readonly publish: boolean; readonly reservedMs: number; readonly month: string },
): Production {
  const { problem: _problem, ...kept } = current;
  return {
    ...kept,
    publication_flag: kept.publication_flag || start.publish,
    reserved_encoding_ms: start.reservedMs,
    encoding_month: start.month,
  };
}

/** A production whose encoding ended: nothing is reserved for it any more. */
export function withoutReservation(current: Readonly<Production>): Production {
  const { reserved_encoding_ms: _reserved, encoding_month: _month, ...kept } = current;
  return kept;
}
