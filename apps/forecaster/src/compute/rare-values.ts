import type { PlanLineItem, ServingPlanDocument } from '@longwave/events';
import { findWanted, pickedOrdinal, type DeliveryBaseline, type SamplePlay } from '@longwave/forecasting';

/** The place of values that few plays have. */
const other = 'other';
/** Share of hidden values from which a count of plays that fit says too little. */
const maxHidden = 0.2;

const dimensions = {
  countries: 'country',
  regions: 'region',
  devices: 'device',
  operating_systems: 'operatingSystem',
  apps: 'app',
} as const;
type Dimension = keyof typeof dimensions;
type Targeted = Pick<PlanLineItem, 'targeting'>;

/** Dimensions of which a line item asks for values. What it only excludes hides nothing that it wants. */
const askedOf = ({ targeting }: Targeted): readonly Dimension[] =>
  (Object.keys(dimensions) as Dimension[]).filter((name) => (targeting[name]?.include.length ?? 0) > 0);

type Hidden = ReadonlyMap<Dimension, number>;

/** Found once for all questions about the same past. */
const found = new WeakMap<readonly SamplePlay[], Hidden>();

/** Share of the plays whose value the sample hides, by dimension; none where it hides none. */
export function findHidden(plays: readonly SamplePlay[]): Hidden {
  const known = found.get(plays);
  if (known) return known;
  const hidden = countHidden(plays);
  found.set(plays, hidden);
  return hidden;
}

function countHidden(plays: readonly SamplePlay[]): Hidden {
  const names = Object.keys(dimensions) as Dimension[];
  const hidden = new Map<Dimension, number>();
  let all = 0;
  for (const play of plays) {
    all += play.weight;
    for (const name of names)
      if (play[dimensions[name]] === other) hidden.set(name, (hidden.get(name) ?? 0) + play.weight);
  }
  return new Map([...hidden].map(([name, weight]) => [name, weight / all]));
}

/** Whether a line item asks for something that the sample hides for a good part of the plays (docs/privacy.md). */
export function hidesTargeted(line: Targeted, plays: readonly SamplePlay[]): boolean {
  const hidden = findHidden(plays);
  return askedOf(line).some((name) => (hidden.get(name) ?? 0) > maxHidden);
}

/** The line item that has every play with a hidden value too: it fits as much as there could be at most. Undefined when nothing is hidden from it. */
export function withHidden<L extends Targeted>(line: L, hidden: Hidden): L | undefined {
  const asked = askedOf(line).filter((name) => hidden.has(name));
  if (asked.length === 0) return undefined;
  const widened = asked.map((name) => {
    const { include, exclude } = line.targeting[name]!;
    return [name, { include: [...include, other], exclude }] as const;
  });
  return { ...line, targeting: { ...line.targeting, ...Object.fromEntries(widened) } };
}

/** A line item that has less than it is to have by more than this share needs plays that the sample does not show as its own. */
const shortFrom = 0.02;

/** Gives line items that the sample shows too few plays for those with a hidden value too. Answers the same plan where there are none. */
export function withHiddenSold(
  plan: ServingPlanDocument,
  baseline: DeliveryBaseline,
  hidden: Hidden,
): ServingPlanDocument {
  const { index, picks, scale, deliveryRates } = baseline;
  const wanted = findWanted(baseline);
  const given = new Map<string, number>();
  for (const pick of picks) {
    const { lineItemId } = index.lines[pickedOrdinal(pick)]!;
    given.set(lineItemId, (given.get(lineItemId) ?? 0) + scale * (deliveryRates.get(lineItemId) ?? 1));
  }
  let widened = 0;
  const lines = plan.line_items.map((line) => {
    const { line_item_id: id } = line;
    const least = wanted.get(id);
    if (least === undefined || (given.get(id) ?? 0) >= least * (1 - shortFrom)) return line;
    const wide = withHidden(line, hidden);
    if (wide) widened++;
    return wide ?? line;
  });
  return widened === 0 ? plan : { ...plan, line_items: lines };
}
