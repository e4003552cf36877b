import { unionIntervals, type Interval } from './intervals.ts';
import { isProbe } from './classify-fact.ts';
import type { ServedBytes } from './served-bytes.ts';

/** Names the request that a record is a part of. */
const requestKey = (fact: Pick<ServedBytes, 'request_id' | 'listener_key' | 'episode_id' | 'arrangement_id'>) =>
  JSON.stringify([fact.request_id, fact.listener_key, fact.episode_id, fact.arrangement_id]);

/**
 * The intervals that the whole request of each record asked for (docs/counting.md#rule-4). Each of our own records repeats them; a record of
 * another party holds its part alone, so a record that looks like a probe is taken together with the others of its request.
 */
export function requestedIntervals(facts: readonly ServedBytes[]): (fact: ServedBytes) => readonly Interval[] {
  const doubtful = new Set(facts.filter(({ requested }) => isProbe(requested)).map(requestKey));
  if (doubtful.size === 0) return ({ requested }) => requested;
  const pieces = Map.groupBy(
    facts.filter((fact) => doubtful.has(requestKey(fact))),
    requestKey,
  );
  const whole = new Map([...pieces].map(([key, own]) => [key, unionIntervals(own.flatMap((one) => one.requested))]));
  return (fact) => whole.get(requestKey(fact)) ?? fact.requested;
}
