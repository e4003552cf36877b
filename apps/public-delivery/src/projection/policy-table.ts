import type { Pool, Transaction } from '@longwave/postgres';
import type { DomainEvent } from '@longwave/events';
import { z } from 'zod';
import type { Columns } from '../generated/rows.ts';

/** The longest and largest advertising that a play adds to its content. */
const deliveryBounds = z.object({
  max_added_ms: z.int().min(1).optional(),
  max_added_bytes: z.int().min(1).optional(),
  /** Per cent of the length of the content. */
  max_added_pct: z.number().positive().optional(),
});
export type DeliveryBounds = z.infer<typeof deliveryBounds>;

const tokenRules = z.object({ report_token_days: z.int().min(1) });

const policy = z.object({
  kind: z.string(),
  scope: z.union([
    z.object({ kind: z.literal('podcasts'), podcast_ids: z.array(z.string()) }),
    z.object({ kind: z.string() }),
  ]),
  rules: z.unknown(),
});

/** The kinds that delivery obeys; others are dropped. */
const obeyedKinds: readonly string[] = ['delivery_bounds', 'token'];

/** Projects a policy that delivery obeys. */
export async function applyPolicy(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const { kind, scope, rules } = policy.parse(after.attributes);
  if (!obeyedKinds.includes(kind)) return;
  await tx.query(
    `insert into policy (id, workspace_id, version, state, kind, podcast_ids, rules) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set version = excluded.version, state = excluded.state, podcast_ids = excluded.podcast_ids,
       rules = excluded.rules
     where policy.version < excluded.version`,
    [
      after.id,
      workspace_id,
      after.version,
      after.lifecycle_state,
      kind,
      'podcast_ids' in scope ? scope.podcast_ids : [],
      JSON.stringify(rules),
    ],
  );
}

/** The bounds of the active policies that hold for a podcast. */
export async function listDeliveryBounds(
  pool: Pool,
  workspaceId: string,
  podcastId: string,
): Promise<readonly DeliveryBounds[]> {
  const { rows } = await pool.query<Columns<'policy', 'rules'>>({
    name: 'delivery_bounds',
    text: `select rules from policy where workspace_id = $1 and kind = 'delivery_bounds' and state = 'active'
             and (podcast_ids = '{}' or $2 = any(podcast_ids)) order by id`,
    values: [workspaceId, podcastId],
  });
  return rows.map(({ rules }) => deliveryBounds.parse(rules));
}

/** The shortest life that an active policy of its workspace gives to the tokens of an episode's reports, in days; undefined without one. */
export async function findReportTokenDays(pool: Pool, episodeId: string): Promise<number | undefined> {
  const { rows } = await pool.query<Columns<'policy', 'rules'>>({
    name: 'report_token_days',
    text: `select rules from policy where kind = 'token' and state = 'active' and workspace_id = (
             select p.workspace_id from episode e join podcast p on p.id = e.podcast_id where e.id = $1)`,
    values: [episodeId],
  });
  const days = rows.map(({ rules }) => tokenRules.parse(rules).report_token_days);
  return days.length > 0 ? Math.min(...days) : undefined;
}
