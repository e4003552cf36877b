import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';
import { whatServes } from './address-table.ts';
import { surface } from './break-plan.ts';
import { selectBreakPlan } from './break-table.ts';

/** A version of a serving intent that is to be acknowledged. */
export interface DueIntent {
  readonly id: string;
  readonly workspaceId: string;
  readonly version: number;
  readonly planDigest: string | undefined;
  /** Since when this projection serves what it says; undefined as long as it does not. */
  readonly appliedAt: Date | undefined;
}

/** Halts `h` that stop all advertising in plays of the podcast that serves, as `haltsAll` says. */
const haltsAll = `h.workspace_id = i.workspace_id and h.state = 'active' and (h.scope->>'kind' = 'workspace'
  or h.scope->>'kind' = 'show' and h.scope->>'podcast_id' = compared.podcast_id
  or h.scope->>'kind' = 'surface' and h.scope->>'surface' = '${surface}')`;

const breakPlan = selectBreakPlan('b.id, b.version', {
  ...{ workspaceId: 'i.workspace_id', podcastId: 'of.podcast_id', episodeId: 'of.episode_id', at: '$3::timestamptz' },
});

/**
 * Whether the projection serves at every alias what the intent `i` says: the source, its version, the presentation, the audio, and of plays with
 * ads the break plan and the halt. Events of other subjects than the intent may come before or after it, so the version that was read is not
 * yet what is in force. The plan digest is not compared: serving plans are known to internal-serving alone.
 *
 * Intents have up to 10,000 actions, which the planner does not expect: each alias is looked up by itself (`limit 1`), and a break plan is
 * looked for once for each podcast and each episode that an episode set names.
 */
const isInForce = `not exists (
  with compared as materialized (
    select action.*, d.id is not null and (d.source_id, served.presentation, served.source_version, served.rendition_digest)
        is not distinct from (action.source_id, action.presentation, action.source_version, action.rendition_sha256) as agrees,
      served.podcast_id, (select served.episode_id from inventory_unit u where u.workspace_id = i.workspace_id
        and u.kind = 'episode_set' and u.state = 'active' and u.episode_ids @> array[served.episode_id] limit 1) as episode_id
    from jsonb_to_recordset(i.actions) as action (alias text, source_id text, source_version int, presentation text,
        rendition_sha256 text, break_plan jsonb, halt text)
      left join lateral (select * from delivery_alias a where a.workspace_id = i.workspace_id
        and a.authority_id = i.authority_id and a.alias = action.alias limit 1) d on true
      ${whatServes('$3::timestamptz')}
  ), planned as materialized (
    select of.*, plan.id as plan_id, plan.version as plan_version
    from (select distinct podcast_id, episode_id from compared where presentation = 'stitched' and agrees) of
      left join lateral (${breakPlan}) plan on true
  )
  select from compared
    left join planned on planned.podcast_id = compared.podcast_id
      and coalesce(planned.episode_id, '') = coalesce(compared.episode_id, '')
    left join lateral (select case when compared.halt is null then count(*) = 0
        else coalesce(bool_or(h.id = compared.halt), false) end as agrees
      from serving_halt h where ${haltsAll}) halted on compared.presentation = 'stitched'
  where not compared.agrees
    or compared.presentation = 'stitched' and (not halted.agrees or (planned.plan_id, planned.plan_version)
      is distinct from (compared.break_plan->>'id', (compared.break_plan->>'version')::int)))`;

/** Claims intents that are due for a time, so that no two processes acknowledge the same. */
export async function claimIntents(pool: Pool, leaseMs: number, limit: number): Promise<readonly DueIntent[]> {
  const { rows } = await pool.query<
    Columns<'serving_intent', 'id' | 'workspace_id' | 'version' | 'plan_digest' | 'applied_at'>
  >({
    name: 'claim_intents',
    text: `with due as (
        select id from serving_intent where due_at <= clock_timestamp() order by due_at limit $2 for update skip locked)
      update serving_intent i set due_at = clock_timestamp() + $1 * interval '1 millisecond'
      from due where due.id = i.id
      returning i.id, i.workspace_id, i.version, i.plan_digest, i.applied_at`,
    values: [leaseMs, limit],
  });
  return rows.map((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    version: row.version,
    planDigest: row.plan_digest ?? undefined,
    appliedAt: row.applied_at ?? undefined,
  }));
}

/** Notes since when a version is in force, and resolves with it; undefined while it is not. Events go on meanwhile: nothing is locked. */
export async function noteApplied(
  pool: Pool,
  { id, version }: Pick<DueIntent, 'id' | 'version'>,
  at: Date,
): Promise<Date | undefined> {
  const { rows } = await pool.query<Columns<'serving_intent', 'applied_at', { applied_at: Date }>>({
    name: 'note_applied_intent',
    text: `update serving_intent i set applied_at = clock_timestamp()
           where i.id = $1 and i.version = $2 and i.applied_at is null and ${isInForce}
           returning i.applied_at`,
    values: [id, version, at],
  });
  return rows[0]?.applied_at;
}

/** Notes that a version was acknowledged; a newer one stays due. */
export async function settleIntent(pool: Pool, { id, version }: DueIntent): Promise<void> {
  await pool.query(
    `update serving_intent set acknowledged_version = $2, due_at = case when version = $2 then null else due_at end
     where id = $1 and acknowledged_version < $2`,
    [id, version],
  );
}

/** Lets a version be tried again after a time; a newer one stays due at once. */
export async function postponeIntent(pool: Pool, { id, version }: DueIntent, delayMs: number): Promise<void> {
  await pool.query(
    `update serving_intent set due_at = clock_timestamp() + $3 * interval '1 millisecond' where id = $1 and version = $2`,
    [id, version, delayMs],
  );
}
