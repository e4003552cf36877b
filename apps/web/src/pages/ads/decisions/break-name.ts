import { choiceName } from '../../../commands/words.ts';
import { lengthText } from '../../../parts/format.ts';
import type { Trace } from './decision-queries.ts';

/** What a break of a play is called: `Pre-roll`, `Mid-roll, 12:30`; its key where the trace is older than its list of breaks. */
export function breakName({ request_class: { breaks } }: Pick<Trace, 'request_class'>, key: string): string {
  const found = breaks.find((one) => one.key === key);
  if (!found) return key;
  const name = choiceName(found.position);
  return found.position === 'mid' ? `${name}, ${lengthText(found.position_ms)}` : name;
}
