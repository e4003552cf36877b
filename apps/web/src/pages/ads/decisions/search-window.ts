import { heldInstant } from '../../../commands/typed-instant.ts';
import type { DecisionSearch, FoundBy } from './decision-search.ts';

const dayMs = 86_400_000;
/** The longest time that one search covers, in days. */
const daysMax = 31;

/** What is wrong with the times of a search. Half a time does not come from the controls, and one that clocks jump over is not taken. */
export type WindowFault = 'gap' | 'order' | 'long';

/** The instants of a search. Without an end it reaches to now, without a beginning a day back. Of a time that clocks show twice it is the first. */
export function windowOf(
  { from, to }: Pick<DecisionSearch, 'from' | 'to'>,
  zone: string,
  nowMs: number,
): { readonly fault: WindowFault } | { readonly fault: undefined; readonly by: FoundBy } {
  const [first, last] = [from, to].map((text) => {
    const [day = '', time = ''] = (text ?? '').split('T');
    return heldInstant({ day, time }, zone);
  });
  if ([first, last].some((text) => text !== undefined && !text.endsWith('Z'))) return { fault: 'gap' };
  const endMs = last === undefined ? nowMs : Date.parse(last);
  const startMs = first === undefined ? endMs - dayMs : Date.parse(first);
  if (startMs >= endMs) return { fault: 'order' };
  if (endMs - startMs > daysMax * dayMs) return { fault: 'long' };
  return {
    fault: undefined,
    by: { ...(first !== undefined && { from: first }), ...(last !== undefined && { to: last }) },
  };
}
