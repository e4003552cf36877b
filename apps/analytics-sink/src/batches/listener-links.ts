import type { Columns } from '@longwave/audience-store';
import type { DeliveryFact } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

type Link = readonly [listenerKey: string, previousKey: string];

const linkOf = (fact: DeliveryFact): Link | undefined =>
  (fact.kind === 'byte_range_served' || fact.kind === 'media_range_served') && fact.previous_listener_key !== undefined
    ? [fact.listener_key, fact.previous_listener_key]
    : undefined;

/** The stored links of these keys and of all keys before them. */
async function loadLinks(tx: Transaction, keys: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<
    Columns<'listener_episode', 'listener_key' | 'previous_listener_key', { previous_listener_key: string }>
  >(
    `with recursive chain as (
       select listener_key, previous_listener_key from listener_episode
       where listener_key = any($1) and previous_listener_key is not null
       union
       select l.listener_key, l.previous_listener_key from chain join listener_episode l on l.listener_key = chain.previous_listener_key
       where l.previous_listener_key is not null)
     select * from chain`,
    [keys],
  );
  return new Map(rows.map((row) => [row.listener_key, row.previous_listener_key]));
}

/**
 * Checks the links of a producer's buckets: a key has at most one key before it, and never comes before itself. Our own keys are made so;
 * links of a producer that contradict each other would make counts depend on the order of arrival.
 * Holds the producer's links until the transaction ends. Accepted facts may be committed before.
 * @returns whether a fact may be counted; call it in the order of the rows
 */
export async function lockLinks(
  tx: Transaction,
  producer: string,
  facts: readonly DeliveryFact[],
): Promise<(fact: DeliveryFact) => boolean> {
  const asked = facts.flatMap((fact) => linkOf(fact) ?? []);
  if (asked.length === 0) return () => true;
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [`listener links of ${producer}`]);
  const links = await loadLinks(tx, [...new Set(asked)]);
  const isBefore = (key: string, later: string): boolean => {
    for (let at: string | undefined = later; at !== undefined; at = links.get(at)) if (at === key) return true;
    return false;
  };
  return (fact) => {
    const link = linkOf(fact);
    if (link === undefined) return true;
    const [key, previous] = link;
    const known = links.get(key);
    if (known !== undefined) return known === previous;
    if (isBefore(key, previous)) return false;
    links.set(key, previous);
    return true;
  };
}
