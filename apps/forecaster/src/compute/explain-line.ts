import type { PlanLineItem } from '@longwave/events';
import { explainFit, thinSample } from '@longwave/forecasting';
import type { ForecastInputs } from './forecast-inputs.ts';
import { hidesTargeted } from './rare-values.ts';

const dayMs = 86_400_000;
/** Plays that are asked: 0.1 s. */
const maxRows = 40_000;
const maxWinners = 5;
/** As for values of the sample: what fewer people have is not told of them. */
const leastListeners = 50;

/** The answer about the breaks that a line item fits; numbers are whole units. */
export interface ExplainedLine {
  /** The time that the answer is about: whole days of what is sampled. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: number;
  readonly breaks: number;
  readonly fits: number;
  readonly stages: readonly { readonly code: string; readonly breaks: number }[];
  readonly winners: readonly { readonly lineItemId: string; readonly slots: number }[];
  /** It asks for values that the sample hides for a good part of the plays. */
  readonly rareValuesHidden: boolean;
}

/**
 * Why a line item fits some breaks of a time and not others. The sample tells of a day at least, as it shows values that fifty people of a day
 * had: a shorter time grows at its beginning. Pure.
 */
export function explainLine(
  { past, booking: { plan } }: Pick<ForecastInputs, 'past' | 'booking'>,
  line: PlanLineItem,
  range: { readonly fromMs: number; readonly toMs: number },
): ExplainedLine {
  const toMs = Math.min(range.toMs, past.untilMs);
  const fromMs = Math.min(range.fromMs, toMs - dayMs);
  const plays = past.plays.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  const asked = thinSample(plays, maxRows);
  const { rows, breaks, fits, stages, winners } = explainFit(line, asked, {
    ...{ lines: plan.line_items, floors: plan.floors, maxWinners, leastListeners },
  });
  return {
    ...{ fromMs, toMs, rows, breaks: Math.round(breaks), fits: Math.round(fits) },
    stages: stages.map((one) => ({ code: one.code, breaks: Math.round(one.breaks) })),
    winners: winners.map(({ lineItemId, slots }) => ({ lineItemId, slots: Math.round(slots) })),
    rareValuesHidden: hidesTargeted(line, asked),
  };
}
