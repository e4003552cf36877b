import { queryOptions } from '@tanstack/react-query';
import { askManagement } from '../../../api/management.ts';

/** Breaks by what was decided about the line item in them. */
interface Verdict {
  readonly code: string;
  readonly breaks: number;
}

/** One hour of it; hours without a number are absent. */
export interface Hour {
  readonly hour: string;
  readonly verdicts: readonly { readonly code: string; readonly considered: number; readonly not_looked_at: number }[];
  readonly decided: number;
  readonly confirmed: number;
  readonly pacing: { readonly target: number; readonly committed: number } | null;
}

/** What the page of a line item shows of its funnel. */
interface Funnel {
  readonly pacing: { readonly goal: number; readonly committed: number; readonly target: number } | null;
  readonly fit: { readonly winners: readonly { readonly line_item_id: string; readonly name: string }[] } | null;
  readonly total: { readonly confirmed: number };
  readonly hours: readonly Hour[];
}

const hourMs = 3_600_000;
/** The longest time that is answered, in hours. */
const hoursMax = 31 * 24 - 1;

/** Whether a flight began before the first hour that is answered. */
export const isBeyondHours = (start: string, nowMs: number): boolean => Date.parse(start) < nowMs - hoursMax * hourMs;

/** The funnel of the last 31 days. A workspace is answered two at a time, so a page asks once, and every minute anew. */
export const funnelQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: ['management', workspace, 'funnels', id] as const,
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - hoursMax * hourMs).toISOString();
      return askManagement<Funnel>(`/workspaces/${workspace}/line-items/${id}/funnel?from=${from}`, { signal });
    },
    refetchInterval: 60_000,
  });

/** What was committed and planned in total by an hour. */
interface HourTotal {
  /** When it begins, ISO 8601. */
  readonly hour: string;
  readonly committed: number;
  readonly target: number;
}

/** The totals of each hour from the first to the last known one. An hour without numbers, as of a line item that was paused, has those before it. */
export function totalsByHour(hours: readonly Hour[]): readonly HourTotal[] {
  const known = new Map(hours.flatMap(({ hour, pacing }) => (pacing ? [[Date.parse(hour), pacing] as const] : [])));
  const [first, last] = [Math.min(...known.keys()), Math.max(...known.keys())];
  const totals: HourTotal[] = [];
  let now = { committed: 0, target: 0 };
  for (let at = first; at <= last; at += hourMs) {
    now = known.get(at) ?? now;
    totals.push({ hour: new Date(at).toISOString(), committed: now.committed, target: now.target });
  }
  return totals;
}

/** Hours of the last day. */
export const lastDay = (hours: readonly Hour[], nowMs: number): readonly Hour[] =>
  hours.filter(({ hour }) => Date.parse(hour) > nowMs - 25 * hourMs);

/** Why breaks were not won, most frequent first. */
export function verdictsOf(hours: readonly Hour[]): readonly Verdict[] {
  const sums = new Map<string, number>();
  for (const { verdicts } of hours)
    for (const { code, considered, not_looked_at: unseen } of verdicts)
      if (code !== 'won') sums.set(code, (sums.get(code) ?? 0) + considered + unseen);
  return [...sums]
    .map(([code, breaks]) => ({ code, breaks }))
    .filter(({ breaks }) => breaks > 0)
    .toSorted((a, b) => b.breaks - a.breaks);
}

/** Breaks that were won. */
export const wonOf = (hours: readonly Hour[]): number => hours.reduce((sum, { decided }) => sum + decided, 0);

/** How many a day are still needed to reach a goal; 0 once it is reached, undefined after the end. */
export function neededPerDay(goal: number, delivered: number, endMs: number, nowMs: number): number | undefined {
  if (delivered >= goal) return 0;
  const days = (endMs - nowMs) / (24 * hourMs);
  return days > 0 ? Math.ceil((goal - delivered) / Math.max(days, 1)) : undefined;
}
