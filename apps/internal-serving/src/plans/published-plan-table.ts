import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** A revision of a serving plan, from its event. */
export interface PlanRevision {
  readonly servingPlanId: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly lifecycleState: string;
  /** SHA-256 (hex) of the document; undefined until it is compiled. */
  readonly digest: string | undefined;
  /** The same of its policies; undefined when it has none. */
  readonly policiesDigest: string | undefined;
  readonly effectiveFrom: Date | undefined;
  readonly occurredAt: Date;
  /** Publication of the plan that it renews; undefined when it renews none. */
  readonly publishedAt: Date | undefined;
}

export interface PlanPointer {
  readonly workspaceId: string;
  readonly servingPlanId: string;
  readonly digest: string;
  readonly policiesDigest: string | undefined;
}

/** Applies a revision; one that is not newer than the row changes nothing. */
export async function applyPlanRevision(pool: Pool, plan: PlanRevision): Promise<void> {
  await pool.query(
    `insert into published_plan
       (serving_plan_id, workspace_id, version, lifecycle_state, digest, policies_digest, effective_from, occurred_at,
        published_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (serving_plan_id) do update set
       version = excluded.version, lifecycle_state = excluded.lifecycle_state, digest = excluded.digest,
       policies_digest = excluded.policies_digest, effective_from = excluded.effective_from, occurred_at = excluded.occurred_at,
       published_at = excluded.published_at
     where published_plan.version < excluded.version`,
    [
      plan.servingPlanId,
      plan.workspaceId,
      plan.version,
      plan.lifecycleState,
      plan.digest,
      plan.policiesDigest,
      plan.effectiveFrom,
      plan.occurredAt,
      plan.publishedAt,
    ],
  );
}

/**
 * Per workspace the plan that was published last, of those in effect at `at`; a renewal has the place of the plan that it renews. A plan that was rolled back decides until the earlier one is
 * published again as a plan of its own, so that no play in between is without ads.
 */
export async function listCurrentPlans(pool: Pool, at: Date): Promise<readonly PlanPointer[]> {
  const { rows } = await pool.query<
    Columns<'published_plan', 'workspace_id' | 'serving_plan_id' | 'digest' | 'policies_digest', { digest: string }>
  >(
    `select distinct on (workspace_id) workspace_id, serving_plan_id, digest, policies_digest
     from published_plan
     where lifecycle_state in ('published', 'rolled_back') and digest is not null and effective_from <= $1
     order by workspace_id, coalesce(published_at, occurred_at) desc, occurred_at desc, serving_plan_id desc`,
    [at],
  );
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    servingPlanId: row.serving_plan_id,
    digest: row.digest,
    policiesDigest: row.policies_digest ?? undefined,
  }));
}
