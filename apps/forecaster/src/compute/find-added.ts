import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';

const same = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);

/** The line items by which one plan is more than another; undefined where it differs by anything else that decides who is given a slot. */
export function findAdded(
  before: ServingPlanDocument,
  after: ServingPlanDocument,
): readonly PlanLineItem[] | undefined {
  if (!same(before.separation, after.separation) || !same(before.floors, after.floors)) return undefined;
  const known = new Map(before.line_items.map((line) => [line.line_item_id, line]));
  const added: PlanLineItem[] = [];
  for (const line of after.line_items) {
    const was = known.get(line.line_item_id);
    if (!was) added.push(line);
    else if (!same(was, line)) return undefined;
  }
  return after.line_items.length - added.length === before.line_items.length ? added : undefined;
}
