import type { Logger } from '@longwave/service-kit';
import type { Redis } from 'ioredis';
import { runScript } from '../redis-script.ts';
import type { CountedSlot, GoalCounting, Reservation, SlotRequest } from './goal-counting.ts';
import { raiseScript, releaseScript, reserveScript } from './goal-scripts.ts';

/** A line item with a goal. */
export interface Goal {
  readonly lineItemId: string;
  readonly endsAtMs: number;
}

/** Retries of a decision come within this time; a later one counts anew and releases the surplus. */
const markerLifeMs = 3_600_000;
/** Counters outlive their line item's window, for late plays and extended windows. */
const counterLifeMs = 7 * 86_400_000;
const batchSize = 500;

const counterKey = (lineItemId: string) => `goal:${lineItemId}`;
const markerKey = (lineItemId: string, decisionId: string) => `goal:${lineItemId}:${decisionId}`;

/** One decision is counted once for all its attempts. A line item has no slots left while its counter is not trusted. */
export interface GoalGuard extends GoalCounting {
  /** Raises untrusted counters to the slots in the stored decisions, and trusts them. */
  recount(goals: readonly Goal[]): Promise<void>;
  /** Trusts no counter until it is recounted: something else counted slots since. */
  distrust(): void;
}

/**
 * Counts decided slots of goals in Redis, so that all nodes together never decide more than a goal. Counters that may have lost
 * something (a new connection, a missing key) are raised to the count in Postgres before they are used again; until then, and
 * while Redis does not answer, line items with goals do not serve.
 * @param countStored slots per line item in the stored decisions
 */
export function createGoalGuard(
  redis: Redis,
  countStored: (lineItemIds: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  logger: Logger,
): GoalGuard {
  const trusted = new Set<string>();
  const full = new Map<string, number>();
  let connection = 0;
  const distrust = () => {
    connection++;
    trusted.clear();
  };
  redis.on('close', distrust);

  function readWords(words: readonly string[], requests: readonly SlotRequest[], attempt: string): Reservation {
    const maxSlots = new Map<string, number>();
    const slots: CountedSlot[] = [];
    requests.forEach(({ lineItemId, slots: count }, at) => {
      const [word = 'uncounted', detail = ''] = (words[at] ?? '').split(' ');
      if (word === 'counted' || word === 'held') {
        const by = word === 'held' ? detail : attempt;
        for (let slot = 0; slot < count; slot++) slots.push({ lineItemId, attempt: by });
        return;
      }
      maxSlots.set(lineItemId, Number(detail));
      if (word === 'full') full.set(lineItemId, Number(detail));
      if (word === 'uncounted') trusted.delete(lineItemId);
    });
    return maxSlots.size > 0 ? { kind: 'refused', maxSlots } : { kind: 'counted', slots };
  }

  return {
    distrust,

    remaining: (lineItemId) => (trusted.has(lineItemId) ? (full.get(lineItemId) ?? Infinity) : 0),

    async reserve(decisionId, attempt, requests) {
      const keys = requests.flatMap(({ lineItemId }) => [counterKey(lineItemId), markerKey(lineItemId, decisionId)]);
      const numbers = requests.flatMap(({ slots, goalQuantity }) => [slots, goalQuantity]);
      try {
        const words = await runScript(redis, reserveScript, keys, [attempt, markerLifeMs, ...numbers]);
        return readWords(words as string[], requests, attempt);
      } catch (error) {
        distrust();
        logger.warn({ reason: (error as Error).message }, 'goals.unavailable');
        return { kind: 'unavailable' };
      }
    },

    async release(decisionId, slots) {
      for (const { lineItemId, attempt } of new Map(slots.map((slot) => [slot.lineItemId, slot])).values()) {
        const keys = [counterKey(lineItemId), markerKey(lineItemId, decisionId)];
        await runScript(redis, releaseScript, keys, [attempt]);
      }
    },

    async recount(goals) {
      full.clear();
      const started = connection;
      const untrusted = goals.filter((goal) => !trusted.has(goal.lineItemId));
      for (let from = 0; from < untrusted.length; from += batchSize) {
        const batch = untrusted.slice(from, from + batchSize);
        const stored = await countStored(batch.map((goal) => goal.lineItemId));
        const keys = batch.map((goal) => counterKey(goal.lineItemId));
        const values = batch.flatMap((goal) => [stored.get(goal.lineItemId) ?? 0, goal.endsAtMs + counterLifeMs]);
        await runScript(redis, raiseScript, keys, values);
        if (started !== connection) return;
        for (const goal of batch) trusted.add(goal.lineItemId);
      }
    },
  };
}
