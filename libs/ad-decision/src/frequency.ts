import type { AdBreak, DecisionContext, DecisionInputs } from './decision-context.ts';
import type { FrequencyCap, IndexedLine } from './plan-index.ts';

/** Where a line item is heard. */
export type Hearing = Pick<DecisionContext, 'episodeId'> & { readonly breakKey: string };

/** What a cap counts: servings of the line item to one listener, in all, in one episode or in one break of an episode. */
export function capKey(lineItemId: string, per: FrequencyCap['per'], { episodeId, breakKey }: Hearing): string {
  if (per === 'listener_bucket') return lineItemId;
  return per === 'episode' ? `${lineItemId}/${episodeId}` : `${lineItemId}/${episodeId}/${breakKey}`;
}

/** Every key under which a listener's record must count a serving of the line item; none when nobody will ask. */
export function capKeysOf({ lineItemId, caps, rotation }: IndexedLine, hearing: Hearing): readonly string[] {
  const keys = caps.map((cap) => capKey(lineItemId, cap.per, hearing));
  if (rotation === 'sequential') keys.push(capKey(lineItemId, 'listener_bucket', hearing));
  return [...new Set(keys)];
}

/**
 * Whether the line item was heard as often as a cap allows, slots of this decision included. A cap that nobody can check holds.
 * A line item takes one slot of a break at most, so this decision adds nothing to a cap per break.
 * @param taken slots that the line item took in this decision
 */
export function isCapped(
  line: IndexedLine,
  context: DecisionContext,
  adBreak: AdBreak,
  heard: DecisionInputs['heard'],
  taken: number,
): boolean {
  if (line.caps.length === 0) return false;
  if (!heard) return true;
  const hearing = { episodeId: context.episodeId, breakKey: adBreak.key };
  return line.caps.some(({ max, per, windowMs }) => {
    const before = heard(capKey(line.lineItemId, per, hearing), context.atMs - windowMs);
    return before + (per === 'break' ? 0 : taken) >= max;
  });
}
