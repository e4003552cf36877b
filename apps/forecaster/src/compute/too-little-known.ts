import type { PlanLineItem } from '@longwave/events';
import type { TrafficModel } from '@longwave/forecasting';
import type { ForecastInputs } from './forecast-inputs.ts';

const dayMs = 86_400_000;
/** Facts of fewer days refuse nothing. */
const learnedMs = 14 * dayMs;

/**
 * Whether too little is known: of the workspace, or of every podcast that fits. Where none fits, of every one that it may be in: where
 * facts are enough, nothing is nothing. How many episodes a podcast has is no matter: its numbers are wide then, and bounded.
 * @param line absent: of all podcasts
 */
export function isTooLittleKnown(
  { past, nowMs }: Pick<ForecastInputs, 'past' | 'nowMs'>,
  line: PlanLineItem | undefined,
  { podcasts: known }: TrafficModel,
  fitting: readonly string[],
): boolean {
  const [first] = past.plays;
  if (!first || nowMs - first.atMs < learnedMs) return true;
  const included = line?.targeting.podcasts.include ?? [];
  const named = included.length > 0 ? included : [...known.keys()];
  return (fitting.length > 0 ? fitting : named).every((id) => known.get(id)?.isNew ?? true);
}
