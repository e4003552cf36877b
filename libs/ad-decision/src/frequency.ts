import type { AdBreak, DecisionContext, DecisionInputs } from './decision-context.ts';
import type { IndexedLine } from './plan-index.ts';
import type { FrequencyCap } from './policies.ts';

/** One break of an episode. */
export type EpisodeBreak = Pick<DecisionContext, 'episodeId'> & { readonly breakKey: string };

/** The key under which a cap counts: servings of the line item to one listener, in all, in one episode or in one break of an episode. */
export function capKey(lineItemId: string, per: FrequencyCap['per'], { episodeId, breakKey }: EpisodeBreak): string {
  if (per === 'listener_bucket') return lineItemId;
  return per === 'episode' ? `${lineItemId}/${episodeId}` : `${lineItemId}/${episodeId}/${breakKey}`;
}

/**
 * Every key under which a listener's record must count a serving of the line item; none without caps and sequence.
 * @param policyPers over what caps of policies count
 */
export function capKeysOf(
  { lineItemId, caps, rotation }: IndexedLine,
  episodeBreak: EpisodeBreak,
  policyPers: readonly FrequencyCap['per'][],
): readonly string[] {
  const keys = [...caps.map((cap) => cap.per), ...policyPers].map((per) => capKey(lineItemId, per, episodeBreak));
  if (rotation === 'sequential') keys.push(capKey(lineItemId, 'listener_bucket', episodeBreak));
  return [...new Set(keys)];
}

/**
 * Whether the line item has served as often as a cap allows, slots of this decision included. Without a frequency record every cap
 * counts as reached.
 * A line item takes one slot of a break at most, so this decision adds nothing to a cap per break.
 * @param caps the line item's own, or those of policies
 * @param taken slots that the line item took in this decision
 */
export function isCapped(
  line: Pick<IndexedLine, 'lineItemId'>,
  caps: readonly FrequencyCap[],
  context: DecisionContext,
  adBreak: AdBreak,
  frequencyRecord: DecisionInputs['frequencyRecord'],
  taken: number,
): boolean {
  if (caps.length === 0) return false;
  if (!frequencyRecord) return true;
  const episodeBreak = { episodeId: context.episodeId, breakKey: adBreak.key };
  return caps.some(({ max, per, windowMs }) => {
    const before = frequencyRecord(capKey(line.lineItemId, per, episodeBreak), context.atMs - windowMs);
    return before + (per === 'break' ? 0 : taken) >= max;
  });
}
