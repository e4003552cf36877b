import type { FactsPublished } from '@longwave/events';
import type { Pool } from '@longwave/postgres';

/**
 * Stores the latest mark of each producer in each part of the topic. Older marks, which come again after a crash, change nothing. A mark
 * of a clock that is ahead counts as one of now: a future time would outweigh the marks of all other producers.
 */
export async function saveProducerMarks(pool: Pool, marks: readonly FactsPublished[]): Promise<void> {
  const latest = new Map<string, FactsPublished>();
  for (const mark of marks.toSorted((a, b) => Date.parse(a.until) - Date.parse(b.until)))
    latest.set(`${mark.part} ${mark.producer}`, mark);
  await pool.query(
    `insert into producer_mark as stored (producer, part, until, ended)
     select producer, part, least(until, now()), ended
     from json_to_recordset($1) as mark (producer text, part int, until timestamptz, ended boolean) order by producer, part
     on conflict (producer, part) do update set until = excluded.until, ended = excluded.ended
     where excluded.until > stored.until or stored.until > now()`,
    [JSON.stringify([...latest.values()])],
  );
}
