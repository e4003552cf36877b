import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAudienceLists, type AudienceLists } from '@longwave/audience';
import { createPool, type Pool } from '@longwave/postgres';
import { textOf, UsageError, type Terminal, type Values } from './command-line.ts';

const installedLists = fileURLToPath(new URL('../../../../libs/audience/data', import.meta.url));

/**
 * Reads the lists of --lists, of AUDIENCE_DATA, or those that came with the program.
 * @param nowMs decides which entries of the safe list are valid
 */
export function readLists(
  values: Values,
  { environment, now }: Terminal,
  nowMs = () => now().getTime(),
): AudienceLists {
  const folder = textOf(values, 'lists') ?? environment['AUDIENCE_DATA'] ?? installedLists;
  if (!existsSync(path.join(folder, 'sources.json')))
    throw new UsageError(`There are no lists in ${folder}. Name their folder (libs/audience/data) with --lists.`);
  return readAudienceLists(folder, nowMs);
}

/** Calls `work` with a pool on schema `audience` of the database of DATABASE_URL. */
export async function withDatabase<T>(
  { environment }: Terminal,
  name: string,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const url = environment['DATABASE_URL'];
  if (!url)
    throw new UsageError(
      'DATABASE_URL is not set. Set it to the URL of the database (postgres://longwave_audience:…@host/db), or start the installation with `npm start`.',
    );
  const pool = createPool(url, 'audience', { name, max: 2 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
