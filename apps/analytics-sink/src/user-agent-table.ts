import { userAgentDigest } from '@longwave/audience';
import type { UserAgentSeen } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';

/** Stores the texts of user agents that are new. Throws `RangeError` when a text has another digest than its fact says. */
export async function insertUserAgents(tx: Transaction, seen: readonly UserAgentSeen[]): Promise<void> {
  if (seen.some((one) => userAgentDigest(one.user_agent) !== one.user_agent_digest))
    throw new RangeError('a user agent has another digest than its fact says');
  const rows = seen.map((one) => ({ digest: one.user_agent_digest, text: one.user_agent, first_seen_at: one.at }));
  await tx.query(
    `insert into user_agent select * from json_populate_recordset(null::user_agent, $1) order by digest
     on conflict do nothing`,
    [JSON.stringify(rows)],
  );
}

/** Texts of user agents by digest, as far as they are known. */
export async function findUserAgents(tx: Transaction, digests: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ digest: string; text: string }>(
    `select digest, text from user_agent where digest = any($1)`,
    [digests],
  );
  return new Map(rows.map((row) => [row.digest, row.text]));
}
