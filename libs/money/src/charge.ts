import { rational, zero, type Rational } from './rational.ts';

/** How a line item is priced: by a thousand units, by one completed ad, for its whole time, by the day, or not at all. */
export type RateModel = 'cpm' | 'cpcv' | 'flat' | 'cpd' | 'none';

/** Units for which a price is meant; models that are earned by days have none. */
const unitsOfPrice: Readonly<Partial<Record<RateModel, bigint>>> = { cpm: 1000n, cpcv: 1n };

/** Whether units of the ledger are charged by this model, rather than days. */
export const isChargedByUnits = (model: RateModel): boolean => unitsOfPrice[model] !== undefined;

/** What was earned under one price. */
export interface Earned {
  /** Counted in the basis of the price. */
  readonly units: bigint;
  /** Local days of the flight that have begun. */
  readonly days: bigint;
  /** Local days of the whole flight; at least 1. */
  readonly daysInAll: bigint;
}

/**
 * What is due, exactly: `cpm` and `cpcv` by units, `cpd` by days, `flat` by the share of its days.
 * @param priceMicros millionths of the currency
 * @returns millionths of the currency, not rounded
 */
export function charge(model: RateModel, priceMicros: bigint, { units, days, daysInAll }: Earned): Rational {
  const perPrice = unitsOfPrice[model];
  if (perPrice !== undefined) return rational(priceMicros * units, perPrice);
  if (model === 'cpd') return rational(priceMicros * days);
  return model === 'flat' ? rational(priceMicros * days, daysInAll) : zero;
}
