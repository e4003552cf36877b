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
  /** What fewer listeners have is told as nobody's: its breaks are counted with the largest number. Absent: everything is told. */
  readonly leastListeners?: number;
}

/** Weights, and the plays of whom they are; each play without a code of its listener is another one's. */
interface Tally {
  sum: number;
  readonly listeners: Set<string | SamplePlay>;
}

function addTo<K>(tallies: Map<K, Tally>, key: K, play: SamplePlay): void {
  const tally = tallies.get(key) ?? { sum: 0, listeners: new Set() };
  tallies.set(key, tally);
  tally.sum += play.weight;
  tally.listeners.add(play.listener || play);
}

/** The sums of those that enough listeners have; the others are added to the largest of these. None where none has. */
function foldFew<K>(tallies: ReadonlyMap<K, Tally>, leastListeners: number): ReadonlyMap<K, number> {
  const enough = [...tallies].filter(([, { listeners }]) => listeners.size >= leastListeners);
  const told = new Map(enough.map(([key, { sum }]) => [key, sum]));
  const [largest] = enough.toSorted(([, a], [, b]) => b.sum - a.sum);
  if (!largest) return told;
  for (const [key, { sum }] of tallies) if (!told.has(key)) told.set(largest[0], told.get(largest[0])! + sum);
  return told;
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
  { lines, maxWinners, leastListeners = 0, ...options }: FitOptions,
): Fit {
  const verdictsOf = createVerdicts(indexAlone(line, options));
  const sold = new Map(lines.map((one) => [one.line_item_id, one]));
  /** Breaks by verdict, `won` where they fit. */
  const found = new Map<VerdictCode, Tally>();
  const held = new Map<string, Tally>();
  for (const play of plays) {
    const { lineItemIds } = play;
    const positions = new Set<string>();
    verdictsOf(play).forEach((verdict, at) => {
      addTo(found, verdict, play);
      if (verdict === 'won') positions.add(play.breaks[at]!.position);
    });
    if (positions.size === 0 || lineItemIds.includes(line.line_item_id)) continue;
    for (const id of lineItemIds) {
      const winner = sold.get(id);
      const competes =
        !winner || (winner.break_positions.some((one) => positions.has(one)) && mayOutrank(winner, line));
      if (competes) addTo(held, id, play);
    }
  }
  const told = foldFew(found, leastListeners);
  return {
    ...{
      rows: plays.length,
      breaks: [...told.values()].reduce((sum, one) => sum + one, 0),
      fits: told.get('won') ?? 0,
    },
    stages: verdictCodes.flatMap((code) => {
      const lost = code === 'won' ? undefined : told.get(code);
      return lost === undefined ? [] : [{ code, breaks: lost }];
    }),
    winners: [...held]
      .filter(([, { listeners }]) => listeners.size >= leastListeners)
      .map(([lineItemId, { sum: slots }]) => ({ lineItemId, slots }))
      .toSorted((a, b) => b.slots - a.slots || (a.lineItemId < b.lineItemId ? -1 : 1))
      .slice(0, maxWinners),
  };
}
