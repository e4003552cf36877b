import { userAgentDigest } from '@longwave/audience';
import type { Columns } from '@longwave/audience-store';
import type { UserAgentSeen } from '@longwave/events';
import type { Pool, Transaction } from '@longwave/postgres';

/** Stores the texts of new user agents and the time of use of known ones. Throws `RangeError` when a text does not have the digest of its fact. */
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

/** The known texts of user agents by digest. */
export async function findUserAgents(tx: Transaction, digests: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<Columns<'user_agent', 'digest' | 'text'>>(
    `select digest, text from user_agent where digest = any($1)`,
    [digests],
  );
  return new Map(rows.map((row) => [row.digest, row.text]));
}

/** Removes user agents that nobody used since a time, at most `maxRows`; answers how many. A waiting fact keeps its user agent. */
export async function removeUserAgents(pool: Pool, usedBefore: Date, maxRows: number): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from user_agent where digest in (
       select digest from user_agent where last_used_at < $1
         and not exists (select from pending_fact where user_agent_digest = digest)
       order by last_used_at limit $2 for update skip locked)`,
    [usedBefore, maxRows],
  );
  return rowCount ?? 0;
}
