import { maxEventsOfServing, type EventJudgement } from '@longwave/audience';
import type { DeliveryEventKind } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** The bounds of a player's reports. */
interface BoundedEvent {
  readonly fact_id: string;
  readonly serving_id: string;
  readonly event: DeliveryEventKind;
  readonly at: string | Date;
  readonly ad_duration_ms?: number | null | undefined;
  readonly judgement: EventJudgement | undefined;
}

/**
 * Judges eligible reports `excess` that go beyond what can happen while their ad plays once, the earliest first. Holds the reports of
 * these servings until the transaction ends; what counts by then is never taken back, so the caller locks no row of `client_event` before.
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

/** Makes whoever judges reports of these servings wait for the end of this transaction. */
export async function lockServingsEvents(tx: Transaction, servingIds: readonly string[]): Promise<void> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('client events of ' || serving, 0)) from unnest($1::text[]) as serving`,
    [[...new Set(servingIds)].sort()],
  );
}
