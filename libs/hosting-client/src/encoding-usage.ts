import { z } from 'zod';
import type { Asker } from './asker.ts';
import type { Management } from './management.ts';

/** What is left of an account's encoding time in the present UTC month. Null is unlimited. */
export const encodingUsage = z.strictObject({
  /** "2026-11". */
  month: z.string(),
  used_ms: z.int(),
  /** Of productions that are being encoded. */
  reserved_ms: z.int(),
  limit_ms: z.int().nullable(),
  left_ms: z.int().nullable(),
  /** When the month ends and its encoding time begins anew. */
  period_ends_at: z.iso.datetime(),
});

/** The first moment of the UTC month after `month` ("2026-11"). */
function endOf(month: string): Date {
  const [year, number] = month.split('-').map(Number);
  return new Date(Date.UTC(year!, number, 1));
}

/** Encoding time of the asker's own account. */
export async function readEncodingUsage(
  asker: Asker,
  management: Pick<Management, 'findEncodingTime'>,
): Promise<z.output<typeof encodingUsage>> {
  const { month, usedMs, reservedMs, limitMs } = await management.findEncodingTime(asker);
  const [used, reserved] = [Number(usedMs), Number(reservedMs)];
  const limit = limitMs === undefined ? null : Number(limitMs);
  return {
    month,
    used_ms: used,
    reserved_ms: reserved,
    limit_ms: limit,
    left_ms: limit === null ? null : Math.max(0, limit - used - reserved),
    period_ends_at: endOf(month).toISOString(),
  };
}
