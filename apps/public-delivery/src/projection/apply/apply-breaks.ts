import type { DomainEvent } from '@longwave/events';
import type { Transaction } from '@longwave/postgres';
import { z } from 'zod';
import { breakPlanSchema, haltScopeSchema, inventoryUnitSchema } from '../break-plan.ts';

export async function applyInventoryUnit(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const { kind, parent_id, source_ref, default_break_plan } = inventoryUnitSchema.parse(after.attributes);
  await tx.query(
    `insert into inventory_unit (id, workspace_id, version, state, kind, parent_id, podcast_id, episode_ids, default_break_plan)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (id) do update set version = excluded.version, state = excluded.state, kind = excluded.kind,
       parent_id = excluded.parent_id, podcast_id = excluded.podcast_id, episode_ids = excluded.episode_ids,
       default_break_plan = excluded.default_break_plan
     where inventory_unit.version < excluded.version`,
    [
      after.id,
      workspace_id,
      after.version,
      after.lifecycle_state,
      kind,
      parent_id,
      source_ref.podcast_id,
      source_ref.episode_ids,
      default_break_plan,
    ],
  );
}

export async function applyBreakPlan(tx: Transaction, event: DomainEvent): Promise<void> {
  const { after, workspace_id, occurred_at } = event;
  const { effective_at, ...plan } = breakPlanSchema.parse(after.attributes);
  await tx.query(
    `insert into break_plan (id, workspace_id, version, state, inventory_unit_ids, effective_at, attributes)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (id) do update set version = excluded.version, state = excluded.state,
       inventory_unit_ids = excluded.inventory_unit_ids, effective_at = excluded.effective_at, attributes = excluded.attributes
     where break_plan.version < excluded.version`,
    [
      after.id,
      workspace_id,
      after.version,
      after.lifecycle_state,
      plan.inventory_unit_ids,
      effective_at ?? occurred_at,
      plan,
    ],
  );
}

export async function applyServingHalt(tx: Transaction, { after, workspace_id }: DomainEvent): Promise<void> {
  const { scope } = z.object({ scope: haltScopeSchema }).parse(after.attributes);
  await tx.query(
    `insert into serving_halt (id, workspace_id, version, state, scope) values ($1, $2, $3, $4, $5)
     on conflict (id) do update set version = excluded.version, state = excluded.state, scope = excluded.scope
     where serving_halt.version < excluded.version`,
    [after.id, workspace_id, after.version, after.lifecycle_state, scope],
  );
}
