import { maxEventsOfServing, type EventJudgement } from '@longwave/audience';
import type { DeliveryEventKind } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** The fields of a player's report that its bound depends on. */
interface BoundedEvent {
  readonly fact_id: string;
  readonly serving_id: string;
  readonly event: DeliveryEventKind;
  readonly at: string | Date;
  readonly ad_duration_ms?: number | null | undefined;
  readonly judgement: EventJudgement | undefined;
}

/**
 * Classifies eligible reports as `excess` when their serving has already as many of their kind as one play can give, in order of time. Locks
 * the reports of these servings until the transaction ends; to avoid deadlocks, the caller locks no row of `client_event` before.
 */
export async function holdExcess<E extends BoundedEvent>(tx: Transaction, events: readonly E[]): Promise<E[]> {
  const servings = new Set(events.filter((one) => one.judgement === 'eligible').map((one) => one.serving_id));
  if (servings.size === 0) return [...events];
  await lockServingsEvents(tx, [...servings]);
  const { rows } = await tx.query<{ name: string; counted: number; known: string[] }>(
    `select serving_id || ' ' || event as name, count(*)::int as counted,
       coalesce(array_agg(fact_id) filter (where fact_id = any($2)), '{}') as known
     from client_event where serving_id = any($1) and judgement = 'eligible' group by 1`,
    [[...servings], events.map((one) => one.fact_id)],
  );
  const counted = new Map(rows.map((row) => [row.name, row.counted]));
  const known = new Set(rows.flatMap((row) => row.known));
  const excess = new Set<E>();
  const inOrder = events.toSorted(
    (a, b) => new Date(a.at).getTime() - new Date(b.at).getTime() || (a.fact_id < b.fact_id ? -1 : 1),
  );
  for (const one of inOrder) {
    if (one.judgement !== 'eligible' || known.has(one.fact_id)) continue;
    const name = `${one.serving_id} ${one.event}`;
    const before = counted.get(name) ?? 0;
    if (before >= maxEventsOfServing(one.event, one.ad_duration_ms ?? undefined)) excess.add(one);
    else counted.set(name, before + 1);
  }
  return events.map((one) => (excess.has(one) ? { ...one, judgement: 'excess' } : one));
}

/** Locks the reports of these servings for classification until the transaction ends. */
export async function lockServingsEvents(tx: Transaction, servingIds: readonly string[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('client events of ' || serving, 0)) from unnest($1::text[]) as serving`,
    [[...new Set(servingIds)].sort()],
  );
}
