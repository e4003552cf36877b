import type { VelocityLimits } from '@longwave/audience';
import type { Transaction } from '@longwave/postgres';
import { adKey, rollingKey, sessionKey, withHolds, type Counts } from '../counting/counted-rows.ts';
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

/** Counts as they were and as they become. */
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
  };
};

const together = (a: Counts, b: Counts): Counts => ({
  sessions: [...a.sessions, ...b.sessions],
  rolling: [...a.rolling, ...b.rolling],
  ads: [...a.ads, ...b.ads],
});

/**
 * What the stored counts of these days become when their holds change from `was` to `now`.
 * @param known rows that the caller moves itself
 */
export async function applyHolds(
  tx: Transaction,
  was: readonly VelocityDay[],
  now: readonly VelocityDay[],
  known: Counts,
): Promise<CountsChange> {
  const stored = without(await loadDays(tx, now), known);
  // A key's other day-mates may be held by keys of their own.
  const others = await findDays(tx, velocityKeys(stored));
  return {
    before: withHolds(stored, holdReasonsOfDays(byName([...others, ...was]))),
    after: withHolds(stored, holdReasonsOfDays(byName([...others, ...now]))),
  };
}

/**
 * Judges the days of all keys that these counts touch (measurement.md D4 rule 16): the whole day of a key as a set. Crossing a limit,
 * either way, moves everything of that key and day. The caller holds the chains' locks; this takes those of the days.
 * @param counted the chains' counts, stored and new, as if nothing were held
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
