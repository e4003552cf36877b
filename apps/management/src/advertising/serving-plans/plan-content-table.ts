import type { Pool, Transaction } from '@longwave/postgres';

/** Saves the line items of a compiled plan, for queries that cannot read the plan's document. */
export async function savePlanContent(
  db: Pool | Transaction,
  planId: string,
  lineItemIds: readonly string[],
): Promise<void> {
  await db.query({
    name: 'save_plan_content',
    text: `insert into serving_plan_content (serving_plan_id, line_item_ids) values ($1, $2)
           on conflict (serving_plan_id) do update set line_item_ids = excluded.line_item_ids`,
    values: [planId, lineItemIds],
  });
}

/** Copies the line items of a plan to the plan that publishes its content again. */
export async function copyPlanContent(tx: Transaction, fromId: string, toId: string): Promise<void> {
  await tx.query({
    name: 'copy_plan_content',
    text: `insert into serving_plan_content (serving_plan_id, line_item_ids)
           select $2, line_item_ids from serving_plan_content where serving_plan_id = $1`,
    values: [fromId, toId],
  });
}

/** Whether a published plan that is in effect contains a line item. */
export async function isPlanned(tx: Transaction, workspaceId: string, lineItemId: string, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'is_planned',
    text: `select from resource p join serving_plan_content c on c.serving_plan_id = p.id
           where p.workspace_id = $1 and p.resource_type = 'serving_plans' and p.lifecycle_state = 'published'
             and instant_of(p.attributes ->> 'effective_from') <= $3 and $2 = any(c.line_item_ids) limit 1`,
    values: [workspaceId, lineItemId, now],
  });
  return rowCount === 1;
}
