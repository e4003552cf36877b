import type { Pool } from '@longwave/postgres';
import { findCountedUntil } from './opportunity-progress-table.ts';
import { sumOpportunities, type HourRange, type WorkspaceHour } from './opportunity-table.ts';
import { sumVerdicts, type VerdictSum } from './verdict-table.ts';

/** What a workspace offered in an hour, and the verdicts on one line item of it. */
interface FunnelHour extends WorkspaceHour {
  readonly verdicts: readonly Pick<VerdictSum, 'code' | 'considered' | 'notLookedAt'>[];
}

const emptyHour = { requests: 0, breaks: 0, opportunities: 0, verdicts: [] };

/** Hours of a line item, the oldest first, and up to when opportunities are counted. A line item of another workspace has no verdicts. */
export async function readFunnel(
  pool: Pool,
  workspaceId: string,
  lineItemId: string,
  range: HourRange,
): Promise<{ readonly hours: readonly FunnelHour[]; readonly countedUntil: Date | undefined }> {
  const countedUntil = await findCountedUntil(pool);
  const offered = await sumOpportunities(pool, workspaceId, range);
  const verdicts = await sumVerdicts(pool, workspaceId, lineItemId, range);
  const hours = new Map<number, FunnelHour>(offered.map((hour) => [hour.hourMs, { ...hour, verdicts: [] }]));
  for (const { hourMs, ...verdict } of verdicts) {
    const known = hours.get(hourMs) ?? { hourMs, ...emptyHour };
    hours.set(hourMs, { ...known, verdicts: [...known.verdicts, verdict] });
  }
  return { hours: [...hours.values()].toSorted((a, b) => a.hourMs - b.hourMs), countedUntil };
}
