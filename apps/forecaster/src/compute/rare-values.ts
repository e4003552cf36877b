import type { PlanLineItem } from '@longwave/events';
import type { SamplePlay } from '@longwave/forecasting';

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

/** Share of the plays whose value of a dimension the sample hides. */
function hiddenShare(name: Dimension, plays: readonly SamplePlay[]): number {
  let [hidden, all] = [0, 0];
  for (const play of plays) {
    all += play.weight;
    if (play[dimensions[name]] === other) hidden += play.weight;
  }
  return all > 0 ? hidden / all : 0;
}

/** Whether a line item asks for something that the sample hides for a good part of the plays (docs/privacy.md). */
export const hidesTargeted = (line: Targeted, plays: readonly SamplePlay[]): boolean =>
  askedOf(line).some((name) => hiddenShare(name, plays) > maxHidden);

/** The line item that has every play with a hidden value too: it fits as much as there could be at most. Undefined when nothing is hidden from it. */
export function withHidden<L extends Targeted>(line: L, plays: readonly SamplePlay[]): L | undefined {
  const hidden = askedOf(line).filter((name) => hiddenShare(name, plays) > 0);
  if (hidden.length === 0) return undefined;
  const widened = hidden.map((name) => {
    const { include, exclude } = line.targeting[name]!;
    return [name, { include: [...include, other], exclude }] as const;
  });
  return { ...line, targeting: { ...line.targeting, ...Object.fromEntries(widened) } };
}
