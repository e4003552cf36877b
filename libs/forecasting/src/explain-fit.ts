import { tiers, verdictCodes, type VerdictCode } from '@longwave/ad-decision';
import type { PlanLineItem } from '@longwave/events';
import { createVerdicts, indexAlone, type MatchOptions } from './find-matched.ts';
import type { SamplePlay } from './sample-play.ts';

/** Why a line item fits some breaks of sampled plays and not others; all numbers but `rows` are weighted. */
interface Fit {
  readonly rows: number;
  readonly breaks: number;
  /** Breaks that fit: these and those of all stages are `breaks`. */
  readonly fits: number;
  /** Breaks by the first verdict that speaks against the line item, in the order of the checks. */
  readonly stages: readonly { readonly code: VerdictCode; readonly breaks: number }[];
  /** The line items that have slots of plays which it fits and got nothing of, those with most first; slots. */
  readonly winners: readonly { readonly lineItemId: string; readonly slots: number }[];
}

interface FitOptions extends MatchOptions {
  /** Everything that is sold. Of two line items in it, one that stands behind the other took nothing from it. */
  readonly lines: readonly PlanLineItem[];
  readonly maxWinners: number;
}

/** Whether one line item may have a slot before another one. Between equals chance and urgency decide. */
function mayOutrank(winner: PlanLineItem, line: PlanLineItem): boolean {
  const [its, own] = [tiers[winner.type], tiers[line.type]];
  return its === own ? its !== tiers.guaranteed || winner.priority <= line.priority : its < own;
}

/**
 * Asks every break of sampled plays for the first check that a line item fails, whatever competes, and counts who has the slots of the plays that
 * it fits. The sample has holders by play, so a holder counts where one of its positions is that of a break that fits. One that is sold no more
 * counts, whatever it was. Pure.
 */
export function explainFit(
  line: PlanLineItem,
  plays: readonly SamplePlay[],
  { lines, maxWinners, ...options }: FitOptions,
): Fit {
  const verdictsOf = createVerdicts(indexAlone(line, options));
  const sold = new Map(lines.map((one) => [one.line_item_id, one]));
  const dropped = new Map<VerdictCode, number>();
  const held = new Map<string, number>();
  let [breaks, fits] = [0, 0];
  for (const play of plays) {
    const { weight, lineItemIds } = play;
    const positions = new Set<string>();
    verdictsOf(play).forEach((verdict, at) => {
      breaks += weight;
      if (verdict !== 'won') return void dropped.set(verdict, (dropped.get(verdict) ?? 0) + weight);
      fits += weight;
      positions.add(play.breaks[at]!.position);
    });
    if (positions.size === 0 || lineItemIds.includes(line.line_item_id)) continue;
    for (const id of lineItemIds) {
      const winner = sold.get(id);
      const competes =
        !winner || (winner.break_positions.some((one) => positions.has(one)) && mayOutrank(winner, line));
      if (competes) held.set(id, (held.get(id) ?? 0) + weight);
    }
  }
  return {
    ...{ rows: plays.length, breaks, fits },
    stages: verdictCodes.flatMap((code) => {
      const lost = dropped.get(code);
      return lost === undefined ? [] : [{ code, breaks: lost }];
    }),
    winners: [...held]
      .map(([lineItemId, slots]) => ({ lineItemId, slots }))
      .toSorted((a, b) => b.slots - a.slots || (a.lineItemId < b.lineItemId ? -1 : 1))
      .slice(0, maxWinners),
  };
}
