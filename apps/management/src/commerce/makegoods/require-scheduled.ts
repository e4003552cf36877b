import { listLinked, type RuleInput } from '@longwave/command-pipeline';
import type { LineItem } from '../../advertising/line-items/line-item.ts';
import { refuseField } from '../../workspace/refuse-field.ts';

/**
 * Throws `validation_failed` for a line item that makes good and is not that of a scheduled makegood, which management creates: it is
 * delivered and never charged, so people must have accepted its units.
 */
export async function requireScheduled(
  { tx, workspaceId, actor }: Pick<RuleInput<LineItem, unknown>, 'tx' | 'workspaceId' | 'actor'>,
  { makegood_of: makegoodOf, goal, rate }: Pick<LineItem, 'makegood_of' | 'goal' | 'rate'>,
): Promise<void> {
  if (makegoodOf === undefined) return;
  const isOwn = actor.kind === 'service' && actor.name === 'management';
  const makegoods = isOwn ? await listLinked(tx, workspaceId, 'makegoods', 'for_line_item', makegoodOf) : [];
  const scheduled = makegoods.find(
    ({ lifecycle_state: state, attributes }) =>
      state === 'scheduled' && attributes.line_item_id === undefined && attributes.units === goal.quantity,
  );
  if (!scheduled || rate.model !== 'none')
    refuseField(
      '/changes/makegood_of',
      'not_scheduled',
      'A line item that makes good is created when its makegood is scheduled: makegood.propose, accept and schedule.',
    );
}

/** Throws `validation_failed` for changes of a line item that makes good which would give away more than was accepted, or ask for a price. */
export function assertMakesGood(
  current: Readonly<LineItem>,
  changes: Partial<Pick<LineItem, 'makegood_of' | 'goal' | 'rate'>>,
): void {
  const { makegood_of: makegoodOf, goal, rate } = changes;
  if (makegoodOf !== undefined && makegoodOf !== current.makegood_of)
    refuseField('/changes/makegood_of', 'not_scheduled', 'Propose and schedule a makegood: it creates its line item.');
  if (current.makegood_of === undefined) return;
  if (goal && (goal.unit !== current.goal.unit || (goal.quantity ?? 0) > (current.goal.quantity ?? 0)))
    refuseField('/changes/goal', 'makes_good', 'It makes good the units that were accepted, and no more.');
  if (rate && rate.model !== 'none')
    refuseField('/changes/rate', 'makes_good', 'A line item that makes good has no price.');
}
