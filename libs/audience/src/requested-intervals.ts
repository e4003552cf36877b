import type { ByteRangeServed } from '@longwave/events';
import { unionIntervals, type Interval } from './intervals.ts';
import { isProbe } from './classify-fact.ts';

/** Names the request of a listener that a record is a piece of. */
const requestKey = (fact: Pick<ByteRangeServed, 'request_id' | 'listener_key' | 'episode_id' | 'arrangement_id'>) =>
  JSON.stringify([fact.request_id, fact.listener_key, fact.episode_id, fact.arrangement_id]);

/**
 * What the request of each record asked for in all. Our own records repeat the whole of it; those of other parties say what each of them
 * holds, so a record that looks like a probe is judged with the others of its request.
 */
export function requestedIntervals(facts: readonly ByteRangeServed[]): (fact: ByteRangeServed) => readonly Interval[] {
  const doubtful = new Set(facts.filter(({ requested }) => isProbe(requested)).map(requestKey));
  if (doubtful.size === 0) return ({ requested }) => requested;
  const pieces = Map.groupBy(
    facts.filter((fact) => doubtful.has(requestKey(fact))),
    requestKey,
  );
  const whole = new Map([...pieces].map(([key, own]) => [key, unionIntervals(own.flatMap((one) => one.requested))]));
  return (fact) => whole.get(requestKey(fact)) ?? fact.requested;
}
