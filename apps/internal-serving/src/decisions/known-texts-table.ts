import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** Stores texts for ever; answers their number. */
export async function insertKnownTexts(pool: Pool, texts: readonly string[]): Promise<number> {
  const { rows } = await pool.query<Columns<'known_texts', 'number'>>({
    name: 'insert-known-texts',
    text: 'insert into known_texts (texts) values ($1) returning number',
    values: [texts],
  });
  return rows[0]!.number;
}

/** The texts of a number, in their order; undefined when there are none. */
export async function findKnownTexts(pool: Pool, number: number): Promise<readonly string[] | undefined> {
  const { rows } = await pool.query<Columns<'known_texts', 'texts', { texts: string[] }>>({
    name: 'find-known-texts',
    text: 'select texts from known_texts where number = $1',
    values: [number],
  });
  return rows[0]?.texts;
}
