import { isChargedByUnits, type LineItemTerms, type RateTerms } from '@longwave/money';
import { goalBasis } from '../../advertising/line-items/count-confirmed.ts';
import type { LineItem } from '../../advertising/line-items/line-item.ts';

/** What bills need of one version of a line item. */
export interface FlightVersion {
  readonly state: string;
  readonly at: Date;
  readonly rate: LineItem['rate'];
  readonly goal: LineItem['goal'];
  readonly counting_basis: LineItem['counting_basis'];
  readonly amendment: LineItem['amendment'] | undefined;
}

type FlightTerms = Pick<LineItemTerms, 'began_at' | 'rates' | 'ended'>;

/** What decides how units are charged. */
type Charged = Pick<FlightVersion, 'rate' | 'goal' | 'counting_basis'>;

/** What a price counts: completed plays where those are paid for, else what the goal counts. */
export const basisOf = ({ rate, ...counted }: Charged): RateTerms['basis'] =>
  rate.model === 'cpcv' ? 'completes' : goalBasis(counted);

/** Whether two versions charge alike: by the same price, of units that are counted alike. The quantity of a goal may differ. */
const chargesAlike = (a: Charged, b: Charged): boolean =>
  a.rate.model === b.rate.model &&
  a.rate.price?.amount_micros === b.rate.price?.amount_micros &&
  a.rate.price?.currency === b.rate.price?.currency &&
  (!isChargedByUnits(a.rate.model) || (a.goal.unit === b.goal.unit && basisOf(a) === basisOf(b)));

/** When the price of a version began to count: at the time of the amendment that waited for it, else when the version was saved. */
function effectiveAt(version: FlightVersion, before: FlightVersion): string {
  const { amendment } = before;
  const isAmendment =
    amendment !== undefined &&
    chargesAlike(version, {
      ...{ rate: amendment.rate ?? before.rate, goal: amendment.goal ?? before.goal },
      counting_basis: before.counting_basis,
    });
  return isAmendment && Date.parse(amendment.effective_at) <= version.at.getTime()
    ? amendment.effective_at
    : version.at.toISOString();
}

/** States by which a flight has begun. */
const begunStates: readonly string[] = ['delivering', 'stopped', 'completed'];

/**
 * The place of the version with which a flight began; negative before it has. One that ended before anybody recorded its start began with
 * its window, as it was booked then.
 */
function beginningOf({ window }: LineItem, versions: readonly FlightVersion[]): number {
  const begun = versions.findIndex(({ state }) => begunStates.includes(state));
  if (begun < 0 || versions[begun]!.state === 'delivering') return begun;
  const booked = versions.findIndex(({ state }) => state === 'booked');
  const opened = versions.findLastIndex(({ at }, place) => place < begun && at.getTime() <= Date.parse(window.start));
  return Math.max(booked, opened, 0);
}

/** The currencies of all prices that a flight has had. */
export const flightCurrencies = (lineItem: LineItem, versions: readonly FlightVersion[]): readonly string[] => {
  const beginning = beginningOf(lineItem, versions);
  const flight = beginning < 0 ? [] : versions.slice(beginning);
  return flight.flatMap(({ rate }) => (rate.price ? [rate.price.currency] : []));
};

/**
 * When a flight began and ended, and what its prices were and counted: the first one is that of its beginning. A goal bounds the units of all
 * prices that counted its unit. Undefined for a line item that has not begun.
 * @param versions of the line item, in their order
 */
export function flightTerms(lineItem: LineItem, versions: readonly FlightVersion[]): FlightTerms | undefined {
  const beginning = beginningOf(lineItem, versions);
  if (beginning < 0) return undefined;
  const flight = versions.slice(beginning);
  const boundOf = ({ unit }: LineItem['goal']): RateTerms['goal'] =>
    unit === 'impressions' || unit === 'completes'
      ? { unit, units: flight.findLast(({ goal }) => goal.unit === unit)!.goal.quantity! }
      : undefined;
  const rates: RateTerms[] = [];
  for (const [place, version] of flight.entries()) {
    const before = flight[place - 1];
    if (before && chargesAlike(before, version)) continue;
    const { model, price } = version.rate;
    const last = rates.at(-1);
    const effective = before ? effectiveAt(version, before) : version.at.toISOString();
    const bound = boundOf(version.goal);
    const terms = {
      ...{ model, price_micros: price?.amount_micros ?? '0', basis: basisOf(version) },
      ...(bound && { goal: bound }),
    };
    // Of two prices of one instant the later one counts.
    if (last && Date.parse(effective) <= Date.parse(last.from)) rates[rates.length - 1] = { ...terms, from: last.from };
    else rates.push({ ...terms, from: effective });
  }
  const end = flight.find(({ state }) => state === 'completed' || state === 'stopped');
  const isEarly = end !== undefined && end.at.getTime() < Date.parse(lineItem.window.end);
  const { state, at } = flight[0]!;
  const windowMs = Date.parse(lineItem.window.start);
  return {
    began_at: (state === 'delivering' || at.getTime() > windowMs ? at : new Date(windowMs)).toISOString(),
    rates,
    ...(isEarly && { ended: { at: end.at.toISOString(), state: end.state as 'completed' | 'stopped' } }),
  };
}
