import type { PlanChanges, PlanLineItem, ServingPlanDocument } from './serving-plan.ts';

/**
 * The plan that changes make of another one, both with their line items by id. Line items that were not changed are the same objects.
 * @param before the plan that the changes are from
 */
export function changePlan(
  { line_items: before }: Pick<ServingPlanDocument, 'line_items'>,
  { plan, line_items: changed, removed }: PlanChanges,
): ServingPlanDocument {
  const gone = new Set([...removed, ...changed.map(({ line_item_id: id }) => id)]);
  const added = changed.toSorted((a, b) => (a.line_item_id < b.line_item_id ? -1 : 1));
  const lines: PlanLineItem[] = [];
  let next = 0;
  for (const line of before) {
    if (gone.has(line.line_item_id)) continue;
    while (next < added.length && added[next]!.line_item_id < line.line_item_id) lines.push(added[next++]!);
    lines.push(line);
  }
  return { ...plan, line_items: [...lines, ...added.slice(next)] };
}
