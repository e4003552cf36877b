import type { ByteRangeServed, UserAgentSeen } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { parseMultirange } from '../multirange.ts';

/** Which stored facts: those of requests that began in [from, to), of a workspace or a podcast. Undefined: no bound. */
export interface FactScope {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  readonly workspaceId: string | undefined;
  readonly podcastId: string | undefined;
}

const within = `($1::timestamptz is null or (f.at >= $1 and f.started_at >= $1)) and ($2::timestamptz is null or f.started_at < $2)
  and ($3::text is null or f.workspace_id = $3) and ($4::text is null or f.podcast_id = $4)`;

const parameters = ({ from, to, workspaceId, podcastId }: FactScope) => [
  from ?? null,
  to ?? null,
  workspaceId ?? null,
  podcastId ?? null,
];

/** Rows of a query in batches, by a cursor of the server: neither side ever holds them all. */
async function* fetchRows<R extends object>(tx: Transaction, sql: string, values: unknown[]): AsyncGenerator<R[]> {
  await tx.query(`declare stored_facts no scroll cursor for ${sql}`, values);
  for (;;) {
    const { rows } = await tx.query<R>('fetch 1000 from stored_facts');
    if (rows.length === 0) break;
    yield rows;
  }
  await tx.query('close stored_facts');
}

/** The user agents that the facts of a scope name, as facts; in batches. */
export async function* streamUserAgents(tx: Transaction, scope: FactScope): AsyncGenerator<UserAgentSeen[]> {
  const batches = fetchRows<{ digest: string; text: string; first_seen_at: Date }>(
    tx,
    `select u.digest, u.text, u.first_seen_at from user_agent u
     where u.digest in (select f.user_agent_digest from fact f where ${within})`,
    parameters(scope),
  );
  for await (const rows of batches)
    yield rows.map((row) => ({
      kind: 'user_agent_seen',
      fact_id: `user_agent ${row.digest}`,
      at: row.first_seen_at.toISOString(),
      user_agent_digest: row.digest,
      user_agent: row.text,
    }));
}

interface FactRow extends Omit<
  ByteRangeServed,
  | 'kind'
  | 'started_at'
  | 'at'
  | 'published_at'
  | 'requested'
  | 'written'
  | 'total_bytes'
  | 'previous_listener_key'
  | 'address_safe'
> {
  readonly started_at: Date;
  readonly at: Date;
  readonly published_at: Date;
  readonly requested: string;
  readonly written: string;
  readonly total_bytes: string;
  readonly previous_listener_key: string | null;
  readonly address_safe: boolean;
}

/** The facts of a scope as they came, but for intervals, which are sorted and merged; in batches, in no order. */
export async function* streamFacts(tx: Transaction, scope: FactScope): AsyncGenerator<ByteRangeServed[]> {
  const batches = fetchRows<FactRow>(
    tx,
    `select f.fact_id, f.request_id, f.started_at, f.at, f.workspace_id, f.podcast_id, f.episode_id, l.arrangement_id,
       f.method, f.status, f.requested, f.written, l.total_bytes, l.parts, f.published_at, f.listener_key,
       f.previous_listener_key, f.address_key, f.address_verdict, f.user_agent_digest, f.prefetch, f.country, f.region,
       f.late, f.lists_version, f.preload, f.internal, f.address_safe
     from fact f join layout l on l.digest = f.layout_digest where ${within}`,
    parameters(scope),
  );
  for await (const rows of batches)
    yield rows.map(({ previous_listener_key, address_safe, ...row }) => ({
      ...row,
      kind: 'byte_range_served',
      started_at: row.started_at.toISOString(),
      at: row.at.toISOString(),
      published_at: row.published_at.toISOString(),
      requested: parseMultirange(row.requested).map(([from, to]): [number, number] => [from, to]),
      written: parseMultirange(row.written).map(([from, to]): [number, number] => [from, to]),
      total_bytes: Number(row.total_bytes),
      ...(previous_listener_key !== null && { previous_listener_key }),
      ...(address_safe && { address_safe }),
    }));
}
