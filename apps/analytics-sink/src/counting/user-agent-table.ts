import { userAgentDigest } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { UserAgentSeen } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';

/** Stores the texts of user agents that are new, and that the others were used again. Throws `RangeError` when a text has another digest than its fact says. */
export async function insertUserAgents(tx: Transaction, seen: readonly UserAgentSeen[]): Promise<void> {
  if (seen.some((one) => userAgentDigest(one.user_agent) !== one.user_agent_digest))
    throw new RangeError('a user agent has another digest than its fact says');
  const rows = [...new Map(seen.map((one) => [one.user_agent_digest, one])).values()];
  await tx.query(
    `insert into user_agent (digest, text, first_seen_at, last_used_at)
     select user_agent_digest, user_agent, at, now()
     from json_to_recordset($1) as seen (user_agent_digest text, user_agent text, at timestamptz) order by user_agent_digest
     on conflict (digest) do update set last_used_at = now() where user_agent.last_used_at < now() - interval '12 hours'`,
    [JSON.stringify(rows)],
  );
}

/** Texts of user agents by digest, as far as they are known. */
export async function findUserAgents(tx: Transaction, digests: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<Columns<'user_agent', 'digest' | 'text'>>(
    `select digest, text from user_agent where digest = any($1)`,
    [digests],
  );
  return new Map(rows.map((row) => [row.digest, row.text]));
}

/** Removes user agents that nobody used since a time, at most so many; answers how many. A fact that waits for one keeps it. */
export async function removeUserAgents(pool: Pool, usedBefore: Date, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from user_agent where digest in (
       select digest from user_agent where last_used_at < $1
         and not exists (select from pending_fact where user_agent_digest = digest)
       order by last_used_at limit $2 for update skip locked)`,
    [usedBefore, rowsMax],
  );
  return rowCount ?? 0;
}
