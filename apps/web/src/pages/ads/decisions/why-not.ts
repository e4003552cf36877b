import type { Candidate, Trace } from './decision-queries.ts';

/** What became of one line item in one break. */
export type Fate =
  | { readonly kind: 'listed'; readonly breakKey: string; readonly candidate: Candidate }
  /** The trace lists all line items of the plan that decided, and it is none of them. */
  | { readonly kind: 'not_in_plan'; readonly breakKey: string }
  /** The trace lists `listed` of `all`; this one may be among the others. */
  | { readonly kind: 'not_listed'; readonly breakKey: string; readonly listed: number; readonly all: number };

/** The breaks of a decision by their keys, in the order of the play. A trace older than its list of breaks names them in its stages. */
export const breakKeysOf = ({
  request_class: { breaks },
  stages,
}: Pick<Trace, 'request_class' | 'stages'>): readonly string[] => [
  ...new Set([...breaks.map(({ key }) => key), ...stages.map(({ break_key: key }) => key)]),
];

/** Why a line item did or did not get each break. */
export function fatesOf(
  trace: Pick<Trace, 'request_class' | 'stages' | 'candidates'>,
  lineItemId: string,
): readonly Fate[] {
  return breakKeysOf(trace).map((breakKey): Fate => {
    const inBreak = trace.candidates.filter((one) => one.break_key === breakKey);
    const candidate = inBreak.find((one) => one.line_item_id === lineItemId);
    if (candidate) return { kind: 'listed', breakKey, candidate };
    const all = trace.stages.find((stage) => stage.break_key === breakKey)?.in ?? 0;
    const listed = inBreak.length;
    return listed < all ? { kind: 'not_listed', breakKey, listed, all } : { kind: 'not_in_plan', breakKey };
  });
}

/** The slots of a break: what each was given, and undefined for one that stayed empty. */
export function slotsOf<P extends { readonly break_key: string; readonly slot: number }>(
  picks: readonly P[],
  breakKey: string,
  maxSlots: number,
): readonly (P | undefined)[] {
  const own = picks.filter((pick) => pick.break_key === breakKey);
  const count = Math.max(maxSlots, ...own.map(({ slot }) => slot + 1), 0);
  return Array.from({ length: count }, (_, slot) => own.find((pick) => pick.slot === slot));
}
