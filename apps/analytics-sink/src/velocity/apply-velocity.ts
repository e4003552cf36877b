import type { VelocityLimits } from '@longwave/audience';
import type { Transaction } from '@longwave/postgres';
import { adKey, rollingKey, sessionKey, withHolds, writtenKey, type Counts } from '../counting/counted-rows.ts';
import { loadDays } from '../counting/session-table.ts';
import {
  findDays,
  holdReasonsOfDays,
  isHeld,
  updateInfeasibleDays,
  lockDays,
  velocityChanges,
  velocityKeys,
  velocityName,
  type VelocityDay,
} from './velocity-table.ts';

/** The counts before and after a change. */
export interface CountsChange {
  readonly before: Counts;
  readonly after: Counts;
}

const byName = (days: readonly VelocityDay[]) => new Map(days.map((one) => [velocityName(one), one]));

const without = (counts: Counts, known: Counts): Counts => {
  const missing = <R>(rows: readonly R[], own: readonly R[], key: (row: R) => string) => {
    const keys = new Set(own.map(key));
    return rows.filter((row) => !keys.has(key(row)));
  };
  return {
    sessions: missing(counts.sessions, known.sessions, sessionKey),
    rolling: missing(counts.rolling, known.rolling, rollingKey),
    ads: missing(counts.ads, known.ads, adKey),
    written: missing(counts.written, known.written, writtenKey),
  };
};

const together = (a: Counts, b: Counts): Counts => ({
  sessions: [...a.sessions, ...b.sessions],
  rolling: [...a.rolling, ...b.rolling],
  ads: [...a.ads, ...b.ads],
  written: [...a.written, ...b.written],
});

/**
 * The change of the stored counts of these days when their holds change from `was` to `now`.
 * @param known rows that the caller changes itself
 */
export async function applyHolds(
  tx: Transaction,
  was: readonly VelocityDay[],
  now: readonly VelocityDay[],
  known: Counts,
): Promise<CountsChange> {
  const stored = without(await loadDays(tx, now), known);
  // Another key may hold some of these rows as well.
  const others = await findDays(tx, velocityKeys(stored));
  return {
    before: withHolds(stored, holdReasonsOfDays(byName([...others, ...was]))),
    after: withHolds(stored, holdReasonsOfDays(byName([...others, ...now]))),
  };
}

/**
 * Applies rule 16 to a change of counts (docs/counting.md#rule-16). It sees the whole day of a key as a set: when the day crosses a limit,
 * either way, everything of that key and day changes. The caller holds the chains' locks; this takes those of the days.
 * @param counted the chains' counts, as if rule 16 held nothing
 */
export async function applyVelocity(
  tx: Transaction,
  counted: CountsChange,
  limits: VelocityLimits,
): Promise<CountsChange> {
  const { before, after } = counted;
  const changes = velocityChanges(before, after);
  if (changes.length === 0) return counted;
  const days = await lockDays(tx, changes);
  const changed = await updateInfeasibleDays(tx, days, before, after, limits);
  const was = byName(days);
  const own: CountsChange = {
    before: withHolds(before, holdReasonsOfDays(was)),
    after: withHolds(after, holdReasonsOfDays(byName([...days, ...changed]))),
  };
  const moved = changed.filter((one) => isHeld(one) !== isHeld(was.get(velocityName(one))!));
  if (moved.length === 0) return own;
  const others = await applyHolds(
    tx,
    moved.map((one) => was.get(velocityName(one))!),
    moved,
    together(before, after),
  );
  return { before: together(own.before, others.before), after: together(own.after, others.after) };
}
